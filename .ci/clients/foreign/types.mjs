// `node types.mjs TOOLS PATH [ITEMS]` makes types of the output schemas of
// TOOLS, what `tenon tools --json` prints for the demo, with
// json-schema-to-typescript and with quicktype. PATH leads from the type of
// getBook's answer to the book, ITEMS (PATH by default) from that of
// searchBooks to the list. A program that finds the book's title there has to
// compile, and one that takes it for a number must not (but in the shape native
// under warn, whose file has "warn" in its name: there each member is advice).

import { compile } from 'json-schema-to-typescript'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { FetchingJSONSchemaStore, InputData, JSONSchemaInput, quicktype } from 'quicktype-core'

const [file, path, items = path] = process.argv.slice(2)
const advice = file.includes('warn') && path === '' // each member of a bare object may be anything
const tools = Object.fromEntries(JSON.parse(readFileSync(file, 'utf8')).tools.map(t => [t.name, t]))
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
const work = mkdtempSync(join(tmpdir(), 'types-'))

const json2ts = schema => compile(structuredClone(schema), 'Answer', { bannerComment: '', unreachableDefinitions: false })

async function quick(schema) {
  const input = new JSONSchemaInput(new FetchingJSONSchemaStore())
  await input.addSource({ name: 'Answer', schema: JSON.stringify(schema) })
  const inputData = new InputData()
  inputData.addInput(input)
  return (await quicktype({ inputData, lang: 'typescript', rendererOptions: { 'just-types': 'true' } })).lines.join('\n')
}

// errorsOf compiles a program.
function errorsOf(text) {
  const at = join(work, 'program.ts')
  writeFileSync(at, text)
  try {
    execFileSync(process.execPath, [tsc, '--noEmit', '--strict', '--target', 'es2022', at], { stdio: 'pipe' })
    return ''
  } catch (e) {
    return String(e.stdout) || String(e)
  }
}

const at = steps => steps.split('.').filter(Boolean).map(s => `['${s}']`).join('')

// Beside a type that is advice any other value may stand, so each member of
// the union is asked for a title of its own, and one of them has to have it.
const program = (type, want) => `
type Titles<T> = T extends readonly unknown[] ? never : T extends { title?: infer X } ? (unknown extends X ? never : X) : never
const title: Titles<${type}> = ${want}
const some: [Titles<${type}>] extends [never] ? false : true = true
export { title, some }
`

let failed = 0
for (const [name, generate] of [['json-schema-to-typescript', json2ts], ['quicktype', quick]]) {
  for (const [tool, type] of [
    ['getBook', `NonNullable<Answer${at(path)}>`],
    ['searchBooks', `Extract<NonNullable<Answer${at(items)}>, readonly unknown[]>[number]`],
  ]) {
    const types = await generate(tools[tool].outputSchema)
    const errors = errorsOf(types + program(type, '"Emma"')) || (advice || errorsOf(types + program(type, '7')) ? '' : 'any value is taken for a title')
    console.log(`${errors ? 'FAIL' : 'ok  '} ${name}: ${tool}, the payload's type at ${(tool === 'getBook' ? path : items) || 'the root'}`)
    if (errors) {
      failed = 1
      console.log(errors.split('\n').slice(0, 5).join('\n'))
    }
  }
}
rmSync(work, { recursive: true })
process.exit(failed)
