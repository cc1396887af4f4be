// A contract's compilation: metadata, sources and codes from its artifact or build information.
import path from 'node:path'
import { attempt } from '../../core/errors.ts'
import { LruCache } from '../../core/lrucache.ts'
import type { Artifacts } from '../artifacts.ts'
import type { Contract } from '../code/catalogue.ts'
import { jsonIn } from '../reading/builds.ts'
import { entriesOf, isObject, type JsonObject, member, text } from '../reading/formats.ts'
import { hashOfSource } from '../reading/stamps.ts'
import { buildFilesOf } from '../solidity/details.ts'
import { textNear } from '../solidity/files.ts'

export interface Compiled {
  readonly contract: Contract
  /** The compiler's: settings, ABI, and the hash of each source. */
  readonly metadata: JsonObject
  /** By path as given to the compiler, with the compiled content. */
  readonly sources: ReadonlyMap<string, string>
  /** Paths of sources whose compiled content is unavailable. */
  readonly missing: readonly string[]
  readonly creation: JsonObject
  readonly runtime: JsonObject
  readonly storageLayout: unknown
}

const KEPT = 20

/** The artifact members that are used, for any tool. */
interface Output {
  readonly metadata: unknown
  readonly creation: unknown
  readonly runtime: unknown
  readonly storageLayout: unknown
  /** Source content from the artifact or related files; undefined for others. */
  readonly sourceAt: (name: string) => string | undefined
}

export class CompiledReader {
  readonly #artifacts: Artifacts
  readonly #known = new LruCache<Contract, Compiled>(KEPT)

  constructor(artifacts: Artifacts) {
    this.#artifacts = artifacts
  }

