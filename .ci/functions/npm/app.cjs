// A program for Azure Functions as its documentation would have it, with tools
// of several kinds: an object, a list, a picture, an error, a slow one, one
// that ends the process.
'use strict'
const { app, arg, McpToolResponse } = require('@azure/functions')

app.mcpTool('forecast', {
  toolName: 'forecast',
  description: 'The weather of the next days',
  toolProperties: { city: arg.string().describe('Where'), days: arg.integer().describe('How many').optional() },
  resultSchema: '{"type":"object","properties":{"city":{"type":"string"},"celsius":{"type":"array","items":{"type":"number"}}},"required":["city","celsius"]}',
  handler: async (context) => {
    const { city, days } = context.arguments ?? context.mcptoolargs ?? {}
    return new McpToolResponse({ content: [], structuredContent: { city, celsius: Array.from({ length: days ?? 3 }, (_, i) => 16.5 + i) } })
  },
})

app.generic('summary', {
  trigger: {
    type: 'mcpToolTrigger', name: 'context', toolName: 'summary', description: 'An object, as text', toolProperties: '[]', useResultSchema: true,
    outputSchema: '{"type":"object","properties":{"open":{"type":"boolean"},"count":{"type":"integer"}},"required":["open","count"]}',
  },
  handler: async () => ({ open: true, count: 12 }),
})

app.generic('lie', {
  trigger: {
    type: 'mcpToolTrigger', name: 'context', toolName: 'lie', description: 'Breaks its promise', toolProperties: '[]', useResultSchema: true,
    outputSchema: '{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}',
  },
  handler: async () => ({ count: 'a dozen' }),
})

app.mcpTool('cities', { toolName: 'cities', description: 'A list', toolProperties: [], handler: async () => ['London', 'Cairo'] })

app.mcpTool('pixel', {
  toolName: 'pixel', description: 'A picture', toolProperties: [],
  handler: async () => new McpToolResponse({ content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] }),
})

app.mcpTool('broken', { toolName: 'broken', description: 'Fails', toolProperties: [], handler: async () => { throw new Error('the station is closed') } })

app.mcpTool('slow', { toolName: 'slow', description: 'Never ends', toolProperties: [], handler: () => new Promise(() => {}) })

app.mcpTool('crash', { toolName: 'crash', description: 'Ends the process', toolProperties: [], handler: async () => process.exit(7) })
