// Source maps and sources of a contract: read from its artifact, and what that refers to, when they are asked for.
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import path from 'node:path'
import { LruCache } from '../../core/lrucache.ts'
import type { Catalogue, Contract } from '../code/catalogue.ts'
import { isObject, type Loose } from '../reading/formats.ts'
import { type Outline, outlineOf } from './outline.ts'
import { type CodeMap, codeMapOf } from './sourcemap.ts'

/** A source, as it was compiled or as it is now. */
export interface Source {
  /** As the compiler was told it. */
  readonly path: string
  /** A character a byte. */
  readonly text: string
  readonly outline: Outline
}

/** What is known of a contract's source. */
export interface Details {
  /** Of a creation, whose arguments follow its code; undefined where there is no source map. */
  readonly creationMap: (input: Uint8Array) => CodeMap | undefined
  /** Of deployed code. */
  readonly runtimeMap: (code: Uint8Array) => CodeMap | undefined
  /** By the index that source maps have for it. */
  readonly source: (id: number) => Source | undefined
  /** The source that the contract stands in, and then those that it takes code from. */
  readonly sources: () => readonly Source[]
  /** True where the compiler moved code about: through its intermediate language, or as an optimizer. */
  readonly isOptimized: boolean
  /** Where variables are in storage, as the compiler tells it; undefined where it was not asked. */
  readonly layout: unknown
}

/** Contracts, and files of build information, that are kept at hand. */
const KEPT_CONTRACTS = 50
const KEPT_BUILDS = 4

/** Bytes of build information that is read. */
const LARGEST_BUILD = 150_000_000

/** Folders above an artifact in which its sources are looked for. */
const HIGHEST = 6

/** Build information, as far as it is used. */
interface Build {
  readonly texts: ReadonlyMap<string, string>
  readonly paths: ReadonlyMap<number, string>
  readonly maps: ReadonlyMap<string, Maps>
  readonly isOptimized: boolean
}

interface Maps {
  readonly creationMap: string
  readonly runtimeMap: string
  /** Of storage; undefined where the compiler was not asked for it. */
  readonly layout?: unknown
}

/** Reads the details of contracts. */
export class DetailReader {
  readonly #catalogue: Catalogue
  readonly #handedOver: (file: string) => unknown
  readonly #known = new LruCache<Contract, Details | 'none'>(KEPT_CONTRACTS)
  readonly #builds = new LruCache<string, Build>(KEPT_BUILDS)

  /** @param handedOver gives what was handed over instead of read from a file */
  constructor(catalogue: Catalogue, handedOver: (file: string) => unknown) {
    this.#catalogue = catalogue
    this.#handedOver = handedOver
  }

  /** Undefined where the artifact has no source map, or what it refers to is gone. */
  of(contract: Contract): Details | undefined {
    const known = this.#known.get(contract)
    if (known !== undefined) return known === 'none' ? undefined : known
    let details: Details | undefined
    try {
      details = this.#read(contract)
    } catch {
      // gone, or half-written: names are told without lines
    }
    this.#known.set(contract, details ?? 'none')
    return details
  }

  #read(contract: Contract): Details | undefined {
    switch (contract.format) {
      case 'foundry':
        return this.#foundry(contract)
      case 'truffle':
        return this.#truffle(contract)
      case 'hardhat2':
        return this.#hardhat(contract, buildOfSecond(contract.file))
      case 'hardhat3':
        return this.#hardhat(contract, buildOfThird(contract.file))
      case 'compiler':
        return this.#compiler(contract)
      case 'abi':
        return undefined
    }
  }

  /** Maps are in the artifact; the paths of sources by their ids are in the build information. */
  #foundry(contract: Contract): Details | undefined {
    const artifact = jsonIn(contract.file)
    const paths = foundryPaths(contract)
    const settings = member(member(artifact, 'metadata'), 'settings')
    const maps = { ...mapsIn(artifact), layout: artifact.storageLayout }
    return details(maps, isOptimizedBy(settings), (id) => {
      const name = id === contract.sourceId ? contract.source : paths.get(id)
      return name === undefined ? undefined : sourceNear(contract.file, name)
    })
  }

  /** Each artifact has its own source; those of others are in theirs. */
  #truffle(contract: Contract): Details | undefined {
    const artifact = jsonIn(contract.file)
    const maps = {
      creationMap: text(artifact['sourceMap']),
      runtimeMap: text(artifact['deployedSourceMap']),
    }
    const metadata: unknown = JSON.parse(text(artifact['metadata']) || '{}')
    return details(maps, isOptimizedBy(member(metadata, 'settings')), (id) => {
      const folder = path.dirname(contract.file)
      const other = this.#catalogue.find(
        (each) => each.sourceId === id && path.dirname(each.file) === folder,
      )
      return (
        other &&
        sourceOf(
          path.relative(path.resolve(folder, '../..'), other.source),
          text(jsonIn(other.file)['source']),
        )
      )
    })
  }

  #hardhat(
    contract: Contract,
    [inputFile, outputFile]: readonly [string, string],
  ): Details | undefined {
    const key = `${outputFile} ${statSync(outputFile).mtimeMs}`
    const build = this.#builds.get(key) ?? readBuild(inputFile, outputFile)
    this.#builds.set(key, build)
    return fromBuild(build, contract)
  }

  #compiler(contract: Contract): Details | undefined {
    const given = this.#handedOver(contract.file) ?? jsonIn(contract.file)
    if (!isObject(given)) return undefined
    const output = isObject(given['output']) ? given['output'] : given
    return fromBuild(buildOf(given['input'], output), contract)
  }
}

