#!/usr/bin/env node
'use strict'
const { setFlagsFromString } = require('node:v8')

// The V8 of Node 20 optimizes what ran for so many bytes of its code, here a seventh of the usual: the first thousands of
// calls are a third to a half faster (eth_call 19,800 to 29,000 a second over the first 4,000, sends by a fifth), and a
// start takes 2 ms more. Later ones have a compiler between, and no such flag. It comes before anything is loaded, as
// kept bytecode belongs to the flags that it was made with.
if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=20000')

const { loadCommand } = require('../dist/bundle/loader.cjs')

// Nothing may keep the process alive once the chain has stopped: not a half-read pipe, not an open socket.
loadCommand(process.argv[2])
  .main(process.argv.slice(2))
  .then((code) => process.exit(code))
