// Every place and form of a parameter.
export const main = {
    namespace: 'shop-two',
    name: 'Requests',
    description: 'Requests in all their forms',
    version: '4.1.0',
    root: 'https://{{SERVER_PARAM:SHOP_HOST}}.shop.example/v1',
    docs: [ 'https://shop.example/docs' ],
    requiredServerParams: [ 'SHOP_HOST', 'SHOP_KEY' ],
    headers: { 'Accept': 'application/json', 'Authorization': 'Bearer {{SHOP_KEY}}' },
    tools: {
        inserts: {
            method: 'GET', path: '/{{first}}/:second/{third}.json?mode=:mode', description: 'Inserts',
            headers: { accept: 'text/plain' },
            parameters: [
                { position: { key: 'first', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [] } },
                { position: { key: 'second', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'number()', options: [] } },
                { position: { key: 'third', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [ 'default(x)' ] } },
                { position: { key: 'mode', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [ 'optional()' ] } }
            ]
        },
        lastInsert: {
            method: 'GET', path: '/books/:id', description: 'An insert at the end',
            parameters: [
                { position: { key: 'id', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [ 'optional()' ] } }
            ]
        },
        queries: {
            method: 'GET', path: '/search?fixed=1', description: 'Queries',
            parameters: [
                { position: { key: 'kind', value: 'book', location: 'query' }, z: { primitive: 'string()', options: [] } },
                { position: { key: 'q', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'min(2)', 'max(20)' ] }, description: 'What to look for' },
                { position: { key: 'tag', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'array()', options: [ 'optional()', 'max(3)' ] } },
                { position: { key: 'where', value: 'city:{{USER_PARAM}}', location: 'query' }, z: { primitive: 'string()', options: [ 'optional()' ] } },
                { position: { key: 'limit', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [ 'default(10)', 'min(1)', 'max(50)' ] } },
                { position: { key: 'page', value: '{{USER_PARAM}}', location: 'query' }, z: { primitive: 'number()', options: [ 'optional()', 'default(1)' ] } },
                { position: { key: 'key', value: '{{SERVER_PARAM:SHOP_KEY}}', location: 'query' }, z: { primitive: 'string()', options: [] } },
                { position: { key: 'kind', value: 'poem', location: 'query' }, z: { primitive: 'string()', options: [] } }
            ]
        },
        body: {
            method: 'POST', path: '/orders', description: 'A body',
            parameters: [
                { position: { key: 'items', value: '{{USER_PARAM}}', location: 'body' }, z: { primitive: 'array()', options: [ 'length(2)' ] } },
                { position: { key: 'big', value: '{{USER_PARAM}}', location: 'body' }, z: { primitive: 'number()', options: [] } },
                { position: { key: 'gift', value: '{{USER_PARAM}}', location: 'body' }, z: { primitive: 'boolean()', options: [ 'default(false)' ] } },
                { position: { key: 'note', value: 'for {{USER_PARAM}}', location: 'body' }, z: { primitive: 'string()', options: [ 'optional()' ] } },
                { position: { key: 'more', value: '{{USER_PARAM}}', location: 'body' }, z: { primitive: 'object()', options: [ 'optional()' ] } },
                { position: { key: 'source', value: 'tenon', location: 'body' }, z: { primitive: 'string()', options: [] } }
            ]
        },
        empty: { method: 'POST', path: '/ping', description: 'A body without members', parameters: [] },
        remove: { method: 'DELETE', path: '/books/{{id}}', description: 'No body',
            parameters: [
                { position: { key: 'id', value: '{{USER_PARAM}}', location: 'insert' }, z: { primitive: 'string()', options: [] } }
            ]
        }
    }
}
