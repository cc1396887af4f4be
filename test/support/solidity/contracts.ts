// The contracts of fixtures/contracts, compiled; the e2e project provides them to its tests. What solc makes of them is kept beside
// them, as it takes seconds: after a change of a contract or a package, commit compiled.json.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
const kept = path.join(folder, 'compiled.json')

interface Kept {
  /** Of all that decides the result. */
  readonly key: string
  readonly contracts: Record<string, Contract>
}

/** Every contract of fixtures/contracts by name. Throws the compiler's own words when one does not compile. */
export function compileContracts(): Record<string, Contract> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sol'))
  const input = JSON.stringify({
    language: 'Solidity',
    sources: Object.fromEntries(
      names.map((name) => [name, { content: readFileSync(path.join(folder, name), 'utf8') }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  })
  const versions = ['solc', '@openzeppelin/contracts'].map(versionOf)
  const key = createHash('sha256')
    .update([...versions, input].join('\n'))
    .digest('hex')
  const before = existsSync(kept) ? (JSON.parse(readFileSync(kept, 'utf8')) as Kept) : undefined
  if (before?.key === key) return before.contracts
  const contracts = compiled(input, names)
  writeFileSync(kept, `${JSON.stringify({ key, contracts }, undefined, 1)}\n`)
  return contracts
}

function versionOf(name: string): string {
  const file = path.join(root, 'node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}

function compiled(input: string, names: readonly string[]): Record<string, Contract> {
  const solc = createRequire(import.meta.url)('solc') as {
    compile(input: string, callbacks: { import(file: string): { contents: string } }): string
  }
  const load = (file: string): { contents: string } => ({
    contents: readFileSync(path.join(root, 'node_modules', file), 'utf8'),
  })
  const output = JSON.parse(solc.compile(input, { import: load })) as CompilerOutput
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
