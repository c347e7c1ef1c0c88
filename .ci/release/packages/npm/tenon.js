#!/usr/bin/env node
// Starts the binary of the package that npm installed for this system.
'use strict'
const { spawn } = require('node:child_process')
const os = require('node:os')

const folder = `@tenon-mcp/${process.platform}-${process.arch}`
const file = process.platform === 'win32' ? 'tenon.exe' : 'tenon'

let binary
try {
  binary = require.resolve(`${folder}/bin/${file}`)
} catch {
  console.error(`tenon: the package ${folder} is not installed.
It comes as an optional dependency of tenon-mcp: install again without --omit=optional,
or, if there is no such package for this system, build with Go:
  go install github.com/tenon-mcp/tenon/cmd/tenon@latest`)
  process.exit(1)
}

const child = spawn(binary, process.argv.slice(2), { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // The child decides what becomes of its calls; a terminal sends it SIGINT itself.
  process.on(signal, () => { if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal) })
}
child.on('error', err => {
  console.error(`tenon: ${binary}: ${err.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code))
