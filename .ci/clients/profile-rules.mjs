// `node profile-rules.mjs TENON DOCUMENT` lists a document's tools for three model APIs
// and checks each against what that API refuses, as its own documentation and the
// threads in internal/clients/clients.json have it. Nothing here comes from tenon.

import { execFileSync } from 'node:child_process'
import { report } from './cases.mjs'

const [tenon, document] = process.argv.slice(2)

// Keywords that hold schemas, and the names by which they hold them.
const single = ['items', 'additionalProperties', 'contains', 'not', 'if', 'then', 'else', 'propertyNames', 'unevaluatedProperties', 'unevaluatedItems']
const several = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const byName = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']

function* schemas(schema, at = '') {
  if (schema === null || typeof schema !== 'object') return
  yield [schema, at]
  for (const k of single) yield* schemas(schema[k], `${at}/${k}`)
  for (const k of several) for (const [i, s] of (schema[k] ?? []).entries()) yield* schemas(s, `${at}/${k}/${i}`)
  for (const k of byName) for (const [name, s] of Object.entries(schema[k] ?? {})) yield* schemas(s, `${at}/${k}/${name}`)
}

const apis = {
  gemini: {
    name: /^[A-Za-z_][\w.-]{0,63}$/,
    schema: s => '$ref' in s ? '$ref' : Array.isArray(s.type) ? 'a list of types' : s.enum?.some(v => typeof v !== 'string') ? 'an enum that is no text' : s.enum && s.type === 'array' ? 'an enum beside an array' : '',
  },
  'openai-strict': {
    name: /^[A-Za-z0-9_-]{1,64}$/,
    schema(s) {
      if ('oneOf' in s) return 'oneOf'
      if (![s.type].flat().includes('object') && !s.properties) return ''
      if (s.additionalProperties !== false) return 'additional properties'
      const names = Object.keys(s.properties ?? {})
      return names.every(n => s.required?.includes(n)) && (s.required ?? []).every(n => names.includes(n)) ? '' : 'required is not every property'
    },
  },
  'anthropic-managed': {
    name: /^[A-Za-z0-9_-]{1,64}$/,
    schema: (s, at) => '$ref' in s ? '$ref' : at === '' && ['allOf', 'anyOf', 'oneOf'].some(k => k in s) ? 'a combination at the root'
      : Object.keys(s.properties ?? {}).some(n => !/^[A-Za-z0-9_.-]{1,64}$/.test(n)) ? 'a name of a property' : '',
  },
}

for (const [api, rules] of Object.entries(apis)) {
  const { tools } = JSON.parse(execFileSync(tenon, ['tools', '--json', '--for', api, document], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }))
  const faults = []
  let [seen, told] = [0, 0]
  for (const t of tools) {
    if (!rules.name.test(t.name)) faults.push(`${t.name}: the name`)
    if (t.description?.startsWith('Returns: ')) told++
    for (const [s, at] of schemas(t.inputSchema)) {
      seen++
      const wrong = rules.schema(s, at)
      if (wrong) faults.push(`${t.name} at ${at || 'the root'}: ${wrong}`)
    }
  }
  if (told < tools.length * 0.98) faults.push(`only ${told} descriptions say what comes back`)
  if (tools.length < 1000) faults.push(`only ${tools.length} tools`)
  report(`published for ${api}`, `${tools.length} tools, ${seen} schemas`, faults.slice(0, 20))
}
