// The TypeScript SDK, first generation: `node sdk.mjs demo URL` or
// `node sdk.mjs stdio COMMAND ARGUMENT...`. It checks every structured answer
// against the output schema that the tool published.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { judge } from './cases.mjs'

const [where, first, ...rest] = process.argv.slice(2)
const transport = where === 'stdio'
  ? new StdioClientTransport({ command: first, args: rest, stderr: 'ignore' })
  : new StreamableHTTPClientTransport(new URL(first))
const client = new Client({ name: 'tenon-ci', version: '1' })
await client.connect(transport)

async function list() {
  const tools = []
  let cursor
  do {
    const page = await client.listTools({ cursor })
    tools.push(...page.tools)
    cursor = page.nextCursor
  } while (cursor)
  return tools
}

await judge({
  name: `TypeScript SDK 1 over ${where === 'stdio' ? 'stdio' : 'HTTP'}`,
  list,
  call: (name, args) => client.callTool({ name, arguments: args }),
  abandon: (name, args) => client.callTool({ name, arguments: args }, undefined, { timeout: 500 }),
}, where)
await client.close()
