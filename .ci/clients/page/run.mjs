// `node page/run.mjs TENON [PYTHON]` lets the two clients of the page that
// describes the output structure live through every scene at /jsonrpc: in node,
// in Python, and in a browser from an origin that is allowed and one that is
// not. PYTHON has the package requests. The clients are call.js and call.py;
// with OUTPUT_PAGE=FILE they are the page's own, taken from its text unchanged.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { inNode, inPage, inPython, openBrowser, servePages } from './lives.mjs'
import { scenes } from './scenes.mjs'
import { rows, serve } from './upstream.mjs'

const [tenon, python] = process.argv.slice(2)

// clients are the texts of both, and where Python finds its own.
function clients() {
  const here = name => new URL(name, import.meta.url).pathname
  if (!process.env.OUTPUT_PAGE) return { js: readFileSync(here('call.js'), 'utf8'), py: here('call.py') }
  const page = readFileSync(process.env.OUTPUT_PAGE, 'utf8')
  const between = (from, to) => page.slice(page.indexOf(from), page.indexOf(to, page.indexOf(from)))
  const py = `${mkdtempSync(`${tmpdir()}/page-`)}/page.py`
  writeFileSync(py, between('import requests', '\nNext Steps'))
  return { js: between('async function callTool', '\nPython\n'), py }
}

async function startTenon(api, origin) {
  const child = spawn(tenon, ['serve', '--http', '127.0.0.1:0', '--policy', 'enforce', '--allowed-origin', origin, '--allow-private-host', api.address, `http://${api.address}/openapi.json`])
  const base = await new Promise((found, failed) => {
    let said = ''
    child.stderr.on('data', text => {
      said += text
      const at = said.match(/listening on (http:\S+)\/mcp/)
      if (at) found(at[1])
    })
    child.on('exit', () => failed(new Error(said)))
  })
  return { base, close: () => child.kill('SIGINT') }
}

// play lets a client live through a scene and says what is wrong.
async function play(client, scene, api) {
  const before = api.made
  if (scene.parts) return playParts(client, scene)
  const came = await client.call(scene)
  if (scene.made !== undefined && api.made - before !== scene.made) return `${api.made - before} things were made`
  if (scene.data) {
    const right = scene.made ? came.data?.id === api.made : isDeepStrictEqual(came.data, scene.data)
    return right ? '' : `came ${show(came)}`
  }
  const ends = client.name === 'Python' && scene.code ? `(${scene.code})` : ''
  const right = came.thrown?.startsWith(scene.throws) && came.thrown.endsWith(ends) && (!scene.code || came.last.error.code === scene.code)
  return right ? '' : `threw ${show(came)}`
}

// playParts reads a list to its end by the tokens of the answers.
async function playParts(client, scene) {
  const read = []
  let args = {}
  let parts = 0
  for (; parts < 100; parts++) {
    const came = await client.call({ ...scene, args })
    if (!came.data) return `threw ${show(came)}`
    read.push(...came.data.rows)
    if (!came.last.partial) break
    args = { resume_token: came.last.resume_token }
  }
  if (parts === 0) return 'the answer is whole'
  return isDeepStrictEqual(read, rows) ? '' : `${parts} parts are ${read.length} rows of ${rows.length}`
}

async function playAll(client, api) {
  const faults = []
  for (const scene of scenes) {
    const fault = await play(client, scene, api)
    if (fault) faults.push(`${scene.title}: ${fault}`)
  }
  report(client.name, `${scenes.length} scenes`, faults)
}

// playRefused: a page of an origin that nobody allowed reads nothing and
// changes nothing, not even by a request for which its browser asks nobody.
async function playRefused(client, api, tool = 'make') {
  const faults = []
  const before = api.made
  for (const scene of scenes) {
    const came = await client.call({ ...scene, args: { ...scene.args, ...(scene.tool === tool ? { __confirmed: true } : {}) } })
    if (came.last || came.data || !/fetch/i.test(came.thrown)) faults.push(`${scene.title}: came ${show(came)}`)
  }
  await client.page.evaluate(async tool => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: { __confirmed: true } } })
    for (const path of ['jsonrpc', 'mcp']) {
      await fetch(`http://localhost:8080/${path}`, { method: 'POST', mode: 'no-cors', body }).catch(() => {})
    }
  }, tool)
  if (api.made !== before) faults.push(`${api.made - before} things were made`)
  report(client.name, `refused, ${scenes.length} scenes`, faults)
}

function report(name, counts, faults) {
  console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'} page: ${name}: ${counts}`)
  for (const f of faults) console.log(`     ${f}`)
  if (faults.length > 0) process.exitCode = 1
}

function show(value) {
  const text = JSON.stringify(value)
  return text.length > 300 ? text.slice(0, 300) + '…' : text
}

const api = await serve()
const pages = await servePages()
const friend = `http://friend.example:${pages.port}`
const server = await startTenon(api, friend)
const { js, py } = clients()
const lives = [inNode(js, server.base)]
if (python) lives.push(inPython(python, py, server.base))
const browser = await openBrowser(server.base)
if (browser) lives.push(await inPage(browser, friend, js))
else console.log('left out: there is no Chromium')
for (const client of lives) {
  await playAll(client, api)
  await client.close()
}
if (browser) {
  await playRefused(await inPage(browser, friend.replace('friend', 'foe'), js), api)
  await browser.close()
}
server.close()
pages.close()
api.close()
