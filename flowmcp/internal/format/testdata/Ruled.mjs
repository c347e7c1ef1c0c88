export const main = {
  namespace: 'shop',
  name: 'Test',
  description: 'A shop',
  version: '4.1.0',
  schemaVersion: '1.0.0',
  root: 'https://shop.example',
  docs: [ 'https://shop.example/docs' ],
  termsOfService: 'https://shop.example/terms',
  tags: [ 'books' ],
  requiredServerParams: [ 'KEY' ],
  requiredLibraries: [ 'ethers' ],
  headers: { 'Accept': 'application/json' },
  sharedLists: [],
  tools: {
    find: {
      method: 'GET',
      path: '/books/{{id}}',
      description: 'Finds a book',
      parameters: [
        { position: { key: 'id', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [ 'min(1)' ] } },
        { position: { key: 'key', value: '{{SERVER_PARAM:KEY}}', location: 'query' }, z: { primitive: 'string()', options: [] } }
      ],
      output: { mimeType: 'application/json', schema: { type: 'object', properties: { a: { type: 'string' } } } },
      preload: { enabled: true, ttl: 60, description: 'one answer for each id' },
      tests: [ { _description: 'one', id: '1' }, { _description: 'two', id: '2' }, { _description: 'three', id: '3' } ],
      meta: { isReadOnly: true, isConcurrencySafe: true, isDestructive: false, searchHint: 'books', aliases: [], alwaysLoad: false }
    }
  }
}
