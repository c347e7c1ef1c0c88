// A database that is read, and a text; both lie beside the file.
export const main = {
  namespace: 'shop', name: 'Resources', description: 'What the shop knows by itself', version: '4.0.0',
  docs: [ 'https://shop.example' ], tools: {},
  resources: {
    stock: {
      source: 'sqlite', mode: 'in-memory', origin: 'inline', name: 'stock.db', description: 'The books on the shelves',
      queries: {
        byGenre: {
          sql: 'SELECT title, price, bought FROM books WHERE genre = ? AND price >= ? ORDER BY title LIMIT ?',
          description: 'Lists the books of a genre',
          parameters: [
            { position: { key: 'genre', value: '{{USER_PARAM}}' }, z: { primitive: 'enum(novel,poem)', options: [] } },
            { position: { key: 'from', value: '{{USER_PARAM}}' }, z: { primitive: 'number()', options: [ 'optional()', 'default(0)' ] } },
            { position: { key: 'limit', value: '{{USER_PARAM}}' }, z: { primitive: 'number()', options: [ 'optional()', 'default(2)', 'max(50)' ] } }
          ],
          output: { mimeType: 'application/json', schema: { type: 'array', items: { type: 'object', properties: { title: { type: 'string' }, price: { type: 'number' }, bought: { type: 'string', nullable: true } } } } },
          tests: [ { _description: 'novels', genre: 'novel' } ]
        },
        counted: {
          sql: 'SELECT genre, count(*) AS n FROM books GROUP BY genre ORDER BY genre',
          description: 'Counts the books of each genre', parameters: [],
          output: { mimeType: 'application/json', schema: { type: 'array', items: { type: 'object' } } },
          tests: [ { _description: 'all' } ]
        }
      }
    },
    about: { source: 'markdown', origin: 'inline', name: 'about.md', description: 'How the shop works.' }
  }
}

export const handlers = () => ( {
  stock: {
    counted: {
      postRequest: async ( { response, struct, payload } ) => ( { response: Object.fromEntries( response.map( ( r ) => [ r.genre, r.n ] ) ) } )
    }
  }
} )
