// The requests that tenon sends beside those that swagger-client builds out of
// the same documents and values: `node run.mjs REQUESTS`, the built main.go.
// They are equal byte by byte, or differ in one of the ways of differences.mjs.

import { execFileSync } from 'node:child_process'
import SwaggerClient from 'swagger-client'
import { cases } from './cases.mjs'
import { differences } from './differences.mjs'

const lines = cases.map(c => JSON.stringify({ doc: c.doc, args: c.args })).join('\n') + '\n'
const sent = execFileSync(process.argv[2], { input: lines, maxBuffer: 1 << 28, encoding: 'utf8' }).trim().split('\n').map(l => JSON.parse(l))
if (sent.length !== cases.length) throw new Error(`${sent.length} requests for ${cases.length} cases`)

// What buildRequest leaves for the sending: a body that is no text becomes JSON.
function theirs(c) {
  let r
  try {
    r = SwaggerClient.buildRequest({ spec: structuredClone(c.doc), operationId: 'op', ...structuredClone(c.theirs) })
  } catch (e) {
    return { refused: String(e.message) }
  }
  const headers = {}
  for (const [name, value] of Object.entries(r.headers)) headers[name.toLowerCase()] = String(value)
  const body = r.body === undefined ? undefined : typeof r.body === 'string' ? r.body : JSON.stringify(r.body)
  return plain({ method: r.method, url: r.url, headers, body })
}

function plain(r) {
  if (r.refused !== undefined) return { refused: true }
  const { accept, ...headers } = r.headers ?? {}
  return { method: r.method, url: r.url, headers: Object.fromEntries(Object.entries(headers).sort()), body: r.body ?? '' }
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)
const used = new Map(differences.map(d => [d, 0]))
let agree = 0
const wrong = []
cases.forEach((c, i) => {
  const ours = plain(sent[i])
  let foreign = theirs(c)
  if (same(ours, foreign)) {
    agree++
    return
  }
  // Every difference that is listed for the case turns their request a step
  // further into ours; in the end the two are equal.
  const ways = []
  const before = foreign
  for (const d of differences) {
    if (foreign.refused || !d.when(c)) continue
    const next = plain(d.mend(structuredClone(foreign), c))
    if (same(next, foreign)) continue
    ways.push(d)
    foreign = next
  }
  if (ways.length > 0 && same(ours, foreign)) ways.forEach(d => used.set(d, used.get(d) + 1))
  else wrong.push({ name: c.name, args: c.args, ours, theirs: before, ...(ways.length > 0 && { mended: foreign }) })
})

for (const [d, n] of used) console.log(`${String(n).padStart(5)}  ${d.what}`)
for (const w of wrong.slice(0, Number(process.env.SHOW ?? 20))) console.log('NOT LISTED', JSON.stringify(w, null, 1))
const idle = [...used].filter(([, n]) => n === 0).map(([d]) => d.what)
for (const what of idle) console.log(`LISTED AND NEVER SEEN ${what}`)
console.log(`${cases.length} cases, ${agree} agree, ${cases.length - agree - wrong.length} differ in the listed ways, ${wrong.length} in others`)
if (wrong.length > 0 || idle.length > 0) process.exit(1)
