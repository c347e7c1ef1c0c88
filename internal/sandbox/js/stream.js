// Node's events, streams and what goes with them, as far as pure code needs
// them: nothing here reads or writes anything outside. Constructors are plain
// functions, because older libraries inherit by calling them.
((globals, bytes) => {
  'use strict'
  const { Buffer } = globals
  const soon = (f) => { Promise.resolve().then(f) }
  const inherits = (of, from) => {
    Object.defineProperty(of, 'super_', { value: from, writable: true, configurable: true })
    Object.setPrototypeOf(of.prototype, from.prototype)
    Object.setPrototypeOf(of, from)
  }

  // Methods can be replaced by assignment on what inherits them, also when what
  // they stand in was frozen.
  const methods = (proto, all) => {
    for (const k of Reflect.ownKeys(all)) {
      const value = all[k]
      Object.defineProperty(proto, k, { configurable: true, enumerable: true, get() { return value }, set(v) { Object.defineProperty(this, k, { value: v, writable: true, enumerable: true, configurable: true }) } })
    }
  }

  function EventEmitter() { this._events ??= new Map() }
  const listeners = (e, name) => (e._events ??= new Map()).get(name) ?? []
  const add = (e, name, f, first) => {
    if (typeof f !== 'function') throw new TypeError('a listener must be a function')
    if (listeners(e, 'newListener').length) e.emit('newListener', name, f.listener ?? f)
    e._events.set(name, first ? [f, ...listeners(e, name)] : [...listeners(e, name), f])
    return e
  }
  const single = (e, name, f) => {
    const g = function (...args) { e.removeListener(name, g); return f.apply(e, args) }
    g.listener = f
    return g
  }
  methods(EventEmitter.prototype, {
    on(name, f) { return add(this, name, f, false) },
    addListener(name, f) { return this.on(name, f) },
    prependListener(name, f) { return add(this, name, f, true) },
    once(name, f) { return this.on(name, single(this, name, f)) },
    prependOnceListener(name, f) { return add(this, name, single(this, name, f), true) },
    removeListener(name, f) {
      const all = listeners(this, name)
      const i = all.findLastIndex((g) => g === f || g.listener === f)
      if (i < 0) return this
      if (all.length > 1) this._events.set(name, all.toSpliced(i, 1))
      else this._events.delete(name)
      if (listeners(this, 'removeListener').length) this.emit('removeListener', name, f)
      return this
    },
    off(name, f) { return this.removeListener(name, f) },
    removeAllListeners(name) { if (name === undefined) this._events = new Map(); else this._events?.delete(name); return this },
    emit(name, ...args) {
      const all = listeners(this, name)
      if (!all.length && name === 'error') throw args[0] instanceof Error ? args[0] : new Error('Unhandled error. (' + String(args[0]) + ')')
      for (const f of all) f.apply(this, args)
      return all.length > 0
    },
    listeners(name) { return listeners(this, name).map((f) => f.listener ?? f) },
    rawListeners(name) { return [...listeners(this, name)] },
    listenerCount(name) { return listeners(this, name).length },
    eventNames() { return [...(this._events ?? new Map()).keys()] },
    setMaxListeners() { return this },
    getMaxListeners: () => 0,
  })
  const once = (e, name) => new Promise((ok, bad) => {
    const failed = (err) => { e.removeListener(name, done); bad(err) }
    const done = (...args) => { e.removeListener('error', failed); ok(args) }
    e.once(name, done)
    if (name !== 'error') e.once('error', failed)
  })
  const events = Object.assign(EventEmitter, { EventEmitter, once, defaultMaxListeners: 10, errorMonitor: Symbol('events.errorMonitor'), listenerCount: (e, name) => e.listenerCount(name) })

  function Stream() { EventEmitter.call(this) }
  inherits(Stream, EventEmitter)
  methods(Stream.prototype, { pipe(to, { end = true } = {}) {
    this.on('data', (chunk) => { to.write(chunk) })
    if (end && !to._isStdio) this.once('end', () => { to.end() })
    to.emit('pipe', this)
    return to
  } })

  const mixed = (chunk, enc, objects) => objects || typeof chunk !== 'string' ? chunk : Buffer.from(chunk, enc === 'buffer' ? undefined : enc)
  const closed = (s, err) => soon(() => {
    if (err) s.emit('error', err)
    s.emit('close')
  })
  const destroy = function (err) {
    if (this.destroyed) return this
    this.destroyed = true
    this.readable = this.writable = false
    const done = (e) => closed(this, e ?? err)
    if (this._destroy) this._destroy(err ?? null, done)
    else done()
    return this
  }
  const configure = (s, options, names) => {
    for (const name of names) if (typeof options[name] === 'function') s['_' + name] = options[name]
  }

  function Readable(options = {}) {
    if (!(this instanceof Readable)) return new Readable(options)
    Stream.call(this)
    this._in = { queue: [], objects: !!(options.objectMode || options.readableObjectMode), ended: false, over: false, flowing: null, reading: false, decoder: null }
    if (options.encoding) this.setEncoding(options.encoding)
    this.readable = true
    this.destroyed = false
    configure(this, options, ['read', 'destroy'])
  }
  inherits(Readable, Stream)
  const pull = (s) => {
    const at = s._in
    if (at.reading || at.ended || at.queue.length || s.destroyed) return
    at.reading = true
    try { s._read(16384) } catch (e) { s.destroy(e) }
  }
  const flow = (s) => soon(() => {
    const at = s._in
    while (at.flowing && at.queue.length && !s.destroyed) s.emit('data', at.queue.shift())
    if (at.flowing) pull(s)
    if (at.ended && !at.queue.length && !at.over && at.flowing !== false) {
      at.over = true
      s.readable = false
      s.emit('end')
      if (!s._out || s._out.finished) closed(s)
    }
  })
  methods(Readable.prototype, {
    _read() {},
    push(chunk, enc) {
      const at = this._in
      at.reading = false
      if (chunk === null) {
        const rest = at.decoder?.end()
        if (rest) at.queue.push(rest)
        at.ended = true
      } else if (!at.ended) {
        chunk = mixed(chunk, enc, at.objects)
        if (at.decoder) chunk = at.decoder.write(chunk)
        if (at.objects || chunk.length) at.queue.push(chunk)
      }
      if (at.flowing === null && this.listenerCount('readable')) soon(() => { this.emit('readable') })
      flow(this)
      return !at.ended
    },
    unshift(chunk) { this._in.queue.unshift(chunk) },
    read() {
      const at = this._in
      if (!at.queue.length) { pull(this); if (at.ended) { at.flowing ??= true; flow(this) } }
      if (!at.queue.length) return null
      if (at.objects || at.queue.length === 1) return at.queue.shift()
      const all = at.queue.splice(0)
      return typeof all[0] === 'string' ? all.join('') : Buffer.concat(all)
    },
    on(name, f) {
      EventEmitter.prototype.on.call(this, name, f)
      if (name === 'data' && this._in.flowing !== false) this.resume()
      if (name === 'readable') { soon(() => { this._in.queue.length || this._in.ended ? this.emit('readable') : pull(this) }) }
      return this
    },
    setEncoding(enc) { this._in.decoder = new StringDecoder(enc); return this },
    resume() { this._in.flowing = true; flow(this); return this },
    pause() { this._in.flowing = false; return this },
    isPaused() { return this._in.flowing === false },
    unpipe() { return this },
    destroy,
    async * [Symbol.asyncIterator]() {
      let wake, failed
      const queue = []
      let over = false
      const ring = () => { wake?.() }
      this.on('data', (chunk) => { queue.push(chunk); ring() }).once('end', () => { over = true; ring() }).once('close', () => { over = true; ring() }).once('error', (e) => { failed = e; ring() })
      for (;;) {
        while (queue.length) yield queue.shift()
        if (failed) throw failed
        if (over) return
        await new Promise((ok) => { wake = ok })
      }
    },
  })
  Readable.from = (items, options) => {
    const it = (items[Symbol.asyncIterator] ?? items[Symbol.iterator]).call(typeof items === 'string' ? [items] : items)
    return new Readable({ objectMode: true, ...options, read() { Promise.resolve(it.next()).then(({ done, value }) => { this.push(done ? null : value) }, (e) => { this.destroy(e) }) } })
  }

  function Writable(options = {}) {
    if (!(this instanceof Writable) && !(this instanceof Duplex)) return new Writable(options)
    Stream.call(this)
    writes(this, options)
  }
  const writes = (s, options) => {
    s._out = { queue: [], objects: !!(options.objectMode || options.writableObjectMode), strings: options.decodeStrings === false, busy: false, ending: false, finished: false }
    s.writable = true
    s.destroyed = false
    configure(s, options, ['write', 'writev', 'final', 'destroy'])
  }
  const work = (s) => {
    const at = s._out
    if (at.busy || s.destroyed) return
    const next = at.queue.shift()
    if (next) {
      at.busy = true
      const done = (err) => {
        at.busy = false
        next.done?.(err)
        if (err) s.destroy(err)
        else soon(() => { work(s) })
      }
      try { s._write(next.chunk, next.enc, done) } catch (e) { done(e) }
    } else if (at.ending && !at.finished) {
      at.busy = true
      const done = (err) => {
        if (err) return s.destroy(err)
        at.finished = true
        s.writable = false
        s.emit('finish')
        if (!s._in || s._in.over) closed(s)
      }
      if (s._final) s._final(done)
      else done()
    }
  }
  inherits(Writable, Stream)
  const writing = {
    _write(chunk, enc, done) { done() },
    write(chunk, enc, done) {
      if (typeof enc === 'function') [enc, done] = [undefined, enc]
      const at = this._out
      if (at.ending) {
        const e = new Error('write after end')
        soon(() => { done?.(e); this.destroy(e) })
        return false
      }
      const text = typeof chunk === 'string' && !at.strings && !at.objects
      at.queue.push({ chunk: text ? mixed(chunk, enc) : chunk, enc: text ? 'buffer' : enc ?? 'utf8', done })
      work(this)
      return true
    },
    end(chunk, enc, done) {
      if (typeof chunk === 'function') [chunk, done] = [undefined, chunk]
      if (typeof enc === 'function') [enc, done] = [undefined, enc]
      if (chunk !== undefined && chunk !== null) this.write(chunk, enc)
      if (done) this.once('finish', done)
      this._out.ending = true
      soon(() => { work(this) })
      return this
    },
    cork() {}, uncork() {}, setDefaultEncoding() { return this }, destroy,
  }
  methods(Writable.prototype, writing)

  function Duplex(options = {}) {
    if (!(this instanceof Duplex)) return new Duplex(options)
    Readable.call(this, options)
    writes(this, options)
  }
  inherits(Duplex, Readable)
  methods(Duplex.prototype, writing)
  function Transform(options = {}) {
    if (!(this instanceof Transform)) return new Transform(options)
    Duplex.call(this, options)
    configure(this, options, ['transform', 'flush'])
  }
  inherits(Transform, Duplex)
  methods(Transform.prototype, {
    _write(chunk, enc, done) {
      this._transform(chunk, enc, (err, out) => {
        if (!err && out !== null && out !== undefined) this.push(out)
        done(err)
      })
    },
    _transform(chunk, enc, done) { done(new Error('_transform is not implemented')) },
    _final(done) {
      const over = (err, out) => {
        if (!err && out !== null && out !== undefined) this.push(out)
        if (!err) this.push(null)
        done(err)
      }
      if (this._flush) this._flush(over)
      else over()
    },
  })
  function PassThrough(options) {
    if (!(this instanceof PassThrough)) return new PassThrough(options)
    Transform.call(this, options)
  }
  inherits(PassThrough, Transform)
  methods(PassThrough.prototype, { _transform: (chunk, enc, done) => { done(null, chunk) } })

  const finished = (s, done) => {
    const ends = (s._in ? 1 : 0) + (s._out ? 1 : 0) || 1
    let n = 0, told = false
    const tell = (err) => { if (!told) { told = true; done(err) } }
    const one = () => { if (++n === ends) tell() }
    s.on('end', one).on('finish', one).on('error', tell)
    return () => { told = true }
  }
  const pipeline = (...all) => {
    const done = typeof all[all.length - 1] === 'function' ? all.pop() : () => {}
    const list = all.flat()
    let told = false
    const tell = (err) => {
      if (told) return
      told = true
      if (err) for (const s of list) s.destroy?.()
      done(err)
    }
    for (const s of list) s.on('error', tell)
    const last = list[list.length - 1]
    last.once(last._out ? 'finish' : 'end', () => { tell() })
    return list.reduce((from, to) => from.pipe(to))
  }
  const promised = (f) => (...args) => new Promise((ok, bad) => { f(...args, (err) => err ? bad(err) : ok()) })
  const stream = Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline, promises: { finished: promised(finished), pipeline: promised(pipeline) } })

  // Characters of several bytes, and groups of base64, can be cut between two
  // chunks: what is not whole waits for the next one.
  function StringDecoder(enc = 'utf8') {
    this.encoding = String(enc).toLowerCase().replace('-', '')
    this.rest = Buffer.alloc(0)
  }
  const whole = (b, enc) => {
    if (enc === 'base64' || enc === 'base64url') return b.length - b.length % 3
    if (enc === 'utf16le' || enc === 'ucs2') return b.length - b.length % 2
    if (enc !== 'utf8') return b.length
    for (let i = 1; i <= Math.min(3, b.length); i++) {
      const c = b[b.length - i]
      if (c >= 0xC0) return (c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2) > i ? b.length - i : b.length
      if (c < 0x80) break
    }
    return b.length
  }
  StringDecoder.prototype.write = function (chunk) {
    if (typeof chunk === 'string') return chunk
    const all = this.rest.length ? Buffer.concat([this.rest, bytes.view(chunk)]) : Buffer.from(bytes.view(chunk))
    const n = whole(all, this.encoding)
    this.rest = Buffer.from(all.subarray(n))
    return Buffer.from(all.subarray(0, n)).toString(this.encoding)
  }
  StringDecoder.prototype.end = function (chunk) {
    const text = (chunk === undefined ? '' : this.write(chunk)) + (this.rest.length ? this.rest.toString(this.encoding) : '')
    this.rest = Buffer.alloc(0)
    return text
  }
  return { events, stream, 'stream/promises': stream.promises, string_decoder: { StringDecoder } }
})
