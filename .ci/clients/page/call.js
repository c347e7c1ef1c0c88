// The JavaScript client of the page that describes the output structure, step
// by step as it stands there, in our own words: the same request, the same
// order of questions, the same outcome for each type. It presumes what the page
// presumes: fetch, confirm and a server at localhost:8080.

async function callTool(name, args) {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  const headers = { 'Content-Type': 'application/json' }
  const reply = await fetch('http://localhost:8080/jsonrpc', { method: 'POST', headers, body: JSON.stringify(call) })
  const { error, result } = await reply.json()
  if (error) throw new Error('RPC error: ' + error.message)
  if (result.type === 'api_response') return result.data
  if (result.type === 'error') throw new Error('API error: ' + result.error.message)
  if (result.type === 'confirmation_request') {
    if (!confirm(result.message)) throw new Error('Operation cancelled')
    return callTool(name, Object.assign({}, args, { __confirmed: true }))
  }
  console.warn('Unknown response type: ' + result.type)
  return result
}
