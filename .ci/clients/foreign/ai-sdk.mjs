// The AI SDK: `node ai-sdk.mjs values URL ENVELOPE` calls the tools of values/openapi.json
// and compares what execute hands its user with what values/upstream.py has; `node
// ai-sdk.mjs list URL COUNT` lists a large catalog.

import assert from 'node:assert/strict'
import { createMCPClient } from '@ai-sdk/mcp'

const wanted = {
  get_object: { id: 12, name: 'ü "quoted"', none: null, ratio: 0.25, inner: { yes: true } },
  get_list: ['a', null, 'b'], get_number: 2.5, get_text: '42', get_null: null,
}
const [what, url, more] = process.argv.slice(2)

const client = await createMCPClient({ transport: { type: 'http', url } })
try {
  const tools = await client.tools()
  if (what === 'list') {
    assert.equal(Object.keys(tools).length, Number(more))
    console.log(`ok   AI SDK: ${more} tools listed`)
  } else {
    const call = name => tools[name].execute({}, { toolCallId: '1', messages: [] })
    const payload = s => more !== 'native' ? s.data : Object.keys(s).join() === 'result' ? s.result : s
    for (const [name, want] of Object.entries(wanted)) assert.deepEqual(payload((await call(name)).structuredContent), want, name)
    const picture = await call('get_picture')
    assert.equal(Buffer.from(picture.content.find(c => c.type === 'image').data, 'base64').length, 72)
    const error = await call('get_error')
    assert.ok(error.isError && /there is none/.test(error.content[0].text), JSON.stringify(error))
    console.log(`ok   AI SDK: ${Object.keys(wanted).length} values, a picture and an error in the envelope ${more}`)
  }
} finally {
  await client.close()
}
