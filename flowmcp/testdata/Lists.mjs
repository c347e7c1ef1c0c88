// Enums from shared lists, and the options that real files add.
export const main = {
    namespace: 'shop', name: 'Lists', description: 'Enums', version: '4.0.0', root: 'https://shop.example', docs: [ 'https://shop.example' ],
    sharedLists: [ { ref: 'bookGenres', version: '1.2.0', filter: { key: 'label', exists: true } } ],
    tools: {
        listed: {
            method: 'GET', path: '/books', description: 'Enums',
            parameters: [
                { position: { key: 'genre', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum(ANY,{{bookGenres:alias}})', options: [] } },
                { position: { key: 'label', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum({{bookGenres:label}})', options: [ 'optional()' ] } },
                { position: { key: 'size', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum()', options: [ 'values(1,2,x)', 'optional()' ] } },
                { position: { key: 'code', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'regex(/^B\\d{3}$/)', 'optional()' ], description: 'A code' } },
                { position: { key: 'double', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'regex(^\\\\d+$)', 'optional()', 'default(7)' ] } }
            ]
        }
    }
}
