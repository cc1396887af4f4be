#!/usr/bin/env node
'use strict'
const { loadCommand } = require('../dist/bundle/loader.cjs')

// Nothing may keep the process alive once the chain has stopped: not a half-read pipe, not an open socket.
loadCommand(process.argv[2])
  .main(process.argv.slice(2))
  .then((code) => process.exit(code))
