// `node github-list.mjs TENON DOCUMENT COUNT` serves a big document and lists
// its tools over all pages with both generations of the TypeScript client. Such
// a client drops the whole list over one tool that it dislikes.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { checkList, report } from './cases.mjs'

const [tenon, document, count] = process.argv.slice(2)
const me = { name: 'tenon-ci', version: '1' }
const modern = { versionNegotiation: { mode: { pin: '2026-07-28' } } }

const server = spawn(tenon, ['serve', '--http', '127.0.0.1:0', document], { stdio: ['ignore', 'ignore', 'pipe'] })
try {
  const url = await address(server)
  await run('TypeScript SDK 1', new Client1(me), new Transport1(url))
  await run('TypeScript client 2, legacy', new Client2(me), new Transport2(url))
  await run('TypeScript client 2, 2026-07-28', new Client2(me, modern), new Transport2(url))
} finally {
  server.kill('SIGINT')
}

// address reads where the server listens from what it prints.
async function address(server) {
  for await (const line of createInterface({ input: server.stderr })) {
    const found = line.match(/listening on (http\S+)/)
    if (found) return new URL(found[1])
  }
  throw new Error('the server does not listen')
}

async function run(name, client, transport) {
  const began = Date.now()
  let tools = []
  let pages = 0
  const faults = []
  try {
    await client.connect(transport)
    // A cursor asks for one page, in both generations; the second takes all
    // pages by itself where there is none.
    let cursor
    do {
      const page = await client.listTools(cursor ? { cursor } : undefined)
      tools = tools.concat(page.tools)
      cursor = page.nextCursor
      pages++
    } while (cursor)
    faults.push(...checkList(tools).slice(0, 20))
  } catch (e) {
    faults.push(`after ${tools.length} tools: ${e.message}`)
  }
  if (tools.length !== Number(count)) faults.push(`expected ${count} tools, got ${tools.length}`)
  report(name, `${tools.length} tools in ${pages} answers, ${((Date.now() - began) / 1000).toFixed(1)} s`, faults)
  await client.close()
}
