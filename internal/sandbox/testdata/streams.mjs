// Each case runs here and was run in Node: what they make of it is in
// streams.golden.
import events, { EventEmitter, once } from 'node:events'
import stream, { Readable, Writable, Transform, PassThrough, Duplex, pipeline, finished } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import assert from 'node:assert'
import util from 'node:util'

const collect = async (s) => { const all = []; for await (const x of s) all.push(Buffer.isBuffer(x) ? x.toString() : x); return all }
const thrown = (f) => { try { return f() } catch (e) { return e.message.split('\n')[0] } }
const upper = () => new Transform({ transform(chunk, enc, done) { done(null, String(chunk).toUpperCase()) } })

const cases = {
  order() {
    const e = new EventEmitter()
    const got = []
    e.on('a', (x) => got.push('on' + x)).prependListener('a', (x) => got.push('first' + x)).once('a', (x) => got.push('once' + x))
    return [e.emit('a', 1), e.emit('a', 2), e.emit('b'), got, e.listenerCount('a'), e.eventNames()]
  },
  removed() {
    const e = new events()
    const got = []
    const f = () => got.push('f')
    const g = () => { got.push('g'); e.off('x', f) }
    e.on('x', g).on('x', f).on('x', f)
    e.emit('x')
    e.emit('x')
    e.removeAllListeners('x')
    return [got, e.emit('x'), e.listeners('x').length]
  },
  unheard: () => [thrown(() => new EventEmitter().emit('error', new Error('gone'))), thrown(() => new EventEmitter().on('a', 1)) !== undefined],
  oldStyle() {
    function Old() { EventEmitter.call(this) }
    util.inherits(Old, EventEmitter)
    const o = new Old()
    let got
    o.on('x', function (v) { got = [this === o, v] })
    o.emit('x', 7)
    return [got, o instanceof events, Old.super_ === EventEmitter]
  },
  async once() { const e = new EventEmitter(); setTimeout_(() => e.emit('go', 1, 2)); return once(e, 'go') },
  async piped() { return (await collect(Readable.from(['a', 'b', 'c']).pipe(upper()))).join('') },
  async pushed() {
    const parts = ['x', 'yz', null]
    return collect(new Readable({ read() { this.push(parts.shift()) }, encoding: 'utf8' }))
  },
  async objects() { return collect(Readable.from([{ a: 1 }, { a: 2 }])) },
  async written() {
    const got = []
    const w = new Writable({ write(chunk, enc, done) { got.push(chunk.toString() + ':' + enc); done() }, final(done) { got.push('final'); done() } })
    w.write('one'); w.write('74776f', 'hex'); w.end('three')
    await once(w, 'finish')
    return got
  },
  async flushed() {
    const t = new Transform({ transform(c, e, done) { done() }, flush(done) { this.push('tail'); done() } })
    t.end('ignored')
    return collect(t)
  },
  async pipelined() {
    const out = new PassThrough()
    const all = collect(out)
    await new Promise((ok, bad) => pipeline(Readable.from(['p', 'q']), upper(), out, (e) => e ? bad(e) : ok()))
    return (await all).join('')
  },
  async broken() { return new Promise((ok) => pipeline(Readable.from(['p']), new Transform({ transform(c, e, done) { done(new Error('torn')) } }), new PassThrough(), (e) => ok(e.message))) },
  async late() { const w = new Writable({ write(c, e, done) { done() } }); w.end(); w.on('error', () => {}); return new Promise((ok) => w.write('x', (e) => ok(e.message))) },
  async ended() { const r = Readable.from(['a']); const p = new Promise((ok) => finished(r, (e) => ok(e === undefined || e === null))); r.resume(); return p },
  async read() {
    const r = new Readable({ read() {} })
    r.push('ab'); r.push('cd'); r.push(null)
    const got = []
    return new Promise((ok) => r.on('readable', () => { let c; while ((c = r.read()) !== null) got.push(c.toString()) }).on('end', () => ok(got.join(''))))
  },
  async subclass() {
    class Twice extends Transform { _transform(c, e, done) { this.push(c); done(null, c) } }
    const t = new Twice()
    t.write('1'); t.end('2')
    return (await collect(t)).join('')
  },
  kinds: () => [new PassThrough() instanceof stream, new Duplex({ read() {}, write() {} }) instanceof Readable, Readable.prototype instanceof EventEmitter, typeof stream.Stream],
  decoded() {
    const d = new StringDecoder('utf8')
    const b = Buffer.from('ä€😀')
    let out = ''
    for (const x of b) out += d.write(Buffer.from([x])) + '|'
    const half = new StringDecoder('utf8')
    const six = new StringDecoder('base64')
    return [out, d.end(), half.write(Buffer.from([0xe2, 0x82])) + half.end(), six.write(Buffer.from('ab')) + six.write(Buffer.from('cd')) + six.end()]
  },
  asserted: () => [thrown(() => assert(0, 'zero')), thrown(() => assert.strictEqual(1, '1', 'type')), thrown(() => assert.deepStrictEqual({ a: [1] }, { a: [1] })) === undefined, thrown(() => assert.throws(() => {}, 'quiet')), thrown(() => assert.fail('so')), thrown(() => assert.equal(1, '1')) === undefined],
}
const setTimeout_ = (f) => { Promise.resolve().then(() => {}).then(f) }

export const f = async (name) => name === undefined || name === null ? Object.keys(cases) : cases[name]()
