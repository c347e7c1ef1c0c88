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
// Its person agrees to everything, and is counted: consent is asked for before
// each call that changes something.
const client = new Client({ name: 'tenon-ci', version: '1' }, { ...options, capabilities: { elicitation: { form: {} } } })
let asked = 0
client.setRequestHandler('elicitation/create', async () => {
  asked++
  return { action: 'accept', content: { confirm: true } }
})
await client.connect(transport)

await judge({
  name: `TypeScript client 2, ${era}, over ${where === 'stdio' ? 'stdio' : 'HTTP'}`,
  list: async () => (await client.listTools()).tools,
  asks: true,
  call: (name, args) => client.callTool({ name, arguments: args }),
  abandon: (name, args) => client.callTool({ name, arguments: args }, { timeout: 500 }),
}, where)
if (asked === 0) {
  console.log('FAIL nobody was asked for consent')
  process.exitCode = 1
}
await client.close()
