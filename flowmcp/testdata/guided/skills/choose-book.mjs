const content = `Choose a book for {{input:reader}} ({{ input:mood }}).

{{tool:guided/findBooks}}

For example {{tool:findBooks:call}}. In stock: {{prefill:guided/tool/findBooks}}
Orders: {{prefill:buyBook}}; {{tool:guided/nothing}}; {{other:thing}}; {{prompt:about}}`

export const skill = {
  name: 'choose-book', version: 'flowmcp/4.0.0', type: 'namespace', whenToUse: 'to choose a book', description: 'Chooses a book for a reader',
  requires: { tools: [ 'guided/tool/findBooks' ], resources: [], external: [] },
  input: [
    { key: 'reader', type: 'string', description: 'who reads', required: true },
    { key: 'mood', type: 'enum', values: [ 'gay', 'grave' ], description: 'for what mood', required: false },
    { key: 'many', type: 'number', description: 'how many', required: false }
  ],
  output: 'One title.', prefill: [ { tool: 'guided/tool/findBooks', params: { genre: 'SEA', limit: '{{input:many}}' } }, { tool: 'buyBook', params: {} } ],
  content
}
