// Compiles fixtures/contracts with solc, once a test run; the e2e project provides the result to its tests.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** A compiled contract: what deploying and calling it takes. */
export interface Contract {
  readonly abi: readonly Record<string, unknown>[]
  readonly bytecode: `0x${string}`
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: Record<
    string,
    Record<
      string,
      { readonly abi: Record<string, unknown>[]; readonly evm: { bytecode: { object: string } } }
    >
  >
}

const root = path.resolve(import.meta.dirname, '../../..')
const folder = path.join(root, 'fixtures/contracts')

/** Every contract of fixtures/contracts by name. Throws the compiler's own words when one does not compile. */
export function compileContracts(): Record<string, Contract> {
  const require = createRequire(import.meta.url)
  const solc = require('solc') as {
    compile(input: string, callbacks: { import(file: string): { contents: string } }): string
  }
  const names = readdirSync(folder).filter((name) => name.endsWith('.sol'))
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      names.map((name) => [name, { content: readFileSync(path.join(folder, name), 'utf8') }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const load = (file: string): { contents: string } => ({
    contents: readFileSync(path.join(root, 'node_modules', file), 'utf8'),
  })
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: load })) as CompilerOutput
  const errors = (output.errors ?? []).filter((error) => error.severity === 'error')
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'))
  const own = names.flatMap((name) => Object.entries(output.contracts[name] ?? {}))
  return Object.fromEntries(
    own.map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` as const },
    ]),
  )
}
