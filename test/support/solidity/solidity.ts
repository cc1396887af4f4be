// Compiles Solidity for tests, and writes what came of it as each tool lays it out. A compilation is kept for the next run.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { ROOT } from '../process/boot.ts'

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

/** Vault and what it imports: with viaIR, all others take five seconds. */
export function vaultSources(): CompilerInput['sources'] {
  const all = Object.entries(projectSources())
  return Object.fromEntries(all.filter(([name]) => /(Vault|Ledger|Rates)\.sol$/.test(name)))
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

function writeFoundry(folder: string, compilation: Compilation): void {
  write(path.join(folder, 'foundry.toml'), '[profile.default]\nsrc = "src"\n')
  for (const [name, value] of foundryFiles(compilation, 'c05b003b21cb53ef')) {
    writeJson(path.join(folder, name), value)
  }
}

/** What forge writes for a compilation, in its order: artifacts, build information, its cache. */
export function foundryFiles(
  { output }: Compilation,
  id: string,
): readonly (readonly [name: string, value: unknown])[] {
  const artifacts = contractsOf(output).map(({ source, name, contract }) => {
    const { abi, metadata, storageLayout, evm } = contract
    const artifact = {
      abi,
      bytecode: prefixed(evm.bytecode),
      deployedBytecode: prefixed(evm.deployedBytecode),
      rawMetadata: metadata,
      metadata: metadata === '' ? undefined : JSON.parse(metadata),
      storageLayout,
      id: output.sources[source]?.id,
    }
    return [`out/${path.basename(source)}/${name}.json`, artifact] as const
  })
  const ids = Object.entries(output.sources).map(([name, each]) => [`${each.id}`, name])
  const info = { id, source_id_to_path: Object.fromEntries(ids), language: 'Solidity' }
  const cache = { paths: { artifacts: 'out' }, files: cachedFiles(output, id) }
  return [
    ...artifacts,
    [`out/build-info/${id}.json`, info],
    ['cache/solidity-files-cache.json', cache],
  ]
}

function cachedFiles(output: CompilerOutput, id: string): object {
  const files = Object.entries(output.contracts).map(([source, unit]) => {
    const artifacts = Object.keys(unit).map((name) => {
      const place = `${path.basename(source)}/${name}.json`
      return [name, { '0.8.37': { default: { path: place, build_id: id } } }]
    })
    return [source, { artifacts: Object.fromEntries(artifacts) }]
  })
  return Object.fromEntries(files)
}

function writeHardhat(folder: string, compilation: Compilation, version: 2 | 3): void {
  const id = 'be1023cfa0fc61271b0dfa0a0675f9dd'
  for (const [name, value] of hardhatFiles(compilation, version, id)) {
    writeJson(path.join(folder, name), value)
  }
}

/** What Hardhat writes for a compilation: build information, and artifacts. */
export function hardhatFiles(
  { input, output }: Compilation,
  version: 2 | 3,
  id: string,
): readonly (readonly [name: string, value: unknown])[] {
  const info = `artifacts/build-info/${id}`
  const solcLongVersion = '0.8.37+commit.f401782d'
  const whole = { id, _format: 'hh-sol-build-info-1', solcVersion: '0.8.37', input, output }
  const asked = { _format: 'hh3-sol-build-info-1', id, solcLongVersion, input }
  const answered = { _format: 'hh3-sol-build-info-output-1', id, output }
  const infos = version === 2 ? { '': whole } : { '': asked, '.output': answered }
  const artifacts = contractsOf(output).flatMap(({ source, name, contract }) => {
    const { abi, evm } = contract
    const place = `artifacts/${source}`
    const artifact = {
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
    }
    const reference = { _format: 'hh-sol-dbg-1', buildInfo: path.relative(place, `${info}.json`) }
    const files = [[`${place}/${name}.json`, artifact] as const]
    return version === 2 ? [...files, [`${place}/${name}.dbg.json`, reference] as const] : files
  })
  return [
    ...Object.entries(infos).map(([end, value]) => [`${info}${end}.json`, value] as const),
    ...artifacts,
  ]
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
