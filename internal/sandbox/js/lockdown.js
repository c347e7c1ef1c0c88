// After this nothing that is shared can be changed: every object that can be
// reached from the global one is frozen, text cannot become code, and nothing
// can be added to the global object. One call cannot leave anything for the
// next but in the closures of its own file.
(() => {
  'use strict'
  const { freeze, getOwnPropertyDescriptor: describe, getPrototypeOf: parent, defineProperty: define, preventExtensions } = Object
  const { ownKeys } = Reflect
  const refuse = () => { throw new EvalError('text cannot be run as code here') }
  const kinds = [function () {}, async function () {}, function * () {}, async function * () {}]
  for (const f of kinds) {
    const proto = parent(f)
    const stub = function () { refuse() }
    define(stub, 'prototype', { value: proto, writable: false })
    define(proto, 'constructor', { value: stub, writable: false, configurable: false })
    if (f === kinds[0]) define(globalThis, 'Function', { value: stub })
  }
  for (const name of ['eval', 'Atomics', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry', 'gc', 'print', 'std', 'os', 'bjson', 'navigator']) delete globalThis[name]

  // An assignment to an object must go on working where its prototype has a
  // member of that name which is frozen: error.name = 'X', o.toString = f.
  const overridable = (proto, names) => {
    for (const name of names) {
      const d = describe(proto, name)
      if (!d || !d.configurable || !('value' in d)) continue
      const value = d.value
      define(proto, name, {
        configurable: false, enumerable: d.enumerable,
        get() { return value },
        set(v) {
          if (this === proto || this === null || typeof this !== 'object' && typeof this !== 'function') throw new TypeError('a shared object cannot be changed')
          define(this, name, { value: v, writable: true, enumerable: true, configurable: true })
        },
      })
    }
  }
  const usual = ['constructor', 'toString', 'valueOf', 'toLocaleString', 'toJSON', 'name', 'message', 'hasOwnProperty']
  for (const type of [Object, Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError, Promise, Date, Array, Map, Set, RegExp, Uint8Array, Buffer, URL]) overridable(type.prototype, usual)
  overridable(parent(Uint8Array.prototype), usual)
  overridable(parent(kinds[0]), ['toString', 'name', 'length', 'call', 'apply', 'bind'])

  const seen = new Set()
  const todo = [globalThis, ...kinds, (function * () {})(), (async function * () {})(), [][Symbol.iterator](), new Map().entries(), new Set().values(), ''[Symbol.iterator](), /x/g[Symbol.matchAll]('x')]
  while (todo.length) {
    const x = todo.pop()
    if (x === null || typeof x !== 'object' && typeof x !== 'function' || seen.has(x)) continue
    seen.add(x)
    todo.push(parent(x))
    for (const key of ownKeys(x)) {
      const d = describe(x, key)
      if ('value' in d) todo.push(d.value)
      else todo.push(d.get, d.set)
    }
  }
  seen.delete(globalThis)
  for (const x of seen) if (!ArrayBuffer.isView(x)) freeze(x) // a view of bytes cannot be frozen
  for (const key of ownKeys(globalThis)) {
    const d = describe(globalThis, key)
    if (d.configurable) define(globalThis, key, 'value' in d ? { writable: false, configurable: false } : { configurable: false })
  }
  preventExtensions(globalThis)
})
