#!/usr/bin/env node
import { main } from '../dist/cli/main.js'

// Nothing may keep the process alive once the chain has stopped: not a half-read pipe, not an open socket.
process.exit(await main(process.argv.slice(2)))
