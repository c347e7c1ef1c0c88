// The cases: one operation with one parameter or one body each. A value is kept
// as JSON text, because JavaScript could not hold all of them.

const values = {
  string: '"plain"',
  reserved: '"a/b:c?d&e=f#g%h+i j,k;l|m"',
  'reserved in every table': '"!$\'()*@[]~"',
  empty: '""',
  unicode: '"ü 日本 \\ud83d\\ude00"',
  integer: '7',
  zero: '0',
  negative: '-1.5',
  'number as written': '1.50',
  int64: '9007199254740993',
  true: 'true',
  false: 'false',
  list: '["a b","c/d","e"]',
  'list of one': '["x"]',
  'list of numbers': '[1,9007199254740993]',
  'list with commas': '["a,b","c d"]',
  'list with an empty text': '["","x"]',
  'empty list': '[]',
  object: '{"R":100,"G":"x y","ü":"&"}',
  'object of one': '{"k":"v"}',
  'nested object': '{"a":{"b":1}}',
  'empty object': '{}',
}

const isList = text => text[0] === '['
const isObject = text => text[0] === '{'

function document3(path, operation) {
  return {
    openapi: '3.0.4', info: { title: 't', version: '1' }, servers: [{ url: 'https://api.test/v1' }],
    paths: { [path]: { post: { operationId: 'op', ...operation, responses: { 200: { description: 'ok' } } } } },
  }
}

function document2(path, operation) {
  return {
    swagger: '2.0', info: { title: 't', version: '1' }, host: 'api.test', basePath: '/v1', schemes: ['https'],
    paths: { [path]: { post: { operationId: 'op', ...operation, responses: { 200: { description: 'ok' } } } } },
  }
}

const written = options => Object.entries(options).map(([k, v]) => `${k}=${v}`).join(' ')

// one makes the case of a parameter with a value.
function one(version, parameter, kind, text) {
  const path = parameter.in === 'path' ? `/a/{${parameter.name}}` : '/a'
  const arg = parameter.name.replace(/\W+/g, '_').replace(/_$/, '')
  const { in: place, name, required, schema, type, items, ...options } = parameter
  return {
    name: `${version} ${place} ${name} ${typeof options.content === 'object' ? 'as JSON' : written(options)}: ${kind}`,
    version, place, kind, text, options,
    doc: version === '3' ? document3(path, { parameters: [parameter] }) : document2(path, { parameters: [parameter] }),
    args: `{${JSON.stringify(arg)}:${text}}`,
    theirs: { parameters: { [name]: foreign(text, options.content) } },
  }
}

// foreign is a value as their caller gives it: a text that becomes JSON is
// quoted by the caller himself.
function foreign(text, isJSON) {
  const value = JSON.parse(text)
  return isJSON && typeof value === 'string' ? text : value
}

const styles = { path: ['simple', 'label', 'matrix'], query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'], header: ['simple'], cookie: ['form'] }

function * parameters3() {
  for (const place of Object.keys(styles)) {
    const names = place === 'query' ? ['p', 'page[size]'] : ['p']
    const fixed = place === 'path' ? { required: true } : {}
    for (const name of names) {
      for (const style of [undefined, ...styles[place]]) {
        for (const explode of [undefined, false, true]) {
          for (const allowReserved of place === 'query' ? [undefined, true] : [undefined]) {
            const options = JSON.parse(JSON.stringify({ style, explode, allowReserved }))
            for (const [kind, text] of Object.entries(values)) {
              // The specification has no such cells in its table of styles.
              if (style === 'deepObject' && (!isObject(text) || explode === false)) continue
              if (/Delimited$/.test(style) && (!isList(text) && !isObject(text) || isObject(text) && explode === true)) continue
              yield one('3', { name, in: place, ...fixed, ...options, schema: {} }, kind, text)
            }
          }
        }
      }
    }
    for (const [kind, text] of Object.entries(values)) {
      yield one('3', { name: 'p', in: place, ...fixed, content: { 'application/json': { schema: {} } } }, kind, text)
    }
  }
}

function typeOf(text) {
  const value = JSON.parse(text)
  if (Array.isArray(value)) return { type: 'array', items: { type: typeof value[0] === 'number' ? 'integer' : 'string' } }
  return { type: Number.isInteger(value) ? 'integer' : typeof value }
}

function * parameters2() {
  for (const place of ['path', 'query', 'header', 'formData']) {
    for (const collectionFormat of [undefined, 'csv', 'ssv', 'tsv', 'pipes', 'multi']) {
      if (collectionFormat === 'multi' && place !== 'query' && place !== 'formData') continue
      for (const [kind, text] of Object.entries(values)) {
        if (isObject(text) || !isList(text) && collectionFormat) continue
        const fixed = JSON.parse(JSON.stringify({ required: place === 'path' || undefined, collectionFormat }))
        yield one('2', { name: 'p', in: place, ...fixed, ...typeOf(text) }, kind, text)
      }
    }
  }
}

function * bodies() {
  for (const [kind, text] of Object.entries(values)) {
    const theirs = { requestBody: foreign(text, true) }
    for (const media of ['application/json', 'application/merge-patch+json']) {
      yield { name: `3 body ${media}: ${kind}`, version: '3', place: 'body', options: {}, kind, text, doc: document3('/a', { requestBody: { content: { [media]: { schema: {} } } } }), args: `{"body":${text}}`, theirs }
    }
    yield {
      name: `2 body: ${kind}`, version: '2', place: 'body', options: {}, kind, text,
      doc: document2('/a', { consumes: ['application/json'], parameters: [{ name: 'b', in: 'body', schema: {} }] }),
      args: `{"body":${text}}`, theirs: { parameters: { b: foreign(text, true) } },
    }
    const encodings = [
      undefined, { style: 'form' }, { style: 'form', explode: false }, { style: 'form', explode: true },
      { style: 'spaceDelimited', explode: false }, { style: 'pipeDelimited', explode: false },
      { style: 'deepObject', explode: true }, { contentType: 'application/json' }, { contentType: 'text/plain' },
    ]
    for (const encoding of encodings) {
      if (encoding?.style === 'deepObject' && !isObject(text)) continue
      if (/Delimited$/.test(encoding?.style) && !isList(text) && !isObject(text)) continue
      if (encoding?.contentType === 'text/plain' && (isList(text) || isObject(text))) continue
      const type = { schema: {}, ...(encoding && { encoding: { p: encoding } }) }
      yield {
        name: `3 form ${written(encoding ?? {})}: ${kind}`, version: '3', place: 'form', options: encoding ?? {}, kind, text,
        doc: document3('/a', { requestBody: { content: { 'application/x-www-form-urlencoded': type } } }),
        args: `{"body":{"p":${text}}}`, theirs: { requestBody: { p: JSON.parse(text) } },
      }
    }
  }
}

export const cases = [...parameters3(), ...parameters2(), ...bodies()]
