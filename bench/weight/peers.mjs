// Prints the tool list that a server from npm makes of an OpenAPI document:
//
//   node peers.mjs FOLDER PACKAGE DOCUMENT
//
// FOLDER has the packages in its node_modules.
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, name, document] = process.argv.slice(2)
const require = createRequire(join(resolve(folder), 'package.json'))
const load = async id => import(pathToFileURL(require.resolve(id)))

async function generator() {
  const root = join(resolve(folder), 'node_modules/openapi-mcp-generator/dist/index.js')
  const { getToolsFromOpenApi } = await import(pathToFileURL(root))
  // What its generated servers list of a tool.
  return (await getToolsFromOpenApi(document, { baseUrl: 'http://127.0.0.1:9' })).map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
}

async function ivotoby() {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js')
  const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js')
  const client = new Client({ name: 'weight', version: '1' })
  const bin = join(resolve(folder), 'node_modules/@ivotoby/openapi-mcp-server/bin/mcp-server.js')
  const args = [bin, '--transport', 'stdio', '--api-base-url', 'http://127.0.0.1:9', '--openapi-spec', resolve(document), '--tools', 'all']
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }), { timeout: 240_000 })
  const tools = []
  for (let cursor; ;) {
    const page = await client.listTools({ cursor }, { timeout: 240_000 })
    tools.push(...page.tools)
    if (!(cursor = page.nextCursor)) break
  }
  await client.close()
  return tools
}

const made = { 'openapi-mcp-generator': generator, '@ivotoby/openapi-mcp-server': ivotoby }
const log = console.log
console.log = console.error // packages that print must not print into the list
const tools = await made[name]()
log(JSON.stringify(tools))
