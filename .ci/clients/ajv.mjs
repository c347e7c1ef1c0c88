// `node ajv.mjs LIST.json` compiles every schema of a tools/list result with
// Ajv, as clients do with the list before they use any tool: draft-07 (the
// default of the TypeScript SDK) and 2020-12. One schema that does not compile
// costs such a client all tools.

import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { checkList, report } from './cases.mjs'

const maxFaults = 20

const { tools } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
report('list', `${tools.length} tools`, checkList(tools).slice(0, maxFaults))

const schemas = tools.flatMap(t => [
  { name: `${t.name}, input`, schema: t.inputSchema },
  ...(t.outputSchema ? [{ name: `${t.name}, output`, schema: t.outputSchema }] : []),
])
for (const [name, Engine] of [['Ajv draft-07', Ajv], ['Ajv 2020-12', Ajv2020]]) {
  const began = Date.now()
  const faults = []
  // An engine compiles its meta-schema first, which costs more than most schemas
  // do: so it serves many, without keeping any that could help the next.
  let engine
  for (const [i, s] of schemas.entries()) {
    if (i % 100 === 0) engine = new Engine({ strict: false, logger: false, addUsedSchema: false })
    try {
      engine.compile(s.schema)
    } catch (e) {
      faults.push(`${s.name}: ${e.message}`)
    }
    engine.removeSchema(s.schema)
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1)
  report(name, `${schemas.length} schemas in ${seconds} s, ${faults.length} do not compile`, faults.slice(0, maxFaults))
}
