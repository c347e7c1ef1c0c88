// The Inspector's command line: `node inspector.mjs legacy|modern URL`. Each
// call is a process of its own that connects, lists and calls, so it makes the
// first call of each tool only. --strict is its check of the schemas for
// clients that support little.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { firstOfEachTool, judge, report } from './cases.mjs'

const [era, url] = process.argv.slice(2)
const here = dirname(fileURLToPath(import.meta.url))
const program = join(here, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')
const home = mkdtempSync(join(tmpdir(), 'inspector-')) // it keeps a list of servers there

function inspect(...args) {
  const connect = ['--cli', '--format', 'json', '--transport', 'http', '--server-url', url, '--protocol-era', era]
  return spawnSync(process.execPath, [program, ...connect, ...args], {
    encoding: 'utf8', env: { ...process.env, HOME: home }, timeout: 60_000, maxBuffer: 1 << 26,
  })
}

async function list() {
  const p = inspect('--method', 'tools/list', '--strict')
  if (p.status !== 0) report(`Inspector ${era}, --strict`, `exit ${p.status}`, p.stderr.trim().split('\n').slice(0, 20))
  return JSON.parse(p.stdout).result.tools
}

// An error of a tool is exit 5, with the result on standard output.
async function call(name, args) {
  const p = inspect('-q', '--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args ?? {}))
  if (p.stdout.trim() === '') throw new Error(`exit ${p.status}: ${p.stderr.trim()}`)
  return JSON.parse(p.stdout).result
}

await judge({ name: `Inspector, ${era}, over HTTP`, list, call, forgets: era === 'legacy' }, 'demo', firstOfEachTool())
rmSync(home, { recursive: true })
