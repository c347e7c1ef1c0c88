// Reads a schema a line and answers each with a line: empty where Ajv compiles
// it as draft-07 and as 2020-12, else what is wrong.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const require = createRequire(`${process.cwd()}/`)
const kinds = [['Ajv draft-07', require('ajv').default], ['Ajv 2020-12', require('ajv/dist/2020.js').default]]

// An engine compiles its meta-schema first, which costs more than most schemas
// do: so it serves many, without keeping any. The functions that it makes are
// never called: to make them shorter would cost as much again.
const options = { strict: false, logger: false, addUsedSchema: false, code: { optimize: false } }
const servings = 200
let engines = []
let served = servings

for await (const line of createInterface({ input: process.stdin })) {
  if (served++ === servings) {
    engines = kinds.map(([name, Engine]) => [name, new Engine(options)])
    served = 1
  }
  let bad = ''
  for (const [name, engine] of engines) {
    const schema = JSON.parse(line)
    try {
      engine.compile(schema)
    } catch (e) {
      bad ||= `${name}: ${e.message}`.replaceAll('\n', ' ')
    }
    engine.removeSchema(schema)
  }
  process.stdout.write(`${bad}\n`)
}
