// A contract's compilation: metadata, sources and codes from its artifact or build information.
import path from 'node:path'
import { attempt } from '../../core/errors.ts'
import { LruCache } from '../../core/lrucache.ts'
import type { Artifacts } from '../artifacts.ts'
import type { Contract } from '../code/catalogue.ts'
import { type CompilerOutput, jsonIn, metadataIn, outputIn, outputOf } from '../reading/builds.ts'
import { entriesOf, isObject, type JsonObject, member, text } from '../reading/formats.ts'
import { hashOfText } from '../reading/stamps.ts'
import { buildFilesOf } from '../solidity/details.ts'
import { textNear } from '../solidity/files.ts'

export interface Compiled extends CompilerOutput {
  readonly contract: Contract
  /** The compiler's: settings, ABI, and the hash of each source. */
  readonly metadata: JsonObject
  /** By path as given to the compiler, with the compiled content. */
  readonly sources: ReadonlyMap<string, string>
  /** Paths of sources whose compiled content is unavailable. */
  readonly missing: readonly string[]
}

const KEPT = 20

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
    const compiled = attempt(() => this.#read(contract))
    if (compiled?.missing.length === 0) this.#known.set(contract, compiled)
    return compiled
  }

  #read(contract: Contract): Compiled | undefined {
    switch (contract.format) {
      case 'foundry':
        return compiledFrom(contract, outputIn(contract.file), () => undefined)
      case 'truffle':
        return compiledFrom(contract, outputIn(contract.file), (name) =>
          this.#besides(contract, name),
        )
      case 'hardhat2':
      case 'hardhat3':
      case 'compiler':
        return fromCompiler(contract, this.#compilationOf(contract))
      case 'abi':
        return undefined
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

  /** Each artifact of Truffle has only its own source. */
  #besides({ file }: Contract, name: string): unknown {
    const folder = path.dirname(file)
    const other = this.#artifacts.catalogue.contracts.find(
      (each) => path.dirname(each.file) === folder && each.source.endsWith(plainPath(name)),
    )
    return other && jsonIn(other.file).source
  }
}

/** Truffle writes `project:/contracts/Vault.sol`. */
function plainPath(name: string): string {
  return name.replace(/^project:\//, '')
}

function fromCompiler(contract: Contract, compilation: Compilation): Compiled | undefined {
  const { source, name } = contract
  const { input, output } = compilation
  const built = outputOf(member(output, 'contracts', source, name))
  const metadata = built.metadata ?? rebuiltMetadata(compilation, [source, name])
  return compiledFrom(contract, { ...built, metadata }, (each) =>
    member(input, 'sources', each, 'content'),
  )
}

/** @param contentOf source content from the artifact or related files; undefined for others */
function compiledFrom(
  contract: Contract,
  output: CompilerOutput,
  contentOf: (name: string) => unknown,
): Compiled | undefined {
  const metadata = metadataIn(output.metadata)
  if (metadata === undefined) return undefined
  const sources = new Map<string, string>()
  const missing: string[] = []
  for (const [name, each] of entriesOf(metadata.sources)) {
    const content = member(each, 'content') ?? contentOf(name) ?? sourceNear(contract.file, name)
    if (typeof content === 'string' && hashOfText(content) === member(each, 'keccak256'))
      sources.set(name, content)
    else missing.push(name)
  }
  return { ...output, contract, metadata, sources, missing }
}

/** A source on disk, in a parent folder of the artifact or its packages. */
function sourceNear(file: string, name: string): string | undefined {
  const place = plainPath(name)
  return textNear(file, place) ?? textNear(file, path.join('node_modules', place))
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
  const hashes = contents.map(([each, content]) => [each, { keccak256: hashOfText(text(content)) }])
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
