// A tool whose handler needs no network: it shows that workers start in a container.
export const main = {
  namespace: 'sums', name: 'Sums', description: 'Adds numbers', version: '4.0.0',
  root: 'https://sums.example', docs: ['https://sums.example'],
  tools: {
    add: {
      method: 'GET', path: '/add', description: 'Adds two numbers',
      parameters: [
        { position: { key: 'a', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [] } },
        { position: { key: 'b', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [] } }
      ]
    }
  }
}

export const handlers = () => ({
  add: {
    executeRequest: async ({ struct, payload }) => {
      struct.data = { sum: payload.userParams.a + payload.userParams.b }
      return { struct }
    }
  }
})
