// Reads a schema a line and answers each with a line: empty where Ajv compiles
// it as draft-07 and as 2020-12, else what is wrong.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const require = createRequire(`${process.cwd()}/`)
const engines = [['Ajv draft-07', require('ajv').default], ['Ajv 2020-12', require('ajv/dist/2020.js').default]]

for await (const line of createInterface({ input: process.stdin })) {
  let bad = ''
  for (const [name, Engine] of engines) {
    try {
      new Engine({ strict: false, logger: false }).compile(JSON.parse(line))
    } catch (e) {
      bad ||= `${name}: ${e.message}`.replaceAll('\n', ' ')
    }
  }
  process.stdout.write(`${bad}\n`)
}
