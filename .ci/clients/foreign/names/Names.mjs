export const main = {
  namespace: 'names', name: 'Names', description: 'Arguments whose names clients refuse', version: '4.0.0', root: 'https://names.example',
  tools: {
    getNames: {
      method: 'GET', path: '/names', description: 'One parameter',
      parameters: [{ position: { key: '_id', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [] } }]
    }
  }
}
