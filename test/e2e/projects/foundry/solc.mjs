#!/usr/bin/env node
// The compiler's command, by the compiler's npm package.
import { readFileSync } from 'node:fs'
import solc from 'solc'

if (process.argv.includes('--version')) process.stdout.write(`Version: ${solc.version()}\n`)
else process.stdout.write(solc.compile(readFileSync(0, 'utf8')))
