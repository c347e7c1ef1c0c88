// `node fits.mjs CASES` reads a line of JSON for each case, {schema, values}, and
// fails where a value does not fit its schema in Ajv's opinion, as in a client
// that checks structuredContent against outputSchema.

import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { report } from './cases.mjs'

const maxFaults = 20

const cases = readFileSync(process.argv[2], 'utf8').split('\n').filter(line => line !== '').map(line => JSON.parse(line))
for (const [name, Engine] of [['Ajv draft-07', Ajv], ['Ajv 2020-12', Ajv2020]]) {
  const faults = []
  let engine
  let values = 0
  for (const [i, c] of cases.entries()) {
    if (i % 100 === 0) engine = new Engine({ strict: false, logger: false, addUsedSchema: false })
    const fits = engine.compile(c.schema)
    for (const v of c.values) {
      values++
      if (!fits(v)) faults.push(`${JSON.stringify(v)} does not fit ${JSON.stringify(c.schema)}: ${engine.errorsText(fits.errors)}`)
    }
    engine.removeSchema(c.schema)
  }
  report(name, `${values} values, ${cases.length} schemas`, faults.slice(0, maxFaults))
}
