export const list = {
    meta: {
        name: 'bookGenres',
        version: '1.2.0',
        description: 'Genres of a shop of books',
        fields: [
            { key: 'alias', type: 'string', description: 'What a caller writes' },
            { key: 'shelf', type: 'number', description: 'Where the books stand' },
            { key: 'label', type: 'string', description: 'What a reader sees', optional: true }
        ],
        dependsOn: [ { ref: 'shopFloors', version: '1.0.0' } ]
    },
    entries: [
        { alias: 'SEA', shelf: 1, label: 'At sea, and on land' },
        { alias: 'CRIME', shelf: 2, label: null },
        { alias: 'POEMS', shelf: 3 }
    ]
}
