// Joins a schema file's handlers to the stages of a call. It takes both
// contracts: that of the format's page and the one that real files follow.
({ ask, data, libraries, modules, bytes }) => {
  const { fromLatin1, toLatin1, utf8 } = bytes

  class Headers {
    #list = []
    constructor(init = []) {
      const pairs = init instanceof Headers ? init.#list : typeof init?.[Symbol.iterator] === 'function' ? init : Object.entries(init ?? {})
      for (const [k, v] of pairs) this.append(k, v)
    }
    append(k, v) { this.#list.push([String(k).toLowerCase(), String(v)]) }
    delete(k) { this.#list = this.#list.filter((p) => p[0] !== String(k).toLowerCase()) }
    get(k) { const all = this.#list.filter((p) => p[0] === String(k).toLowerCase()).map((p) => p[1]); return all.length ? all.join(', ') : null }
    getSetCookie() { return this.#list.filter((p) => p[0] === 'set-cookie').map((p) => p[1]) }
    has(k) { return this.get(k) !== null }
    set(k, v) { this.delete(k); this.append(k, v) }
    forEach(f, self) { for (const [k, v] of this.#list) f.call(self, v, k, this) }
    keys() { return this.#list.map((p) => p[0])[Symbol.iterator]() }
    values() { return this.#list.map((p) => p[1])[Symbol.iterator]() }
    entries() { return this.#list.map((p) => [p[0], p[1]])[Symbol.iterator]() }
    [Symbol.iterator]() { return this.entries() }
  }
  class Response {
    #text; #binary
    constructor(body = '', { status = 200, statusText = '', headers, url = '', binary = false, redirected = false } = {}) {
      Object.assign(this, { status, statusText, url, redirected, ok: status >= 200 && status < 300, headers: new Headers(headers), type: 'basic', bodyUsed: false })
      this.#text = body
      this.#binary = binary
    }
    async text() { return this.#binary ? new TextDecoder().decode(fromLatin1(this.#text)) : this.#text }
    async json() { return JSON.parse(await this.text()) }
    async bytes() { return this.#binary ? fromLatin1(this.#text) : utf8(this.#text) }
    async arrayBuffer() { return (await this.bytes()).buffer }
    clone() { return new Response(this.#text, { ...this, binary: this.#binary }) }
  }
  const fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers ?? input?.headers)
    let body = init.body ?? null
    let binary = false
    if (body instanceof URLSearchParams && !headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8')
    if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) {
      body = toLatin1(bytes.view(body))
      binary = true
    } else if (body !== null) {
      body = String(body)
      if (!headers.has('content-type')) headers.set('content-type', 'text/plain;charset=UTF-8')
    }
    init.signal?.throwIfAborted?.()
    const { value, text } = await ask('fetch', {
      url: String(input?.url ?? input), method: String(init.method ?? input?.method ?? 'GET').toUpperCase(), headers: [...headers], body, binary, redirect: String(init.redirect ?? 'follow'),
      timeout: Number.isFinite(init.signal?.after) ? init.signal.after : 0,
    })
    return new Response(text, value)
  }

  // A library that is not here can be named, and fails where it is used.
  const missing = (name) => {
    const fail = () => { throw new Error('SEC103 the library ' + name + ' is not here') }
    return new Proxy(function () {}, { get: (_, k) => typeof k === 'symbol' || k === 'then' ? undefined : missing(name), apply: fail, construct: fail, set: fail })
  }
  const given = {}
  for (const name of data.libraries) given[name] = libraries[name] ?? modules[name] ?? missing(name)
  Object.freeze(given)

  // The databases of the file, in executeRequest: each query is a function of
  // the arguments that its tool takes.
  const rows = (resource, query) => async (args = {}) => JSON.parse((await ask('rows', { resource, query, args })).text)
  const stores = {}
  for (const name of Object.keys(data.stores)) {
    stores[name] = Object.freeze(Object.fromEntries(data.stores[name].map((query) => [query, rows(name, query)])))
  }
  Object.freeze(stores)

  // Files that were brought over from version 1 read userParams._allParams.
  const withAll = (params) => Object.hasOwn(params, '_allParams') ? params : Object.defineProperty(params, '_allParams', { value: params })
  const plain = (x) => x !== null && typeof x === 'object'
  // The page has what a handler returns. Real files leave out a payload that
  // they did not change, and return the struct that they wrote their data into;
  // by the letter neither is enough.
  const page = { preRequest: ['struct', 'payload'], executeRequest: ['response'], postRequest: ['response'] }
  const checked = (stage, r, real = 'struct') => {
    const keys = page[stage]
    const invalid = (what) => { throw new Error('SEC101 ' + stage + ' must return { ' + keys.join(', ') + ' }: ' + what) }
    const object = (x) => plain(x) && !Array.isArray(x)
    if (!object(r)) invalid('it returned ' + (r === undefined ? 'nothing' : r === null ? 'null' : Array.isArray(r) ? 'an array' : 'a ' + typeof r))
    for (const k of ['struct', 'payload']) if (r[k] !== undefined && !object(r[k])) invalid(k + ' is no object')
    const missing = keys.filter((k) => r[k] === undefined)
    if (missing.length && (data.letter || r[real] === undefined)) {
      const others = Object.keys(r).slice(0, 5)
      invalid(missing.join(' and ') + (missing.length > 1 ? ' are' : ' is') + ' missing' + (others.length ? ' in { ' + others.join(', ') + ' }' : ''))
    }
    return r
  }
  const say = (struct, data) => ({ status: struct.status !== false, messages: (Array.isArray(struct.messages) ? struct.messages : []).map(String), data: data === undefined ? null : data })

  return {
    globals: { fetch, Headers, Response },
    start({ handlers }) {
      if (typeof handlers !== 'function') throw new TypeError('the export handlers is no function')
      const table = handlers({ sharedLists: data.lists, libraries: given })
      if (!plain(table) || typeof table.then === 'function') throw new TypeError('SEC104 handlers must return an object')
      const handler = (tool, stage) => {
        const of = Object.hasOwn(table, tool) ? table[tool] : undefined
        const f = plain(of) && Object.hasOwn(of, stage) ? of[stage] : undefined
        return typeof f === 'function' ? f.bind(of) : undefined
      }
      return {
        stages: ({ tool }) => ['preRequest', 'executeRequest', 'postRequest'].filter((s) => handler(tool, s)),
        async preRequest({ tool, struct, payload }) {
          const r = checked('preRequest', await handler(tool, 'preRequest')({ struct: { ...struct, status: true, messages: [] }, payload }))
          const said = say(r.struct)
          if (!said.status) throw new Error(said.messages.join('; ') || 'it gave no reason')
          const { url, method, headers, body } = r.struct
          return { struct: { url, method, headers, body }, payload: r.payload ?? payload }
        },
        // Beside the arguments real files read the request in payload. An argument
        // that the tool declares is never hidden by it; one that it does not declare
        // never takes its place.
        async executeRequest({ tool, struct, payload, secrets, declared }) {
          const request = { ...struct }
          const beside = { ...request, userParams: withAll(payload), serverParams: secrets }
          for (const name of declared) delete beside[name]
          const r = checked('executeRequest', await handler(tool, 'executeRequest')({
            struct: { ...request, status: true, messages: [], data: null, dataAsString: null },
            payload: { ...payload, ...beside },
            resources: stores,
          }))
          return say(r.struct ?? {}, r.response !== undefined ? r.response : r.struct.data)
        },
        async postRequest({ tool, struct, payload, text }, response = text) {
          const r = checked('postRequest', await handler(tool, 'postRequest')({ response, struct: { ...struct, status: true, messages: [], data: response }, payload }))
          return say(r.struct ?? {}, r.response !== undefined ? r.response : r.struct.data !== undefined ? r.struct.data : response)
        },
        // The handlers of resources stand one level deeper: resource, query, postRequest.
        async resource({ resource, query, struct, payload, response }) {
          const own = (of, key) => plain(of) && Object.hasOwn(of, key) ? of[key] : undefined
          const of = own(own(table, resource), query)
          const f = own(of, 'postRequest')
          if (typeof f !== 'function') return say({}, response)
          const r = checked('postRequest', await f.call(of, { response, struct, payload }), 'response')
          return say(r.struct ?? {}, r.response)
        },
      }
    },
  }
}
