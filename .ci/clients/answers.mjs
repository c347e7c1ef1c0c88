// What the TypeScript clients see of structured answers: `node answers.mjs
// sdk|client http|stdio [ERA] URL|COMMAND ARGUMENT...`. Names of tools come on
// standard input; each is called and what came back, or what was thrown, is
// written as one line of JSON. The tools are listed first, because the clients
// then check every answer against the schema that was published.

import { readFileSync, writeSync } from 'node:fs'

const [maker, where, ...rest] = process.argv.slice(2)
const era = maker === 'client' ? rest.shift() : ''
const names = readFileSync(0, 'utf8').split('\n')

async function sdk() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  return { client: new Client({ name: 'answers', version: '1' }), StdioClientTransport, StreamableHTTPClientTransport }
}

async function client() {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const options = era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: era } } }
  return { client: new Client({ name: 'answers', version: '1' }, options), StdioClientTransport, StreamableHTTPClientTransport }
}

const kit = await { sdk, client }[maker]()
await kit.client.connect(where === 'stdio'
  ? new kit.StdioClientTransport({ command: rest[0], args: rest.slice(1), stderr: 'ignore' })
  : new kit.StreamableHTTPClientTransport(new URL(rest[0])))

let cursor
do cursor = (await kit.client.listTools(cursor ? { cursor } : {})).nextCursor
while (cursor)

// write does not end before all is out: a pipe takes a part at a time.
function write(line) {
  let bytes = Buffer.from(line + '\n')
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes))
    } catch (e) {
      if (e.code !== 'EAGAIN') throw e
    }
  }
}

for (const name of names) {
  const seen = { case: name }
  try {
    const r = await kit.client.callTool({ name, arguments: {} })
    Object.assign(seen, { structured: r.structuredContent, isError: r.isError ?? false, meta: r._meta })
  } catch (e) {
    seen.thrown = e.message || String(e)
  }
  write(JSON.stringify(seen))
}
await kit.client.close()
