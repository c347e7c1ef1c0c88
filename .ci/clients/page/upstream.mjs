// The API behind the tools of the page's clients: an error for every status
// that has a code of its own, an answer that violates its schema, a connection
// that breaks, a thing to make, and a list too long for one answer.

import { createServer } from 'node:http'

export const rows = Array.from({ length: 3000 }, (_, id) => ({ id, name: `row ${id} `.repeat(8) }))

const statuses = [200, 400, 401, 403, 404, 409, 418, 429, 500, 504]

// serve opens the API on a free port; it remembers how many things were made.
export async function serve() {
  const api = { made: 0 }
  const server = createServer((request, response) => {
    const say = (status, body) => {
      response.writeHead(status, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    const [, what, status] = request.url.split('/')
    if (what === 'openapi.json') return say(200, describe(api.address))
    if (what === 'status') return say(Number(status), status === '200' ? { id: 7, name: 'so <be> it' } : { detail: 'it said so' })
    if (what === 'rows') return say(200, { total: rows.length, rows })
    if (what === 'breach') return say(200, { id: 'seven' })
    if (what === 'break') return request.socket.destroy()
    api.made += 1
    return say(201, { id: api.made })
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  api.address = `127.0.0.1:${server.address().port}`
  api.close = () => server.close()
  return api
}

function describe(address) {
  const thing = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  const operation = (operationId, status, schema) => ({
    operationId, responses: { [status]: { description: operationId, content: { 'application/json': { schema } } } },
  })
  const paths = {
    '/rows': { get: operation('rows', 200, { type: 'object', properties: { total: { type: 'integer' }, rows: { type: 'array', items: thing } }, required: ['rows'] }) },
    '/breach': { get: operation('breach', 200, thing) },
    '/break': { get: operation('break', 200, thing) },
    '/things': { post: operation('make', 201, thing) },
  }
  for (const status of statuses) paths[`/status/${status}`] = { get: operation(`status_${status}`, 200, thing) }
  return { openapi: '3.1.0', info: { title: 'page', version: '1' }, servers: [{ url: `http://${address}` }], paths }
}
