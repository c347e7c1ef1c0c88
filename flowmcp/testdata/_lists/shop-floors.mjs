export const list = {
    meta: { name: 'shopFloors', version: '1.0.0', description: 'Floors', fields: [ { key: 'floor', type: 'number', description: 'Its number' } ] },
    entries: [ { floor: 1 } ]
}
