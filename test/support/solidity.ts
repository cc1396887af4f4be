// Compiles Solidity for tests, and writes what came of it as each tool lays it out. A compilation is kept for the next run.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { ROOT } from './boot.ts'

/** Settings of the compiler that change its code. */
export interface Settings {
  readonly optimizer?: { readonly enabled: boolean; readonly runs?: number }
  readonly viaIR?: boolean
  readonly metadata?: { readonly appendCBOR?: boolean }
}

export interface CompilerInput {
  readonly language: 'Solidity'
  readonly sources: Readonly<Record<string, { readonly content: string }>>
  readonly settings: Settings & {
    readonly outputSelection: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  }
}

export interface CompiledCode {
  readonly object: string
  readonly sourceMap: string
  readonly linkReferences: object
  readonly immutableReferences?: object
}

export interface CompiledContract {
  readonly abi: readonly Readonly<Record<string, unknown>>[]
  readonly metadata: string
  readonly storageLayout: object
  readonly evm: { readonly bytecode: CompiledCode; readonly deployedBytecode: CompiledCode }
}

export interface CompilerOutput {
  readonly sources: Readonly<Record<string, { readonly id: number; readonly ast: object }>>
  readonly contracts: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>
}

/** What was compiled, and what came of it. */
export interface Compilation {
  readonly input: CompilerInput
  readonly output: CompilerOutput
}

const FOLDER = path.join(ROOT, 'fixtures/project/src')
const CACHE = path.join(ROOT, 'node_modules/.cache/devchain-solidity')

/** The sources of fixtures/project, with their paths as a project has them. */
export function projectSources(): Record<string, { readonly content: string }> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.sol'))
  return Object.fromEntries(
    names.map((name) => [
      `src/${name}`,
      { content: readFileSync(path.join(FOLDER, name), 'utf8') },
    ]),
  )
}

/** Compiles sources. Throws the compiler's own words when they do not compile. */
export function compile(sources: CompilerInput['sources'], settings: Settings = {}): Compilation {
  const require = createRequire(import.meta.url)
  const solc = require('solc') as { compile(input: string): string; version(): string }
  const all = [
    'abi',
    'metadata',
    'storageLayout',
    'evm.bytecode',
    'evm.deployedBytecode',
    'evm.methodIdentifiers',
  ]
  const input: CompilerInput = {
    language: 'Solidity',
    sources,
    settings: { ...settings, outputSelection: { '*': { '*': all, '': ['ast'] } } },
  }
  const text = JSON.stringify(input)
  const { version } = require('solc/package.json') as { version: string }
  const key = createHash('sha256').update(version).update(text).digest('hex').slice(0, 32)
  const kept = path.join(CACHE, `${key}.json`)
  if (existsSync(kept)) return { input, output: JSON.parse(readFileSync(kept, 'utf8')) }
  const output = JSON.parse(solc.compile(text)) as CompilerOutput & {
    readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  }
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new Error(errors.map((each) => each.formattedMessage).join('\n'))
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(kept, JSON.stringify(output))
  return { input, output }
}

/** A contract of a compilation, by its name. */
export function contractNamed({ output }: Compilation, name: string): CompiledContract {
  const found = Object.values(output.contracts).find((unit) => unit[name] !== undefined)?.[name]
  if (found === undefined) throw new Error(`no contract ${name} was compiled`)
  return found
}

/** How many contracts of a compilation have code. */
export function deployableOf({ output }: Compilation): number {
  const contracts = Object.values(output.contracts).flatMap((unit) => Object.values(unit))
  return contracts.filter(({ evm }) => evm.bytecode.object !== '').length
}

/** How a tool lays artifacts out. */
export type Layout = 'foundry' | 'hardhat2' | 'hardhat3' | 'truffle'

/** Writes a project with its sources and artifacts, as the tool writes them. @returns the folder of artifacts */
export function writeProject(folder: string, layout: Layout, compilation: Compilation): string {
  for (const [name, { content }] of Object.entries(compilation.input.sources)) {
    write(path.join(folder, name), content)
  }
  WRITERS[layout](folder, compilation)
  return path.join(folder, FOLDERS[layout])
}

const FOLDERS: Readonly<Record<Layout, string>> = {
  foundry: 'out',
  hardhat2: 'artifacts',
  hardhat3: 'artifacts',
  truffle: 'build/contracts',
}

