// Every keyword of an output schema, and an MCP block.
export const main = {
    namespace: 'shop', name: 'Output', description: 'Answers', version: '4.0.0', root: 'https://shop.example', docs: [ 'https://shop.example' ],
    tags: [ 'reading' ], termsOfService: 'https://shop.example/terms', termsOfServiceLanguage: 'en', dataLicense: null, dataLicenseName: 'CC-BY-4.0',
    tools: {
        book: {
            method: 'GET', path: '/book', description: 'A book', parameters: [],
            output: { mimeType: 'application/json', schema: { type: 'object', description: 'A book', properties: {
                title: { type: 'string' },
                price: { type: 'number', nullable: true, description: 'In euro' },
                state: { type: 'string', enum: [ 'new', 'used' ], nullable: true },
                url: { type: 'string', format: 'uri', description: 'Its page' },
                tags: { type: 'array', items: { type: 'string' } }
            } } },
            meta: { isReadOnly: true, isConcurrencySafe: true, isDestructive: false, searchHint: 'books', aliases: [ 'novel' ], alwaysLoad: true }
        },
        text: { method: 'GET', path: '/text', description: 'A text', parameters: [], output: { mimeType: 'text/plain', schema: { type: 'string' } } },
        cover: { method: 'GET', path: '/cover', description: 'A picture', parameters: [], output: { mimeType: 'image/png', schema: { type: 'string', format: 'base64', description: 'Its cover as a picture' } } },
        open: { method: 'GET', path: '/open', description: 'Anything', parameters: [] },
        gone: { method: 'GET', path: '/gone', description: 'An error', parameters: [] }
    }
}
