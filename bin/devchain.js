#!/usr/bin/env node
'use strict'
const path = require('node:path')
// Node.js 18 and older
if (!Array.prototype.toSpliced) {
  const { node } = process.versions
  console.error(`devchain: Node.js ${node} is too old: devchain needs 20.19 or newer`)
  process.exit(1)
}
if (typeof WebAssembly === 'undefined') {
  console.error('devchain: Node.js runs without WebAssembly: omit --jitless')
  process.exit(1)
}
const bundle = path.join(__dirname, '../dist/bundle')
let load = (part) => require(path.join(bundle, part))
// An accelerator: without this line the program starts whole, and slower.
load = require('../dist/loader/loader.cjs').openLoader(bundle, require)

const [first = '-'] = process.argv.slice(2)
const { main } = load(first.startsWith('-') ? 'command.cjs' : 'shell.cjs')
// Nothing may keep the process alive once the chain has stopped: not a half-read pipe, not an open socket.
main(process.argv.slice(2)).then((code) => process.exit(code))
