// Runs the table of cases.json through any MCP client and judges what comes
// back. A client is given as {name, list, call, abandon}: list() gives all
// tools over all pages, call(tool, arguments) gives the result of tools/call
// and throws what the client throws, abandon(tool, arguments), where the client
// can, gives up on a call before it is answered.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const cases = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8'))

// judge calls every tool as the table says, prints what is not as expected,
// and sets the exit code. `where` is "demo" or "stdio".
export async function judge(client, where, pick = () => true) {
  const tools = await client.list()
  const faults = checkList(tools)
  const saved = client.forgets ? { NEW: 'b1001' } : {} // where nothing is ever made, any book will do
  const called = new Set()
  const chosen = cases.filter(c => (!c.only || c.only === where) && pick(c)) // "python": numbers that no double holds
  for (const c of chosen) {
    called.add(c.tool)
    const args = fill(c.arguments, saved)
    let outcome = await outcomeOf(() => client.call(c.tool, args))
    if (c.consent && !client.asks) {
      faults.push(...checkRequest(outcome).map(f => `${c.tool}, ${c.name}: ${f}`))
      if (client.forgets) continue // each call has a session of its own: nobody could agree in the next one
      outcome = await outcomeOf(() => client.call(c.tool, { ...args, confirmed: true }))
    }
    for (const [name, at] of Object.entries(c.save ?? {})) saved[name] = pointer(outcome, at)
    faults.push(...checkOutcome(outcome, c).map(f => `${c.tool}, ${c.name}: ${f}`))
  }
  const missed = tools.map(t => t.name).filter(name => !called.has(name))
  if (missed.length > 0) faults.push(`not called: ${missed.join(', ')}`)
  if (client.abandon) faults.push(...await sideBySide(client))
  report(client.name, `${tools.length} tools, ${chosen.length} calls`, faults)
}

// sideBySide makes calls at the same time, one of them given up: each of the
// others must get its own answer.
async function sideBySide(client) {
  const slow = outcomeOf(() => client.abandon('salesReport', { seconds: 5 }))
  const ids = Array.from({ length: 12 }, (_, i) => `b${1001 + i}`)
  const answers = await Promise.all(ids.map(bookId => outcomeOf(() => client.call('getBook', { bookId }))))
  const faults = ids
    .map((id, i) => ({ id, got: pointer(answers[i], '/structuredContent/data/id') }))
    .filter(a => a.got !== a.id)
    .map(a => `side by side: asked for ${a.id}, got ${show(a.got)}`)
  if (!(await slow).error) faults.push('a call that was given up is answered')
  const after = await outcomeOf(() => client.call('listCategories', {}))
  if (!after.structuredContent?.data) faults.push(`after a call that was given up: ${show(after)}`)
  return faults
}

// firstOfEachTool picks a part of the table that calls every tool there is.
export function firstOfEachTool() {
  const seen = new Set()
  return c => c.outcome !== 'protocol error' && !seen.has(c.tool) && seen.add(c.tool)
}

// report prints one line, or one more for each fault.
export function report(name, counts, faults) {
  console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'} ${name}: ${counts}`)
  for (const f of faults) console.log(`     ${f}`)
  if (faults.length > 0) process.exitCode = 1
}

// checkList is what every list must keep, so that no client drops it.
export function checkList(tools) {
  const faults = []
  const seen = new Set()
  if (tools.length === 0) faults.push('the list of tools is empty')
  for (const t of tools) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(t.name)) faults.push(`${t.name}: the name is not legal everywhere`)
    if (seen.has(t.name)) faults.push(`${t.name}: the name is there twice`)
    seen.add(t.name)
    if (t.inputSchema?.type !== 'object') faults.push(`${t.name}: the input schema's root type is ${show(t.inputSchema?.type)}`)
    if (t.outputSchema && t.outputSchema.type !== 'object') faults.push(`${t.name}: the output schema's root type is ${show(t.outputSchema.type)}`)
  }
  return faults
}

// outcomeOf gives the result of a call, or {error} for what was thrown.
async function outcomeOf(call) {
  try {
    return await call()
  } catch (e) {
    return { error: { code: e.code, message: e.message ?? String(e) } }
  }
}

// checkRequest: a call that changes something is answered with a request for
// consent, and nothing was done.
function checkRequest(outcome) {
  const type = outcome.structuredContent?.type
  const executed = outcome._meta?.['tenon/contract']?.executed
  if (type !== 'confirmation_request') return [`expected a request for consent, got ${show(outcome.error ?? type)}`]
  return executed === 'no' ? [] : [`a request for consent says executed: ${show(executed)}`]
}

function checkOutcome(outcome, c) {
  const want = c.outcome ?? 'result'
  const came = outcome.error ? 'protocol error' : outcome.isError ? 'tool error' : 'result'
  if (came !== want) return [`expected a ${want}, got a ${came}: ${show(outcome.error ?? outcome.structuredContent)}`]
  const faults = outcome.error ? [] : checkCopies(outcome)
  for (const [at, expected] of Object.entries(c.expect ?? {})) {
    const got = pointer(outcome, at)
    if (!fits(got, expected)) faults.push(`${at}: expected ${show(expected)}, got ${show(got)}`)
  }
  return faults
}

// checkCopies: the text says the same as the structure, and binary data is the
// bytes that the structure describes.
function checkCopies(result) {
  const faults = []
  const text = result.content?.[0]?.text
  try {
    assert.deepEqual(JSON.parse(text), result.structuredContent)
  } catch {
    faults.push(`the text copy differs from the structure: ${show(text)}`)
  }
  const data = result.structuredContent?.data
  if (data?.sha256) {
    const block = result.content[data.block]
    const bytes = Buffer.from(block?.data ?? block?.resource?.blob ?? '', 'base64')
    const sum = createHash('sha256').update(bytes).digest('hex')
    if (bytes.length !== data.bytes || sum !== data.sha256) faults.push(`block ${data.block} is not the bytes described by ${show(data)}`)
  }
  return faults
}

// fits compares a value with a literal, or with all the conditions of an
// object.
function fits(got, want) {
  if (want === null || typeof want !== 'object' || Array.isArray(want)) return equal(got, want)
  return Object.entries(want).every(([condition, value]) => {
    switch (condition) {
      case 'absent': return got === undefined
      case 'type': return typeof got === value
      case 'length': return got?.length === value
      case 'starts': return typeof got === 'string' && got.startsWith(value)
      case 'contains': return typeof got === 'string' && value.every(v => got.includes(v))
      case 'members': return value.every(m => typeof got?.[m] === 'string')
      case 'includes': return Array.isArray(got) && value.every(v => got.some(x => Object.keys(v).every(k => equal(x?.[k], v[k]))))
      default: throw new Error(`cases.json has a condition that nobody knows: ${condition}`)
    }
  })
}

function equal(a, b) {
  try {
    assert.deepEqual(a, b)
    return true
  } catch {
    return false
  }
}

// fill puts saved values in the place of "$NAME".
function fill(value, saved) {
  if (typeof value === 'string' && value.startsWith('$')) return saved[value.slice(1)]
  if (Array.isArray(value)) return value.map(v => fill(v, saved))
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v, saved)]))
  return value
}

// pointer follows a JSON Pointer (RFC 6901); undefined where there is nothing.
function pointer(value, path) {
  for (const step of path.split('/').slice(1)) {
    if (value === null || typeof value !== 'object') return undefined
    value = value[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return value
}

function show(value) {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 300 ? text.slice(0, 300) + '…' : text
}
