// The heart of a realm: it holds the functions that the host calls and that
// foreign code never sees.
((host, web, node, stream, lockdown) => {
  'use strict'
  const { go, read, write } = host
  const { parse, stringify } = JSON
  const { freeze, getOwnPropertyNames, defineProperty } = Object
  const then = Function.prototype.call.bind(Promise.prototype.then)
  const resolve = Promise.resolve.bind(Promise)
  // The host reads JSON faster, and leaves what it does not like to the engine.
  const { reads } = { reads(text, reviver) {
    const v = typeof text === 'string' && reviver === undefined && text.length > 1000 ? read(text) : undefined
    return v === undefined ? parse(text, reviver) : v
  } }
  if (read) defineProperty(JSON, 'parse', { value: reads })
  const { globals, bytes } = web(go)
  const modules = { ...node(go, globals, bytes), ...stream?.(globals, bytes) }
  const libraries = {}
  const asked = new Map()
  const timers = new Map()
  let ids = 0
  let boot, table

  const ask = (name, args) => new Promise((ok, bad) => {
    const id = String(++ids)
    asked.set(id, { ok, bad })
    go('ask', id, String(name), stringify(args) ?? 'null')
  })
  const jsonOrText = (text) => {
    try { return parse(text) } catch (e) {
      if (e instanceof SyntaxError) return text
      throw e
    }
  }
  const deepFreeze = (x) => {
    if (x === null || typeof x !== 'object') return x
    for (const k of getOwnPropertyNames(x)) deepFreeze(x[k])
    return freeze(x)
  }
  const later = (repeat) => (f, ms = 0, ...args) => {
    const id = String(++ids)
    timers.set(id, () => {
      if (repeat) go('timer', id, String(ms))
      else timers.delete(id)
      f(...args)
    })
    go('timer', id, String(ms))
    return { id, ref() { return this }, unref() { return this }, hasRef: () => true, [Symbol.toPrimitive]: () => id }
  }
  const cancel = (t) => { timers.delete(String(t?.id ?? t)) }
  const say = (e) => {
    try { return e instanceof Error || e && e.message !== undefined ? String(e.message) : String(e) } catch { return 'an error that cannot be printed' }
  }
  // What a library expects around it and schema files must not have.
  const around = {
    ...globals, setTimeout: later(false), clearTimeout: cancel, setInterval: later(true), clearInterval: cancel, setImmediate: (f, ...a) => later(false)(f, 0, ...a), clearImmediate: cancel,
    queueMicrotask: (f) => { then(resolve(), f) },
    fetch: (...args) => globals.fetch(...args),
    process: { env: {}, argv: [], version: 'v20.0.0', versions: {}, platform: 'linux', browser: true, nextTick: (f, ...a) => { then(resolve(), () => f(...a)) }, cwd: () => '/' },
  }
  around.self = around
  const required = (name) => {
    const found = modules[name.replace(/^node:/, '')] ?? libraries[name]
    if (!found) throw new Error('the module ' + name + ' is not here')
    return found
  }
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = around
  const own = { // of libraries
    timers: { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate }, process: around.process,
    os: { EOL: '\n', platform: () => 'linux', type: () => 'Linux', arch: () => 'x64', release: () => '', endianness: () => 'LE', hostname: () => 'localhost', tmpdir: () => '/tmp', homedir: () => '/', cpus: () => [], totalmem: () => 0, freemem: () => 0 },
  }
  // What leads outside can be imported and named by a library, for what else it
  // does, and fails where it is used.
  const outside = ['async_hooks', 'child_process', 'cluster', 'constants', 'dgram', 'diagnostics_channel', 'dns', 'dns/promises', 'domain', 'fs', 'fs/promises', 'http', 'http2', 'https', 'inspector', 'module', 'net',
    'perf_hooks', 'readline', 'readline/promises', 'repl', 'sys', 'timers/promises', 'tls', 'tty', 'v8', 'vm', 'wasi', 'worker_threads']
  const empty = (name) => {
    const fail = () => { throw new Error('the module ' + name + ' is not here') }
    return new Proxy(function () {}, { get: (f, k) => typeof k === 'symbol' || k === 'then' || k === '__esModule' ? undefined : k === 'prototype' ? f.prototype : empty(name), apply: fail, construct: fail, set: fail })
  }
  around.require = (name) => {
    const plain = name.replace(/^node:/, '').replace(/\/$/, '')
    return outside.includes(plain) ? empty(plain) : own[plain] ?? required(modules[plain] ? plain : name)
  }

  for (const k of Object.keys(globals)) defineProperty(globalThis, k, { value: globals[k], writable: true, configurable: true })
  return {
    library(name, make) {
      const made = make(around)
      libraries[name] = made?.default ?? made
    },
    prepare(glue, data) {
      boot = glue({ ask, libraries, modules, bytes, data: deepFreeze(parse(data)) })
      for (const k of Object.keys(boot.globals ?? {})) {
        globals[k] = boot.globals[k]
        defineProperty(globalThis, k, { value: globals[k], writable: true, configurable: true })
      }
      let started = false
      defineProperty(globalThis, '__tenon', { value: (x) => {
        if (typeof x === 'string') return required(x)
        if (started) throw new TypeError('not twice')
        started = true
        table = boot.start(x)
      } })
      lockdown()
    },
    started: () => table !== undefined,
    names: (name) => Object.keys(required(name)).filter((k) => /^[A-Za-z_$][\w$]*$/.test(k)).join(','),
    // Arguments and body are values, or texts where the host leaves them to us.
    invoke(name, text, args, bodyText, body) {
      asked.clear()
      timers.clear()
      let p
      try {
        if (text !== null) args = parse(text)
        if (typeof bodyText === 'string') body = jsonOrText(bodyText)
      } catch (e) { // without room for an error the engine throws null
        return go('fail', e === null ? 'out of memory' : say(e))
      }
      try { p = table[name](args, body) } catch (e) { return go('fail', say(e)) }
      then(resolve(p), (v) => {
        try {
          if (write?.(v)) return
          v = stringify(v)
          go('done', v === undefined ? 'null' : v)
        } catch (e) { go('fail', say(e)) }
      }, (e) => { go('fail', say(e)) })
    },
    settle(id, ok, value, text) {
      const a = asked.get(id)
      asked.delete(id)
      if (!a) return
      if (ok === '1') a.ok({ value: parse(value), text })
      else a.bad(new Error(value))
    },
    fire(id) { timers.get(id)?.() },
    waits: (id) => timers.has(id),
  }
})
