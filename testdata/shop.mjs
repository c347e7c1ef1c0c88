export const main = {
  namespace: 'shop', name: 'Food', description: 'Food for pets', version: '4.0.0', root: 'https://shop.example',
  tools: {
    listFood: { method: 'GET', path: '/food', description: 'Lists food', parameters: [] }
  }
}
