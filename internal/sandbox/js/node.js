// The modules of Node that schema files use, as far as they need no outside.
((go, globals, bytes) => {
  'use strict'
  const { Buffer, URL, URLSearchParams, TextEncoder, TextDecoder } = globals
  const text = (data, enc) => bytes.toLatin1(typeof data === 'string' ? Buffer.from(data, enc) : bytes.view(data))
  const buffer = (latin1) => bytes.fromLatin1(latin1, Buffer)
  class Hash {
    #name; #key; #parts = []
    constructor(name, key) {
      this.#name = String(name).toLowerCase().replace('-', '')
      this.#key = key
    }
    update(data, enc) { this.#parts.push(text(data, enc)); return this }
    digest(enc) {
      const joined = this.#parts.join('')
      const out = buffer(this.#key === undefined ? go('hash', this.#name, joined) : go('hmac', this.#name, joined, this.#key))
      return enc === undefined || enc === 'buffer' ? out : out.toString(enc)
    }
  }
  const crypto = {
    createHash: (name) => new Hash(name),
    createHmac: (name, key) => new Hash(name, text(key)),
    randomBytes: (n) => buffer(go('random', String(n))),
    randomUUID: globals.crypto.randomUUID,
    getRandomValues: globals.crypto.getRandomValues,
    timingSafeEqual: (a, b) => Buffer.from(a).equals(Buffer.from(b)),
  }
  crypto.webcrypto = globals.crypto

  const zlib = {}
  for (const [name, kind] of [['inflateRaw', 'inflateRaw'], ['inflate', 'inflate'], ['gunzip', 'gunzip'], ['unzip', 'gunzip'], ['deflateRaw', 'deflateRaw'], ['deflate', 'deflate'], ['gzip', 'gzip']]) {
    const now = zlib[name + 'Sync'] = (data) => buffer(go(kind, text(data)))
    zlib[name] = (data, options, done = options) => { let out; try { out = now(data) } catch (e) { return done(e) } done(null, out) }
  }

  const clean = (path) => {
    const out = []
    for (const p of path.split('/')) {
      if (p === '' || p === '.') continue
      if (p === '..' && out.length && out[out.length - 1] !== '..') out.pop()
      else if (p !== '..' || !path.startsWith('/')) out.push(p)
    }
    return (path.startsWith('/') ? '/' : '') + out.join('/') + (path.endsWith('/') && out.length ? '/' : '') || '.'
  }
  const path = {
    sep: '/', delimiter: ':', normalize: clean,
    join: (...parts) => clean(parts.filter((p) => p !== '').join('/')),
    resolve: (...parts) => { const at = parts.findLastIndex((p) => p.startsWith('/')); return clean('/' + parts.slice(Math.max(at, 0)).join('/')).replace(/(.)\/$/, '$1') },
    isAbsolute: (p) => p.startsWith('/'),
    basename: (p, ext = '') => { const b = p.replace(/\/+$/, '').split('/').pop(); return ext && b !== ext && b.endsWith(ext) ? b.slice(0, -ext.length) : b },
    dirname: (p) => p.replace(/\/+$/, '').replace(/\/*[^/]*$/, '') || (p.startsWith('/') ? '/' : '.'),
    extname: (p) => /[^/.][^/]*?(\.[^./]*)\/*$/.exec(p)?.[1] ?? '',
  }
  path.posix = path

  const show = (x) => typeof x === 'string' ? x : typeof x === 'function' ? '[Function: ' + x.name + ']' : x instanceof Error ? String(x) : JSON.stringify(x) ?? String(x)
  const format = (first, ...rest) => {
    const out = typeof first === 'string' ? first.replace(/%([sdijoO%])/g, (m, k) => k === '%' ? '%' : rest.length ? k === 'd' || k === 'i' ? Number(rest.shift()) : show(rest.shift()) : m) : show(first)
    return [out, ...rest.map(show)].join(' ')
  }
  const util = {
    format, inspect: show, TextEncoder, TextDecoder,
    promisify: (f) => (...args) => new Promise((ok, bad) => f(...args, (e, v) => e ? bad(e) : ok(v))),
    isDeepStrictEqual: (a, b) => JSON.stringify(a) === JSON.stringify(b),
    inherits: (a, b) => {
      Object.defineProperty(a, 'super_', { value: b, writable: true, configurable: true })
      Object.setPrototypeOf(a.prototype, b.prototype)
    },
    deprecate: (f) => f, isArray: Array.isArray, debuglog: () => () => {},
    callbackify: (f) => (...args) => { const done = args.pop(); f(...args).then((v) => { done(null, v) }, (e) => { done(e) }) },
    stripVTControlCharacters: (t) => t.replace(/\u001B\[[0-9;]*[A-Za-z]/g, ''),
    types: { isDate: (x) => x instanceof Date, isRegExp: (x) => x instanceof RegExp, isPromise: (x) => x instanceof Promise },
  }
  const url = { URL, URLSearchParams, parse: (t) => { const u = new URL(t); return { href: u.href, protocol: u.protocol, host: u.host, hostname: u.hostname, port: u.port, pathname: u.pathname, search: u.search, query: u.search.slice(1), hash: u.hash } }, format: String, resolve: (a, b) => new URL(b, a).href }
  const querystring = {
    parse: (t) => { const out = {}; for (const [k, v] of new URLSearchParams(t)) out[k] = k in out ? [].concat(out[k], v) : v; return out },
    stringify: (o) => Object.entries(o).flatMap(([k, v]) => [].concat(v).map((x) => encodeURIComponent(k) + '=' + encodeURIComponent(x))).join('&'),
    escape: encodeURIComponent, unescape: decodeURIComponent,
  }
  util.promisify.custom = Symbol.for('nodejs.util.promisify.custom')
  util.inspect.custom = Symbol.for('nodejs.util.inspect.custom')

  class AssertionError extends Error {
    constructor({ message, actual, expected, operator } = {}) {
      super(message ?? show(actual) + ' ' + operator + ' ' + show(expected))
      Object.assign(this, { actual, expected, operator, code: 'ERR_ASSERTION', generatedMessage: message === undefined })
    }
  }
  AssertionError.prototype.name = 'AssertionError'
  const claim = (holds, message, actual, expected, operator) => {
    if (!holds) throw message instanceof Error ? message : new AssertionError({ message, actual, expected, operator })
  }
  const same = util.isDeepStrictEqual
  const assert = Object.assign((v, m) => { claim(v, m, v, true, '==') }, {
    AssertionError, ok: (v, m) => { claim(v, m, v, true, '==') }, fail: (m = 'Failed') => { claim(false, m) },
    equal: (a, b, m) => { claim(a == b, m, a, b, '==') }, notEqual: (a, b, m) => { claim(a != b, m, a, b, '!=') },
    strictEqual: (a, b, m) => { claim(Object.is(a, b), m, a, b, 'strictEqual') }, notStrictEqual: (a, b, m) => { claim(!Object.is(a, b), m, a, b, 'notStrictEqual') },
    deepEqual: (a, b, m) => { claim(same(a, b), m, a, b, 'deepEqual') }, deepStrictEqual: (a, b, m) => { claim(same(a, b), m, a, b, 'deepStrictEqual') }, notDeepStrictEqual: (a, b, m) => { claim(!same(a, b), m, a, b, 'notDeepStrictEqual') },
    throws: (f, ...more) => { let threw = false; try { f() } catch { threw = true } const m = more.findLast((x) => typeof x === 'string'); claim(threw, 'Missing expected exception' + (m === undefined ? '.' : ': ' + m)) },
    match: (t, r, m) => { claim(r.test(t), m, t, r, 'match') },
  })
  assert.strict = assert
  return { assert, 'assert/strict': assert, 'path/posix': path, 'util/types': util.types, crypto, zlib, path, util, url, querystring, buffer: { Buffer, atob: globals.atob, btoa: globals.btoa } }
})