  /** Undefined without metadata or artifact. Cached if all sources are there. */
  of(contract: Contract): Compiled | undefined {
    const known = this.#known.get(contract)
    if (known !== undefined) return known
    const compiled = attempt(() => compiledFrom(contract, this.#outputOf(contract)))
    if (compiled?.missing.length === 0) this.#known.set(contract, compiled)
    return compiled
  }

  #outputOf(contract: Contract): Output {
    switch (contract.format) {
      case 'foundry':
        return foundryOutput(contract)
      case 'truffle':
        return this.#truffleOutput(contract)
      case 'hardhat2':
      case 'hardhat3':
      case 'compiler':
        return compilerOutput(contract, this.#compilationOf(contract))
      case 'abi':
        throw new Error('an ABI has no sources')
    }
  }

  #compilationOf(contract: Contract): Compilation {
    const [inputFile, outputFile] = buildFilesOf(contract) ?? []
    const given =
      inputFile === undefined ? this.#artifacts.valueOf(contract.file) : jsonIn(inputFile)
    const compiled = outputFile === inputFile ? given : jsonIn(outputFile!)
    return {
      input: member(given, 'input'),
      output: member(compiled, 'output') ?? compiled,
      compilerVersion: text(member(given, 'solcLongVersion')),
    }
  }

  /** Each artifact has only its own source. */
  #truffleOutput(contract: Contract): Output {
    const artifact = jsonIn(contract.file)
    const folder = path.dirname(contract.file)
    const sourceAt = (name: string): string | undefined => {
      const plain = name.replace(/^project:\//, '')
      const other = this.#artifacts.catalogue.contracts.find(
        ({ file, source }) => path.dirname(file) === folder && source.endsWith(plain),
      )
      const own = other && jsonIn(other.file).source
      return typeof own === 'string' ? own : sourceNear(contract.file, plain.replace(/^\//, ''))
    }
    const { metadata, bytecode, deployedBytecode, immutableReferences } = artifact
    const creation = { object: bytecode, sourceMap: artifact.sourceMap }
    const runtimeMap = artifact.deployedSourceMap
    const runtime = { object: deployedBytecode, sourceMap: runtimeMap, immutableReferences }
    return { metadata, creation, runtime, storageLayout: undefined, sourceAt }
  }
}

function foundryOutput({ file }: Contract): Output {
  const artifact = jsonIn(file)
  const { rawMetadata, bytecode, deployedBytecode, storageLayout } = artifact
  return {
    metadata: rawMetadata ?? artifact.metadata,
    creation: bytecode,
    runtime: deployedBytecode,
    storageLayout,
    sourceAt: (name) => sourceNear(file, name),
  }
}

function compilerOutput({ file, source, name }: Contract, compilation: Compilation): Output {
  const { input, output } = compilation
  const contract = member(output, 'contracts', source, name)
  return {
    metadata: member(contract, 'metadata') ?? rebuiltMetadata(compilation, [source, name]),
    creation: member(contract, 'evm', 'bytecode'),
    runtime: member(contract, 'evm', 'deployedBytecode'),
    storageLayout: member(contract, 'storageLayout'),
    sourceAt: (each) => {
      const content = member(input, 'sources', each, 'content')
      return typeof content === 'string' ? content : sourceNear(file, each)
    },
  }
}

function compiledFrom(contract: Contract, output: Output): Compiled | undefined {
  const metadata = metadataIn(output.metadata)
  if (metadata === undefined) return undefined
  const sources = new Map<string, string>()
  const missing: string[] = []
  for (const [name, each] of entriesOf(metadata.sources)) {
    const content = member(each, 'content') ?? output.sourceAt(name)
    if (typeof content === 'string' && hashOfSource(content) === member(each, 'keccak256'))
      sources.set(name, content)
    else missing.push(name)
  }
  const { creation, runtime, storageLayout } = output
  return {
    contract,
    metadata,
    sources,
    missing,
    creation: isObject(creation) ? creation : {},
    runtime: isObject(runtime) ? runtime : {},
    storageLayout,
  }
}

/** The compiler writes metadata as text; Foundry parses it. */
export function metadataIn(value: unknown): JsonObject | undefined {
  const read: unknown = typeof value === 'string' && value !== '' ? JSON.parse(value) : value
  return isObject(read) && isObject(read.sources) ? read : undefined
}

/** A source on disk, in a parent folder of the artifact or its packages. */
function sourceNear(file: string, name: string): string | undefined {
  return textNear(file, name) ?? textNear(file, path.join('node_modules', name))
}

/** Path and name of the contract: `src/Vault.sol`, `Vault`. */
export function targetOf(metadata: JsonObject): readonly [source: string, name: string] {
  const target = member(metadata, 'settings', 'compilationTarget')
  const [source = '', name] = entriesOf(target)[0] ?? []
  return [source, text(name)]
}

interface Compilation {
  readonly input: unknown
  readonly output: unknown
  /** `0.8.30+commit.73712a01` */
  readonly compilerVersion: string
}

/**
 * Metadata from compiler input and output where it was not requested, as by Hardhat 3. It lacks what only the compiler knows: documentation and licenses.
 * @returns undefined if the contract's ABI or a source's content is missing
 */
function rebuiltMetadata(
  { input, output, compilerVersion }: Compilation,
  [source, name]: readonly [source: string, name: string],
): JsonObject | undefined {
  const abi = member(output, 'contracts', source, name, 'abi')
  const contents = sourcesOf(input, output, source).map(
    (each) => [each, member(input, 'sources', each, 'content')] as const,
  )
  if (!Array.isArray(abi) || contents.some(([, content]) => typeof content !== 'string')) {
    return undefined
  }
  const hashes = contents.map(([each, content]) => [
    each,
    { keccak256: hashOfSource(text(content)) },
  ])
  return {
    compiler: { version: compilerVersion },
    language: member(input, 'language') ?? 'Solidity',
    output: { abi, devdoc: NO_DOCUMENTATION, userdoc: NO_DOCUMENTATION },
    settings: settingsOf(member(input, 'settings'), { [source]: name }),
    sources: Object.fromEntries(hashes),
    version: 1,
  }
}

const NO_DOCUMENTATION = { methods: {}, version: 1 }

function settingsOf(settings: unknown, compilationTarget: JsonObject): JsonObject {
  const { outputSelection, libraries, ...rest } = isObject(settings) ? settings : {}
  const linked = entriesOf(libraries).flatMap(([file, each]) =>
    entriesOf(each).map(([name, address]) => [`${file}:${name}`, address]),
  )
  return {
    optimizer: { enabled: false, runs: 200 },
    remappings: [],
    ...rest,
    compilationTarget,
    libraries: Object.fromEntries(linked),
  }
}

/** A source and its imports, by the syntax trees; all sources without trees. */
function sourcesOf(input: unknown, output: unknown, source: string): readonly string[] {
  const found = new Set([source])
  for (const each of found) {
    const nodes = member(output, 'sources', each, 'ast', 'nodes')
    if (!Array.isArray(nodes)) return entriesOf(member(input, 'sources')).map(([name]) => name)
    for (const node of nodes as readonly unknown[]) {
      if (member(node, 'nodeType') === 'ImportDirective') {
        found.add(text(member(node, 'absolutePath')))
      }
    }
  }
  return [...found].sort()
}
