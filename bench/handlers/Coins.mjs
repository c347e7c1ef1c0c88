export const main = {
  namespace: 'bench', name: 'Coins', description: 'Lists coins', version: '4.0.0', root: 'https://coins.example',
  tools: {
    listCoins: {
      method: 'GET', path: '/coins', description: 'Lists coins',
      parameters: [ { position: { key: 'size', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [] } } ],
      output: { mimeType: 'application/json', schema: { type: 'object', properties: { count: { type: 'number' }, coins: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' }, price: { type: 'number' } } } } } } }
    }
  }
}

export const handlers = () => ( {
  listCoins: {
    postRequest: async ( { response } ) => {
      const coins = response.filter( ( c ) => c.current_price > 0.5 ).map( ( c, i ) => ( { id: `${ c.id }-${ i }`, price: c.current_price, cap: c.market_cap, rank: c.market_cap_rank } ) )
      return { response: { count: coins.length, coins } }
    }
  }
} )
