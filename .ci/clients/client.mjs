// The TypeScript client, second generation, in both eras of the protocol:
// `node client.mjs demo ERA URL` or `node client.mjs stdio ERA COMMAND ARGUMENT...`,
// where ERA is legacy or a revision to insist on.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { judge } from './cases.mjs'

const [where, era, first, ...rest] = process.argv.slice(2)
const transport = where === 'stdio'
  ? new StdioClientTransport({ command: first, args: rest, stderr: 'ignore' })
  : new StreamableHTTPClientTransport(new URL(first))
const options = era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: era } } }
const client = new Client({ name: 'tenon-ci', version: '1' }, options)
await client.connect(transport)

await judge({
  name: `TypeScript client 2, ${era}, over ${where === 'stdio' ? 'stdio' : 'HTTP'}`,
  list: async () => (await client.listTools()).tools,
  call: (name, args) => client.callTool({ name, arguments: args }),
  abandon: (name, args) => client.callTool({ name, arguments: args }, { timeout: 500 }),
}, where)
await client.close()
