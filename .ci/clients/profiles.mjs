// `node profiles.mjs TENON API` serves the bookshop at API to two callers, one of whom
// may not see every tool, for every client that tenon knows. Callers and clients are
// drawn at random; lists come through an HTTP cache that keeps what it may keep for
// whom it may. Whatever is answered has to agree with the list that this caller got for
// this client: structured content where there is an output schema, and then valid by
// Ajv, the same bytes of data for everybody.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { report } from './cases.mjs'

const [tenon, api] = process.argv.slice(2)
const rounds = 600
const seed = Number(process.env.SEED ?? Date.now() % 1e6)
const callers = { alice: 'a'.repeat(32), bob: 'b'.repeat(32) }
const hidden = ['createBook', 'deleteBook'] // from bob
const faults = []
const store = new Map()
let [kept, judged, textAlone] = [0, 0, 0]

const server = spawn(tenon, ['serve', '--http', '127.0.0.1:0', '--evidence', 'off', '--allow-private-host', api, '--max-result-bytes', '-1',
  '--api-key', 'alice=env:ALICE', '--api-key', 'bob=env:BOB', ...hidden.flatMap(id => ['--deny', `key:bob=id:${id}`]), `http://${api}/openapi.yaml`],
{ stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ALICE: callers.alice, BOB: callers.bob } })
try {
  const base = await address(server)
  const clients = ['', ...JSON.parse(readFileSync(new URL('../../internal/clients/clients.json', import.meta.url), 'utf8')).clients.map(c => c.id)]
  const cases = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8'))
    .filter(c => c.tool !== 'salesReport' && !c.consent && !c.save && (c.outcome ?? 'result') !== 'protocol error' && !JSON.stringify(c.arguments ?? {}).includes('$'))
  const random = generator(seed)
  const one = list => list[Math.floor(random() * list.length)]
  const data = {} // of each case, as the first client got it
  for (let i = 0; i < rounds && faults.length < 20; i++) {
    const who = one(Object.keys(callers))
    const client = one(clients)
    await tryOne(base + (client && `/${client}`), who, client, one(cases), data)
  }
  const lost = await post(base + '/nobody-has-this-name', 'alice', message('tools/list', {}))
  if (lost.status !== 404) faults.push(`a client that nobody knows is answered with ${lost.status}`)
  report(`profiles, seed ${seed}`, `${rounds} calls of ${Object.keys(callers).length} callers as ${clients.length} clients, ${kept} lists from the cache, ${judged} answers judged by Ajv, ${textAlone} text alone`, faults)
} finally {
  server.kill('SIGINT')
}

async function tryOne(url, who, client, c, data) {
  const at = `${who} as ${client || 'any client'}, ${c.tool} (${c.name})`
  const tools = await listed(url, who)
  if (who === 'bob' && tools.some(t => hidden.includes(t.name))) faults.push(`${at}: bob sees what is hidden from him`)
  if (who === 'alice' && !tools.some(t => t.name === hidden[0])) faults.push(`${at}: alice does not see ${hidden[0]}`)
  const tool = tools.find(t => t.name === c.tool)
  if (!tool) return
  const answer = await post(url, who, message('tools/call', { name: tool.name, arguments: written(tool.inputSchema, c.arguments ?? {}) }), tool.name)
  const result = answer.body?.result
  if (!result) return faults.push(`${at}: ${answer.status} ${JSON.stringify(answer.body)}`)
  if (Boolean(tool.outputSchema) !== Boolean(result.structuredContent) && !result.isError) faults.push(`${at}: an output schema ${Boolean(tool.outputSchema)}, structured content ${Boolean(result.structuredContent)}`)
  if (tool.outputSchema && result.structuredContent) {
    const ajv = new Ajv2020({ strict: false, logger: false })
    const fits = ajv.compile(tool.outputSchema)
    judged++
    if (!fits(result.structuredContent)) faults.push(`${at}: ${ajv.errorsText(fits.errors)}`)
  }
  if (!result.structuredContent) textAlone++
  const same = JSON.stringify(JSON.parse(result.content[0].text).data ?? null)
  if ((data[c.name] ??= same) !== same) faults.push(`${at}: the data is ${same}, others got ${data[c.name]}`)
}

// written are arguments as a model writes them that has to give every one: null for
// those that it does not mean, JSON for objects that a schema has as text.
function written(schema, args) {
  const all = {}
  for (const [name, value] of Object.entries(args)) {
    const p = schema.properties?.[name] ?? {}
    all[name] = value !== null && typeof value === 'object' && !Array.isArray(value) && takes(p, 'string') && !takes(p, 'object') ? JSON.stringify(value) : value
  }
  for (const name of schema.required ?? []) {
    if (!(name in all) && takes(schema.properties?.[name] ?? {}, 'null')) all[name] = null
  }
  return all
}

function takes(schema, type) {
  return [schema.type].flat().includes(type) || (schema.anyOf ?? []).some(s => takes(s, type))
}

// listed is the whole list, each page of it through the cache.
async function listed(url, who) {
  const tools = []
  let cursor
  do {
    const page = await cached(url, who, message('tools/list', cursor ? { cursor } : {}))
    tools.push(...page.tools)
    cursor = page.nextCursor
  } while (cursor)
  return tools
}

// cached is an HTTP cache that everybody shares: what is public is for everyone, what
// is private for who asked, and both for as long as they say.
async function cached(url, who, body) {
  const now = Date.now()
  for (const key of [`${url} ${body}`, `${url} ${body} ${who}`]) {
    const one = store.get(key)
    if (one && one.until > now) {
      kept++
      return one.result
    }
  }
  const { status, body: got } = await post(url, who, body)
  const result = got?.result
  if (!result) throw new Error(`a list is answered with ${status} ${JSON.stringify(got)}`)
  const scope = result.cacheScope
  if (!['public', 'private'].includes(scope)) faults.push(`a list has the scope ${scope}`)
  store.set(scope === 'public' ? `${url} ${body}` : `${url} ${body} ${who}`, { result, until: now + result.ttlMs })
  return result
}

function message(method, params) {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })
}

async function post(url, who, body, name) {
  const { method } = JSON.parse(body)
  const got = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'X-API-Key': callers[who],
      'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...(name && { 'Mcp-Name': name }),
    },
    body,
  })
  const text = await got.text()
  const line = text.startsWith('{') ? text : text.split('\n').findLast(l => l.startsWith('data: {'))?.slice(6)
  return { status: got.status, body: line && JSON.parse(line) }
}

// address reads where the server listens from what it prints.
async function address(server) {
  let told = ''
  for await (const line of createInterface({ input: server.stderr })) {
    told += line + '\n'
    const found = line.match(/listening on (http\S+)/)
    if (found) return found[1]
  }
  throw new Error(`the server does not listen:\n${told}`)
}

// generator is mulberry32: the same numbers for the same seed.
function generator(a) {
  return () => {
    a = (a + 0x6D2B79F5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