const WRITERS: Readonly<Record<Layout, (folder: string, compilation: Compilation) => void>> = {
  foundry: writeFoundry,
  hardhat2: (folder, compilation) => writeHardhat(folder, compilation, 2),
  hardhat3: (folder, compilation) => writeHardhat(folder, compilation, 3),
  truffle: writeTruffle,
}

function writeFoundry(folder: string, { output }: Compilation): void {
  const ids = Object.entries(output.sources).map(([name, { id }]) => [`${id}`, name])
  write(path.join(folder, 'foundry.toml'), '[profile.default]\nsrc = "src"\n')
  const info = {
    id: 'c05b003b21cb53ef',
    source_id_to_path: Object.fromEntries(ids),
    language: 'Solidity',
  }
  writeJson(path.join(folder, 'out/build-info/c05b003b21cb53ef.json'), info)
  for (const { source, name, contract } of contractsOf(output)) {
    const { abi, metadata, storageLayout, evm } = contract
    writeJson(path.join(folder, 'out', path.basename(source), `${name}.json`), {
      abi,
      bytecode: prefixed(evm.bytecode),
      deployedBytecode: prefixed(evm.deployedBytecode),
      rawMetadata: metadata,
      metadata: metadata === '' ? undefined : JSON.parse(metadata),
      storageLayout,
      id: output.sources[source]?.id,
    })
  }
}

function writeHardhat(folder: string, { input, output }: Compilation, version: 2 | 3): void {
  const id = 'be1023cfa0fc61271b0dfa0a0675f9dd'
  const info = path.join(folder, 'artifacts/build-info')
  if (version === 2) {
    const whole = { id, _format: 'hh-sol-build-info-1', solcVersion: '0.8.37', input, output }
    writeJson(path.join(info, `${id}.json`), whole)
  } else {
    const solcLongVersion = '0.8.37+commit.f401782d'
    const asked = { _format: 'hh3-sol-build-info-1', id, solcLongVersion, input }
    writeJson(path.join(info, `${id}.json`), asked)
    writeJson(path.join(info, `${id}.output.json`), {
      _format: 'hh3-sol-build-info-output-1',
      id,
      output,
    })
  }
  for (const { source, name, contract } of contractsOf(output)) {
    const { abi, evm } = contract
    const place = path.join(folder, 'artifacts', source)
    writeJson(path.join(place, `${name}.json`), {
      _format: version === 2 ? 'hh-sol-artifact-1' : 'hh3-artifact-1',
      contractName: name,
      sourceName: source,
      abi,
      bytecode: `0x${evm.bytecode.object}`,
      deployedBytecode: `0x${evm.deployedBytecode.object}`,
      linkReferences: evm.bytecode.linkReferences,
      deployedLinkReferences: evm.deployedBytecode.linkReferences,
      ...(version === 3 && {
        immutableReferences: evm.deployedBytecode.immutableReferences ?? {},
        inputSourceName: source,
        buildInfoId: id,
      }),
    })
    const up = path.relative(place, info)
    const reference = { _format: 'hh-sol-dbg-1', buildInfo: path.join(up, `${id}.json`) }
    if (version === 2) writeJson(path.join(place, `${name}.dbg.json`), reference)
  }
}

function writeTruffle(folder: string, { input, output }: Compilation): void {
  for (const { source, name, contract } of contractsOf(output)) {
    const { abi, metadata, evm } = contract
    writeJson(path.join(folder, 'build/contracts', `${name}.json`), {
      contractName: name,
      abi,
      metadata,
      bytecode: `0x${evm.bytecode.object}`,
      deployedBytecode: `0x${evm.deployedBytecode.object}`,
      immutableReferences: evm.deployedBytecode.immutableReferences ?? {},
      sourceMap: evm.bytecode.sourceMap,
      deployedSourceMap: evm.deployedBytecode.sourceMap,
      source: input.sources[source]?.content,
      sourcePath: path.join(folder, source),
      ast: output.sources[source]?.ast,
      compiler: { name: 'solc', version: '0.8.37' },
      networks: {},
      schemaVersion: '3.4.16',
    })
  }
}

interface Placed {
  readonly source: string
  readonly name: string
  readonly contract: CompiledContract
}

function contractsOf(output: CompilerOutput): Placed[] {
  return Object.entries(output.contracts).flatMap(([source, unit]) =>
    Object.entries(unit).map(([name, contract]) => ({ source, name, contract })),
  )
}

function prefixed(code: CompiledCode): CompiledCode {
  return { ...code, object: `0x${code.object}` }
}

function write(file: string, content: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, content)
}

function writeJson(file: string, value: unknown): void {
  write(file, JSON.stringify(value))
}
