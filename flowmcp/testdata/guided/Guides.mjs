// A tool that guides name, and a prompt whose content stands in a file.
export const main = {
  namespace: 'guided', name: 'Guides', description: 'A shop with guides', version: '4.0.0', root: 'https://shop.example', docs: [ 'https://shop.example' ],
  sharedLists: [ { ref: 'bookGenres', version: '1.2.0' } ],
  tools: {
    findBooks: {
      method: 'GET', path: '/books', description: 'Finds books of a genre',
      parameters: [
        { position: { key: 'genre', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'enum({{bookGenres:alias}})', options: [] }, description: 'short name of a genre' },
        { position: { key: 'limit', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [ 'optional()' ] } } ],
      tests: [ { _description: 'novels', genre: 'SEA', limit: 2 } ]
    },
    buyBook: { method: 'POST', path: '/orders', description: 'Buys a book', parameters: [] }
  },
  prompts: {
    about: { name: 'about', version: 'flowmcp-prompt/1.0.0', namespace: 'guided', description: 'What the shop has', dependsOn: [ 'findBooks' ], references: [], contentFile: './prompts/about.mjs' }
  }
}
