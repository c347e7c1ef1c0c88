// The official TypeScript client as judge: it lists an app's tools, calls every
// one, and validates what comes against what was listed.
//
//   node client.mjs TENON APPDIR
//
// Prints "N tools, M with a schema, 0 refused". It throws where a list or an
// answer is not what the protocol wants.
import { Client } from '../clients/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js'
import { StdioClientTransport } from '../clients/node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js'

const [tenon, app] = process.argv.slice(2)
const client = new Client({ name: 'judge', version: '1' })
await client.connect(new StdioClientTransport({ command: tenon, args: ['serve', '--timeout', '2s', app], stderr: 'ignore' }))
const { tools } = await client.listTools()
let refused = 0
for (const tool of tools) {
  const args = tool.inputSchema.properties?.city ? { city: 'Rome' } : {}
  try {
    const result = await client.callTool({ name: tool.name, arguments: args })
    if (tool.outputSchema && !result.isError && !result.structuredContent) throw new Error('no structured content')
  } catch (err) {
    console.log(`${tool.name}: ${err.message}`)
    refused++
  }
}
await client.close()
console.log(`${tools.length} tools, ${tools.filter((t) => t.outputSchema).length} with a schema, ${refused} refused`)
