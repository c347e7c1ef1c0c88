// The example of the format's page in other words: two tools that share a path,
// fixed, user and server parameters, and a handler on one of them.
export const main = {
    namespace: 'ledger',
    name: 'ContractReader',
    description: 'Reads verified contracts of a public ledger',
    version: '4.0.0',
    root: 'https://api.ledger.example',
    docs: [ 'https://docs.ledger.example/contracts' ],
    tags: [ 'contracts', 'ledger' ],
    requiredServerParams: [ 'LEDGER_KEY' ],
    requiredLibraries: [],
    headers: { 'Accept': 'application/json' },
    sharedLists: [ { ref: 'bookGenres', version: '1.2.0' } ],
    tools: {
        getInterface: {
            method: 'GET', path: '/api', description: 'Returns the interface of a contract',
            parameters: [
                { position: { key: 'module', value: 'contract', location: 'query' }, z: { primitive: 'string()', options: [] } },
                { position: { key: 'action', value: 'interface', location: 'query' }, z: { primitive: 'string()', options: [] } },
                { position: { key: 'address', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'min(42)', 'max(42)' ] } },
                { position: { key: 'key', value: '{{SERVER_PARAM:LEDGER_KEY}}', location: 'query' }, z: { primitive: 'string()', options: [] } }
            ],
            output: { mimeType: 'application/json', schema: { type: 'object', properties: { status: { type: 'string' }, result: { type: 'string' } } } }
        },
        getSource: {
            method: 'GET', path: '/api', description: 'Returns the source of a contract',
            parameters: [
                { position: { key: 'action', value: 'source', location: 'query' }, z: { primitive: 'string()', options: [] } },
                { position: { key: 'address', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'length(42)' ] } }
            ]
        }
    }
}

export const handlers = ( { sharedLists } ) => ( {
    getSource: {
        postRequest: async ( { response, struct, payload } ) => {
            const { result } = response
            const [ first ] = result
            const { Source, Name } = first
            return { response: { name: Name, source: Source, genres: sharedLists.bookGenres.length } }
        }
    }
} )
