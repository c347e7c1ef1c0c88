// What web and Node programs expect of their surroundings and the engine does
// not have, as far as it needs no outside: texts and bytes, URLs, buffers.
// go holds pure functions of the host: bytes cross as strings of one character
// a byte.
((go) => {
  'use strict'
  const chunk = 8192
  const toLatin1 = (bytes) => {
    let out = ''
    for (let i = 0; i < bytes.length; i += chunk) out += String.fromCharCode.apply(null, bytes.subarray(i, i + chunk))
    return out
  }
  const fromLatin1 = (text, Type = Uint8Array) => {
    const out = new Type(text.length)
    for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i)
    return out
  }
  const view = (data) => {
    if (data instanceof Uint8Array) return data
    if (data instanceof ArrayBuffer) return new Uint8Array(data)
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    throw new TypeError('bytes are needed')
  }
  const utf8 = (text) => fromLatin1(go('encode', String(text)))

  class TextEncoder {
    get encoding() { return 'utf-8' }
    encode(text = '') { return utf8(text) }
    encodeInto(text, into) {
      const bytes = utf8(text).subarray(0, into.length)
      into.set(bytes)
      return { read: text.length, written: bytes.length }
    }
  }
  const latin1Names = ['latin1', 'iso-8859-1', 'iso-8859-15', 'windows-1252', 'ascii', 'us-ascii']
  class TextDecoder {
    #label
    constructor(label = 'utf-8') {
      this.#label = String(label).toLowerCase()
      if (!['utf-8', 'utf8', ...latin1Names].includes(this.#label)) throw new RangeError('the encoding ' + label + ' is not known')
    }
    get encoding() { return this.#label }
    decode(data) {
      if (data === undefined) return ''
      const text = toLatin1(view(data))
      if (latin1Names.includes(this.#label)) return text
      const decoded = go('decode', text)
      return decoded.charCodeAt(0) === 0xFEFF ? decoded.slice(1) : decoded
    }
  }
  const btoa = (text) => {
    text = String(text)
    for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 255) throw new RangeError('btoa takes characters up to U+00FF')
    return go('base64', text)
  }
  const atob = (text) => go('unbase64', String(text))

  const parsePairs = (text) => text.split('&').filter((p) => p !== '').map((p) => {
    const i = p.indexOf('=')
    const decode = (s) => {
      s = s.replace(/\+/g, ' ')
      try { return decodeURIComponent(s) } catch { return s }
    }
    return i < 0 ? [decode(p), ''] : [decode(p.slice(0, i)), decode(p.slice(i + 1))]
  })
  const formEncode = (text) => encodeURIComponent(text.toWellFormed()).replace(/[!'()~]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase()).replace(/%20/g, '+')

  class URLSearchParams {
    #pairs = []
    #changed
    constructor(from = '', changed = () => {}) {
      this.#changed = changed
      if (from === null || typeof from !== 'object') this.#pairs = parsePairs(String(from).replace(/^\?/, ''))
      else if (typeof from[Symbol.iterator] === 'function') for (const [k, v] of from) this.#pairs.push([String(k), String(v)])
      else for (const k of Object.keys(from)) this.#pairs.push([k, String(from[k])])
    }
    append(k, v) { this.#pairs.push([String(k), String(v)]); this.#changed() }
    delete(k) { this.#pairs = this.#pairs.filter((p) => p[0] !== String(k)); this.#changed() }
    get(k) { const p = this.#pairs.find((p) => p[0] === String(k)); return p ? p[1] : null }
    getAll(k) { return this.#pairs.filter((p) => p[0] === String(k)).map((p) => p[1]) }
    has(k) { return this.#pairs.some((p) => p[0] === String(k)) }
    set(k, v) {
      const first = this.#pairs.findIndex((p) => p[0] === String(k))
      if (first < 0) return this.append(k, v)
      this.#pairs = this.#pairs.filter((p, i) => i === first || p[0] !== String(k))
      this.#pairs[first][1] = String(v)
      this.#changed()
    }
    sort() { this.#pairs.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0); this.#changed() }
    forEach(f, self) { for (const [k, v] of this.#pairs) f.call(self, v, k, this) }
    keys() { return this.#pairs.map((p) => p[0])[Symbol.iterator]() }
    values() { return this.#pairs.map((p) => p[1])[Symbol.iterator]() }
    entries() { return this.#pairs.map((p) => [p[0], p[1]])[Symbol.iterator]() }
    [Symbol.iterator]() { return this.entries() }
    get size() { return this.#pairs.length }
    toString() { return this.#pairs.map(([k, v]) => formEncode(k) + '=' + formEncode(v)).join('&') }
  }

  const ports = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21' }
  const escapes = (text, keep) => text.toWellFormed().replace(keep, (c) => encodeURIComponent(c).replace(/^[^%]$/, (d) => '%' + d.charCodeAt(0).toString(16).toUpperCase()))
  const inPath = (t) => escapes(t, /[^!$%&'()*+,\-./0-9:;=@A-Z[\]_a-z|~\\^]/gu)
  const inQuery = (t) => escapes(t, /[^!$%&()*+,\-./0-9:;=?@A-Z[\\\]^_`a-z{|}~]/gu)
  const inHash = (t) => escapes(t, /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\\\]^_a-z{|}~]/gu)
  const walk = (path) => {
    const out = []
    const parts = path.split('/')
    parts.forEach((p, i) => {
      const last = i === parts.length - 1
      const plain = p.replace(/%2e/gi, '.')
      if (plain === '..') { if (out.length > 1) out.pop(); if (last) out.push('') }
      else if (plain === '.') { if (last) out.push('') }
      else out.push(p)
    })
    return out.join('/')
  }
  const shape = /^([a-zA-Z][a-zA-Z0-9+.-]*:)(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s
  class URL {
    #protocol; #user = ''; #password = ''; #hostname = ''; #port = ''; #path = ''; #search = ''; #hash = ''; #params
    constructor(text, base) {
      text = String(text).trim()
      if (!/^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text)) {
        if (base === undefined) throw new TypeError('Invalid URL')
        text = resolve(text, new URL(base))
      }
      const m = shape.exec(text)
      if (!m) throw new TypeError('Invalid URL')
      this.#protocol = m[1].toLowerCase()
      const special = this.#protocol in ports
      let authority = m[2]
      if (special && authority === undefined) throw new TypeError('Invalid URL')
      if (authority !== undefined) this.#authority(authority, special)
      let path = special ? m[3].replace(/\\/g, '/') : m[3]
      if (special && path === '') path = '/'
      this.#path = inPath(authority === undefined ? path : walk(path))
      this.#search = !m[4] || m[4] === '?' ? '' : '?' + inQuery(m[4].slice(1))
      this.#hash = !m[5] || m[5] === '#' ? '' : '#' + inHash(m[5].slice(1))
      this.#params = this.#read()
    }
    #authority(text, special) {
      const at = text.lastIndexOf('@')
      if (at >= 0) {
        const [user, ...rest] = text.slice(0, at).split(':')
        this.#user = user
        this.#password = rest.join(':')
      }
      const m = /^(\[[0-9a-fA-F:.]+\]|[^:]*)(?::(\d*))?$/.exec(text.slice(at + 1))
      if (!m || special && m[1] === '' || /[\s<>^|%#\\]/.test(m[1])) throw new TypeError('Invalid URL')
      this.#hostname = special ? m[1].toLowerCase() : m[1]
      this.port = m[2] ?? ''
    }
    #read() {
      return new URLSearchParams(this.#search, () => {
        const text = this.#params.toString()
        this.#search = text === '' ? '' : '?' + text
      })
    }
    get protocol() { return this.#protocol }
    set protocol(v) { this.#protocol = String(v).replace(/:?$/, ':').toLowerCase() }
    get username() { return this.#user }
    set username(v) { this.#user = encodeURIComponent(v) }
    get password() { return this.#password }
    set password(v) { this.#password = encodeURIComponent(v) }
    get hostname() { return this.#hostname }
    set hostname(v) { this.#hostname = String(v).toLowerCase() }
    get port() { return this.#port }
    set port(v) {
      v = String(v)
      if (v !== '' && !(Number(v) < 65536)) throw new TypeError('Invalid URL')
      this.#port = v === '' || v === ports[this.#protocol] ? '' : String(Number(v))
    }
    get host() { return this.#hostname + (this.#port && ':' + this.#port) }
    set host(v) { this.#authority(String(v), true) }
    get origin() { return this.#protocol in ports ? this.#protocol + '//' + this.host : 'null' }
    get pathname() { return this.#path }
    set pathname(v) { this.#path = inPath(walk(String(v).replace(/^(?!\/)/, '/'))) }
    get search() { return this.#search }
    set search(v) {
      v = String(v).replace(/^\?/, '')
      this.#search = v === '' ? '' : '?' + inQuery(v)
      this.#params = this.#read()
    }
    get searchParams() { return this.#params }
    get hash() { return this.#hash }
    set hash(v) { v = String(v).replace(/^#/, ''); this.#hash = v === '' ? '' : '#' + inHash(v) }
    get href() {
      const user = this.#user === '' && this.#password === '' ? '' : this.#user + (this.#password && ':' + this.#password) + '@'
      const slashes = this.#hostname !== '' || this.#protocol in ports ? '//' : ''
      return this.#protocol + slashes + user + this.host + this.#path + this.#search + this.#hash
    }
    toString() { return this.href }
    toJSON() { return this.href }
    static canParse(text, base) { try { return !!new URL(text, base) } catch { return false } }
    static parse(text, base) { try { return new URL(text, base) } catch { return null } }
  }
  const resolve = (text, base) => {
    const home = base.protocol + '//' + base.host
    if (text.startsWith('//')) return base.protocol + text
    if (text.startsWith('/')) return home + text
    if (text.startsWith('?')) return home + base.pathname + text
    if (text.startsWith('#') || text === '') return home + base.pathname + base.search + text
    return home + base.pathname.replace(/[^/]*$/, '') + text
  }

  const encodings = {
    utf8: [utf8, (b) => go('decode', toLatin1(b))],
    hex: [(t) => fromLatin1(go('unhex', t)), (b) => go('hex', toLatin1(b))],
    base64: [(t) => fromLatin1(go('unbase64', t)), (b) => go('base64', toLatin1(b))],
    base64url: [(t) => fromLatin1(go('unbase64', t)), (b) => go('base64', toLatin1(b)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')],
    latin1: [(t) => fromLatin1(t), toLatin1],
  }
  const encoding = (name = 'utf8') => {
    const found = encodings[{ 'utf-8': 'utf8', binary: 'latin1', ascii: 'latin1' }[name = String(name).toLowerCase()] ?? name]
    if (!found) throw new TypeError('Unknown encoding: ' + name)
    return found
  }
  class Buffer extends Uint8Array {
    static from(data, enc, length) {
      if (typeof data === 'string') { const b = encoding(enc)[0](data); return new Buffer(b.buffer, b.byteOffset, b.length) }
      if (data instanceof ArrayBuffer) return new Buffer(data, enc, length)
      const list = data && data.type === 'Buffer' ? data.data : data
      const b = new Buffer(list.length)
      b.set(list)
      return b
    }
    static alloc(n, fill) { const b = new Buffer(n); return fill === undefined ? b : b.fill(fill) }
    static allocUnsafe(n) { return new Buffer(n) }
    static isBuffer(x) { return x instanceof Buffer }
    static byteLength(x, enc) { return typeof x === 'string' ? encoding(enc)[0](x).length : x.byteLength }
    static concat(list, total = list.reduce((n, b) => n + b.length, 0)) {
      const out = new Buffer(total)
      let at = 0
      for (const b of list) { out.set(b.subarray(0, Math.max(0, total - at)), at); at += b.length }
      return out
    }
    toString(enc, from = 0, to = this.length) { return encoding(enc)[1](this.subarray(from, to)) }
    toJSON() { return { type: 'Buffer', data: Array.from(this) } }
    slice(a, b) { return this.subarray(a, b) }
    equals(o) { return this.length === o.length && this.every((x, i) => x === o[i]) }
    write(text, at = 0) { const b = utf8(text).subarray(0, this.length - at); this.set(b, at); return b.length }
    copy(to, at = 0, from = 0, end = this.length) { const b = this.subarray(from, end); to.set(b, at); return b.length }
    #view() { return new DataView(this.buffer, this.byteOffset, this.byteLength) }
    readUInt8(at = 0) { return this.#view().getUint8(at) }
    readInt8(at = 0) { return this.#view().getInt8(at) }
    readUInt16LE(at = 0) { return this.#view().getUint16(at, true) }
    readUInt16BE(at = 0) { return this.#view().getUint16(at) }
    readInt16LE(at = 0) { return this.#view().getInt16(at, true) }
    readInt16BE(at = 0) { return this.#view().getInt16(at) }
    readUInt32LE(at = 0) { return this.#view().getUint32(at, true) }
    readUInt32BE(at = 0) { return this.#view().getUint32(at) }
    readInt32LE(at = 0) { return this.#view().getInt32(at, true) }
    readInt32BE(at = 0) { return this.#view().getInt32(at) }
    readFloatLE(at = 0) { return this.#view().getFloat32(at, true) }
    readDoubleLE(at = 0) { return this.#view().getFloat64(at, true) }
    readBigUInt64LE(at = 0) { return this.#view().getBigUint64(at, true) }
    readBigUInt64BE(at = 0) { return this.#view().getBigUint64(at) }
  }

  class AbortSignal {
    constructor(after) { this.after = after; this.aborted = false; this.reason = undefined }
    addEventListener() {}
    removeEventListener() {}
    throwIfAborted() { if (this.aborted) throw this.reason }
    static timeout(ms) { return new AbortSignal(Number(ms)) }
    static abort(reason) { const s = new AbortSignal(); s.aborted = true; s.reason = reason ?? new Error('This operation was aborted'); return s }
    static any(all) {
      const s = new AbortSignal(Math.min(...all.map((x) => x.after ?? Infinity)))
      s.aborted = all.some((x) => x.aborted)
      return s
    }
  }
  class AbortController {
    signal = new AbortSignal()
    abort(reason) { this.signal.aborted = true; this.signal.reason = reason ?? new Error('This operation was aborted') }
  }

  const random = (into) => {
    const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength)
    bytes.set(fromLatin1(go('random', String(bytes.length))))
    return into
  }
  const uuid = () => {
    const b = random(new Uint8Array(16))
    b[6] = b[6] & 0x0F | 0x40
    b[8] = b[8] & 0x3F | 0x80
    return go('hex', toLatin1(b)).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
  const nothing = () => {}
  const console = { log: nothing, info: nothing, warn: nothing, error: nothing, debug: nothing, trace: nothing }
  return {
    globals: {
      TextEncoder, TextDecoder, btoa, atob, URL, URLSearchParams, Buffer, AbortSignal, AbortController, console,
      crypto: { getRandomValues: random, randomUUID: uuid },
      structuredClone: (x) => x === undefined ? undefined : JSON.parse(JSON.stringify(x)),
      performance: { now: () => Date.now() },
    },
    bytes: { toLatin1, fromLatin1, view, utf8 },
  }
})
