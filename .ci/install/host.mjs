// Starts an unpacked bundle as a host does: with the command line that the official
// library makes of the manifest and the answers of a user.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [packages, dir] = process.argv.slice(2)
const { getMcpConfigForManifest } = await import(`${packages}/node_modules/@anthropic-ai/mcpb/dist/index.js`)
const manifest = JSON.parse(readFileSync(`${dir}/manifest.json`, 'utf8'))
const configFor = (userConfig) => getMcpConfigForManifest({ manifest, extensionPath: dir, systemDirs: {}, userConfig, pathSeparator: '/' })

assert.equal(await configFor({}), undefined, 'a bundle starts without the answer that it needs')
const config = await configFor({ key: 's3cret' })
const child = spawn(config.command, config.args, { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...config.env }, stdio: ['pipe', 'pipe', 'ignore'] })
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
const call = async (id, method, params) => {
  child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
  return JSON.parse((await lines.next()).value).result
}
const { serverInfo } = await call(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } })
assert.equal(serverInfo.version, manifest.version)
const { tools } = await call(2, 'tools/list', {})
assert.deepEqual(tools.map((t) => t.name), manifest.tools.map((t) => t.name))
child.stdin.end()
console.log(`the bundle of ${serverInfo.name} ${serverInfo.version} lists ${tools.length} tools`)