/** What details are read from, without the rest: syntax trees and code are most of what a compiler answers. */
export function withoutBulk(value: unknown): unknown {
  if (!isObject(value)) return value
  const output = isObject(value['output']) ? value['output'] : value
  const sources = entriesOf(output['sources']).map(([name, each]) => [
    name,
    { id: member(each, 'id') },
  ])
  const contracts = entriesOf(output['contracts']).map(([source, unit]) => [
    source,
    Object.fromEntries(entriesOf(unit).map(([name, each]) => [name, leanContract(each)])),
  ])
  const lean = { sources: Object.fromEntries(sources), contracts: Object.fromEntries(contracts) }
  const { input } = value
  return {
    input: { sources: member(input, 'sources'), settings: member(input, 'settings') },
    output: lean,
  }
}

function leanContract(contract: unknown): Loose {
  const { creationMap, runtimeMap } = mapsIn(member(contract, 'evm'))
  const evm = { bytecode: { sourceMap: creationMap }, deployedBytecode: { sourceMap: runtimeMap } }
  const { storageLayout, metadata } = isObject(contract) ? contract : {}
  return { evm, storageLayout, metadata }
}

function details(
  { creationMap, runtimeMap, layout }: Maps,
  isOptimized: boolean,
  find: (id: number) => Source | undefined,
): Details | undefined {
  if (creationMap === '' && runtimeMap === '') return undefined
  const known = new Map<number, Source | undefined>()
  const source = (id: number): Source | undefined => {
    if (!known.has(id)) known.set(id, id < 0 ? undefined : find(id))
    return known.get(id)
  }
  return {
    creationMap: once(creationMap),
    runtimeMap: once(runtimeMap),
    isOptimized,
    layout,
    source,
    sources: () => sourcesIn(runtimeMap, source),
  }
}

/** The map of a contract's code, read once: its instructions are the same wherever it is deployed. */
function once(sourceMap: string): (code: Uint8Array) => CodeMap | undefined {
  let known: CodeMap | undefined
  return (code) => {
    if (sourceMap !== '') known ??= codeMapOf(sourceMap, code)
    return known
  }
}

/** The sources that a source map names. */
function sourcesIn(
  sourceMap: string,
  source: (id: number) => Source | undefined,
): readonly Source[] {
  const ids = new Set(
    sourceMap.split(';').flatMap((entry) => {
      const id = entry.split(':')[2]
      return id ? [Number(id)] : []
    }),
  )
  return [...ids].flatMap((id) => source(id) ?? [])
}

function fromBuild(build: Build, contract: Contract): Details | undefined {
  const maps = build.maps.get(`${contract.source}:${contract.name}`)
  if (maps === undefined) return undefined
  return details(maps, build.isOptimized, (id) => {
    const name = build.paths.get(id)
    if (name === undefined) return undefined
    const content = build.texts.get(name)
    return content === undefined
      ? sourceNear(contract.file, name)
      : sourceOf(shownPath(name), content)
  })
}

/** `artifacts/contracts/Vault.sol/Vault.dbg.json` says where the build information is. */
export function buildOfSecond(file: string): readonly [string, string] {
  const reference = text(jsonIn(file.replace(/\.json$/, '.dbg.json'))['buildInfo'])
  const build = path.resolve(path.dirname(file), reference)
  return [build, build]
}

