// What @azure/functions expects of the Functions runtime, and no more: the
// module @azure/functions-core, which is no package but given by Azure's
// worker. It collects what a program registers, and knows nothing of it.
//
//   node core.cjs PROGRAM emit DIR   writes DIR as the folder of the app
//   node core.cjs PROGRAM            serves the custom handler protocol
'use strict'
const Module = require('module')
const fs = require('fs')
const http = require('http')
const path = require('path')

const registered = new Map()
let model
const core = {
  version: '0.0.0',
  hostVersion: '4.0.0',
  setProgrammingModel: (m) => { model = m },
  registerFunction: (metadata, callback) => {
    registered.set(metadata.name, { metadata, callback })
    return { dispose() {} }
  },
  registerHook: () => ({ dispose() {} }),
  log: (level, category, message) => { process.stderr.write(message + '\n') },
}
const load = Module._load
Module._load = (name, ...rest) => (name === '@azure/functions-core' ? core : load(name, ...rest))

const [program, command, dir] = process.argv.slice(2)
require(path.resolve(program))

if (command === 'emit') {
  const write = (name, value) => {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true })
    fs.writeFileSync(path.join(dir, name), JSON.stringify(value, null, 2))
  }
  for (const { metadata } of registered.values()) {
    write(metadata.name + '/function.json', { bindings: Object.entries(metadata.bindings).map(([name, b]) => ({ ...b, name })) })
  }
  write('host.json', {
    version: '2.0',
    customHandler: { description: { defaultExecutablePath: process.execPath, arguments: [__filename, path.resolve(program)] } },
  })
} else {
  serve(Number(process.env.FUNCTIONS_CUSTOMHANDLER_PORT))
}

// peel undoes the strings in which a host wraps a value.
function peel(value) {
  for (let i = 0; i < 3 && typeof value === 'string'; i++) {
    try { value = JSON.parse(value) } catch { break }
  }
  return value
}

async function invoke(found, id, body) {
  const { metadata, callback } = found
  const triggers = Object.entries(metadata.bindings).filter(([, b]) => /trigger$/i.test(b.type))
  const logs = []
  const invocation = model.getInvocationModel({
    invocationId: id,
    metadata,
    request: {
      invocationId: id,
      inputData: triggers.map(([name]) => ({ name, data: { json: JSON.stringify(peel(body.Data[name])) } })),
      triggerMetadata: {},
    },
    log: (level, category, message) => logs.push(String(message)),
  })
  const { context, inputs } = await invocation.getArguments()
  const result = await invocation.invokeFunction(context, inputs, callback)
  const response = await invocation.getResponse(context, result)
  const value = response.returnValue
  return { Outputs: {}, Logs: logs, ReturnValue: value ? (value.string ?? value.json ?? null) : null }
}

function serve(port) {
  http.createServer(async (req, res) => {
    const found = registered.get(req.url.slice(1))
    if (req.method !== 'POST' || !found) {
      res.writeHead(404).end()
      return
    }
    let text = ''
    for await (const chunk of req) text += chunk
    try {
      const answer = await invoke(found, req.headers['x-azure-functions-invocationid'], JSON.parse(text))
      res.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer))
    } catch (err) {
      res.writeHead(500, { 'Content-Type': 'text/plain' }).end(String(err.message))
    }
  }).listen(port, '127.0.0.1')
}
