// One tool for each way in which handlers are written.
export const main = {
  namespace: 'shop', name: 'Handlers', description: 'A shop with handlers', version: '4.0.0',
  root: 'https://shop.example', docs: [ 'https://shop.example' ],
  requiredServerParams: [ 'SHOP_KEY' ],
  headers: { 'X-Shop-Key': '{{SERVER_PARAM:SHOP_KEY}}' },
  sharedLists: [ { ref: 'bookGenres', version: '1.2.0' } ],
  tools: {
    prepared: {
      method: 'GET', path: '/echo/:genre', description: 'Turns a genre into its code',
      parameters: [ { position: { key: 'genre', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [] } },
        { position: { key: 'limit', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [ 'default(10)' ] } } ]
    },
    payload: {
      method: 'POST', path: '/echo', description: 'Changes only the payload',
      parameters: [ { position: { key: 'name', value: '{{USER_PARAM}}', location: 'body' }, z: { primitive: 'string()', options: [] } } ]
    },
    execute: { method: 'GET', path: '/echo', description: 'Fetches by itself, as the page has it', parameters: [] },
    real: {
      method: 'GET', path: '/echo', description: 'Fetches by itself, as real files do',
      meta: { isReadOnly: true, isConcurrencySafe: true, isDestructive: false, searchHint: 'echo', aliases: [], alwaysLoad: false },
      parameters: [ { position: { key: 'name', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } } ]
    },
    polished: { method: 'GET', path: '/echo', description: 'Changes the answer', parameters: [] },
    failing: { method: 'GET', path: '/echo', description: 'Gives up', parameters: [] }
  }
}

export const handlers = ( { sharedLists, libraries } ) => {
  const codes = Object.fromEntries( sharedLists.bookGenres.map( ( g ) => [ g.alias, 'shelf' + g.shelf ] ) )
  return {
    prepared: {
      preRequest: async ( { struct, payload } ) => {
        struct.url = struct.url.replace( payload.genre, codes[ payload.genre ] ) + '&key=' + encodeURIComponent( struct.headers[ 'X-Shop-Key' ] )
        struct.headers[ 'X-Limit' ] = payload.limit
        return { struct }
      }
    },
    payload: { preRequest: async ( { struct, payload } ) => ( { struct, payload: { ...payload, name: payload.name.toUpperCase() } } ) },
    execute: {
      executeRequest: async ( { struct } ) => {
        const all = await Promise.all( [ '?n=1', '?n=2' ].map( ( q ) => fetch( struct.url + q, { headers: struct.headers } ).then( ( r ) => r.json() ) ) )
        return { response: all.map( ( a ) => a.query ) }
      }
    },
    real: {
      executeRequest: async ( { struct, payload } ) => {
        const { userParams, serverParams } = payload
        const url = new URL( payload.url )
        url.searchParams.set( 'key', serverParams.SHOP_KEY )
        const response = await fetch( url.toString(), { method: 'POST', body: new URLSearchParams( { q: userParams.name ?? 'none' } ) } )
        struct.data = { ok: response.ok, type: response.headers.get( 'content-type' ), sent: await response.json() }
        return { struct }
      },
      postRequest: async ( { response, struct } ) => {
        if( struct.status && struct.data ) { response = { ...response, polished: true } }
        return { response }
      }
    },
    polished: { postRequest: async ( { response, struct, payload } ) => ( { response: { path: response.path, method: struct.method, payload } } ) },
    failing: {
      executeRequest: async ( { struct } ) => {
        struct.status = false
        struct.messages.push( 'nothing found' )
        return { struct }
      }
    }
  }
}