export function buildOfThird(file: string): readonly [string, string] {
  const id = text(jsonIn(file)['buildInfoId'])
  const folder = nearest(file, 'build-info')
  if (folder === undefined || !/^[\w.-]+$/.test(id))
    throw new Error(`no build information of ${file}`)
  return [path.join(folder, `${id}.json`), path.join(folder, `${id}.output.json`)]
}

function readBuild(inputFile: string, outputFile: string): Build {
  const whole = jsonIn(inputFile, LARGEST_BUILD)
  const output = inputFile === outputFile ? whole : jsonIn(outputFile, LARGEST_BUILD)
  return buildOf(whole['input'], output['output'])
}

function buildOf(input: unknown, output: unknown): Build {
  const texts = entriesOf(member(input, 'sources')).map(
    ([name, source]) => [name, member(source, 'content')] as const,
  )
  const paths = entriesOf(member(output, 'sources')).map(
    ([name, source]) => [Number(member(source, 'id')), name] as const,
  )
  const maps = entriesOf(member(output, 'contracts')).flatMap(([source, unit]) =>
    entriesOf(unit).map(
      ([name, contract]) =>
        [
          `${source}:${name}`,
          { ...mapsIn(member(contract, 'evm')), layout: member(contract, 'storageLayout') },
        ] as const,
    ),
  )
  return {
    texts: new Map(
      texts.filter((each): each is readonly [string, string] => typeof each[1] === 'string'),
    ),
    paths: new Map(paths),
    maps: new Map(maps),
    isOptimized: isOptimizedBy(member(input, 'settings')),
  }
}

function mapsIn(code: unknown): Maps {
  return {
    creationMap: text(member(member(code, 'bytecode'), 'sourceMap')),
    runtimeMap: text(member(member(code, 'deployedBytecode'), 'sourceMap')),
  }
}

function isOptimizedBy(settings: unknown): boolean {
  const isEnabled = member(member(settings, 'optimizer'), 'enabled') === true
  return isEnabled || member(settings, 'viaIR') === true
}

/** Paths of sources by their ids, from the newest build information that agrees with the artifact. */
function foundryPaths({ file, source, sourceId }: Contract): ReadonlyMap<number, string> {
  const folder = nearest(file, 'build-info')
  if (folder === undefined) return new Map()
  const builds = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => path.join(folder, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const build of builds) {
    const ids = entriesOf(jsonIn(build, LARGEST_BUILD)['source_id_to_path'])
    const paths = new Map(ids.map(([id, name]) => [Number(id), text(name)]))
    if (sourceId !== undefined && paths.get(sourceId) === source) return paths
  }
  return new Map()
}

/** A source as it is on the disk, below a folder that the artifact is in. */
function sourceNear(file: string, name: string): Source | undefined {
  const found = path.isAbsolute(name) ? name : nearest(file, name)
  return found === undefined ? undefined : sourceOf(name, readFileSync(found, 'utf8'))
}

/** The path of a file or folder of this name in the nearest folder above a file. */
export function nearest(
  file: string,
  name: string,
  isMeant: (found: Stats) => boolean = () => true,
): string | undefined {
  let folder = path.dirname(file)
  for (let i = 0; i < HIGHEST; i++) {
    const candidate = path.join(folder, name)
    const found = statSync(candidate, { throwIfNoEntry: false })
    if (found !== undefined && isMeant(found)) return candidate
    folder = path.dirname(folder)
  }
  return undefined
}

/** Hardhat 3 puts the package before a path: `project/contracts/Vault.sol`, `npm/@scope/name@1.0.0/Vault.sol`. */
export function shownPath(name: string): string {
  return name.replace(/^project\//, '').replace(/^npm\/((?:@[^/]+\/)?[^/@]+)@[^/]+\//, '$1/')
}

export function sourceOf(name: string, content: string): Source {
  const bytes = Buffer.from(content, 'utf8').toString('latin1')
  return { path: name, text: bytes, outline: outlineOf(bytes) }
}

export function jsonIn(file: string, limit: number = LARGEST_BUILD): Loose {
  if (statSync(file).size > limit) throw new Error(`${file} is too large`)
  const json: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return isObject(json) ? json : {}
}

export function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

export function entriesOf(value: unknown): (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : []
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
