// Source maps and sources of a contract, read on demand from its artifact and related files.
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { attempt } from '../../core/errors.ts'
import { getOrMake, LruCache } from '../../core/lrucache.ts'
import type { Catalogue, Contract } from '../code/catalogue.ts'
import {
  type Build,
  type BuildFiles,
  buildOf,
  digestOf,
  hashesIn,
  isOptimizedBy,
  jsonIn,
  type Maps,
  mapsOf,
  metadataIn,
  outputIn,
} from '../reading/builds.ts'
import { isObject, text } from '../reading/formats.ts'
import { readBuildBeside } from '../reading/readers.ts'
import { hashOfText, stampOf } from '../reading/stamps.ts'
import { isSameText, nearest, textNear, textOf } from './files.ts'
import { FoundryBuilds, pathsFor } from './foundry.ts'
import { type Outline, outlineOf } from './outline.ts'
import { type CodeMap, codeMapOf, sourcesIn } from './sourcemap.ts'

export interface SourceFile {
  /** As given to the compiler. */
  readonly path: string
  /** One character per byte (latin1). */
  readonly text: string
  readonly outline: Outline
}

export interface Details {
  /** Of the creation code, before its arguments; undefined without a source map. */
  readonly creationMap: (input: Uint8Array) => CodeMap | undefined
  readonly runtimeMap: (code: Uint8Array) => CodeMap | undefined
  /** By source map index. */
  readonly source: (id: number) => SourceFile | undefined
  /** The contract's own source, then those it takes code from. */
  readonly sources: () => readonly SourceFile[]
  /** True if the compiler moved code: through its intermediate language or the optimizer. */
  readonly isOptimized: boolean
  /** Storage layout; undefined if the compiler was not asked for it. */
  readonly layout: unknown
  /** True for generated code, which has no source. */
  readonly isMadeUp: (id: number) => boolean
}

const KEPT_CONTRACTS = 50

const KEPT_BUILDS = 4

/** A cache of build information, which is read beside the chain. */
class Builds {
  readonly #known = new LruCache<string, Build>(KEPT_BUILDS)
  readonly #loading = new Map<string, Promise<Build>>()

  /** Read once for concurrent callers. */
  async of(files: BuildFiles): Promise<Build> {
    const key = files.map((file) => `${file} ${statSync(file).mtimeMs}`).join()
    const known = this.#known.get(key)
    if (known !== undefined) return known
    try {
      const build = await getOrMake(this.#loading, key, () => readBuildBeside(files))
      this.#known.set(key, build)
      return build
    } finally {
      this.#loading.delete(key)
    }
  }
}

export class DetailReader {
  readonly #catalogue: Catalogue
  readonly #handedOver: (file: string) => unknown
  #known = noDetails()
  readonly #builds: Builds = new Builds()
  readonly #foundryBuilds: FoundryBuilds = new FoundryBuilds()

  /** @param handedOver gives a file's content if it came from an RPC method */
  constructor(catalogue: Catalogue, handedOver: (file: string) => unknown) {
    this.#catalogue = catalogue
    this.#handedOver = handedOver
  }

  /** Drops all caches: related files may have changed although the artifacts did not. */
  forget(): void {
    this.#known = noDetails()
  }

  /** Undefined without a source map, or if a related file is gone. */
  async of(contract: Contract): Promise<Details | undefined> {
    const kept = this.#known
    const known = kept.get(contract)
    if (known !== undefined) return known === 'none' ? undefined : known
    // gone or incomplete: names without lines
    const found = await this.#read(contract).catch(() => undefined)
    // a file rewritten since the contract was read belongs to other code
    const details = attempt(() => isCurrent(contract)) ? found : undefined
    kept.set(contract, details ?? 'none')
    return details
  }

  /** Undefined if the artifact does not list them. */
  compiledFrom({ file, format }: Contract): readonly string[] | undefined {
    if (format !== 'foundry') return undefined
    const hashes = attempt(() => artifactIn(file).hashes)
    return hashes && [...hashes.keys()]
  }

  async #read(contract: Contract): Promise<Details | undefined> {
    const { format } = contract
    if (!isCurrent(contract)) return undefined
    if (format === 'foundry') return await this.#foundry(contract)
    if (format === 'truffle') return this.#truffle(contract)
    return format === 'abi' ? undefined : await this.#compiler(contract)
  }

  /** Maps are in the artifact; source paths by index are in the build information. */
  async #foundry(contract: Contract): Promise<Details | undefined> {
    const { maps, isOptimized, hashes } = artifactIn(contract.file)
    const builds: Build[] = []
    for (const files of this.#foundryBuilds.of(contract.file)) {
      const build = await this.#builds.of(files).catch(() => undefined)
      if (build !== undefined) builds.push(build)
    }
    const paths = pathsFor(contract, maps, hashes, builds)
    return details(maps, {
      isOptimized,
      find: (id) => {
        const name = id === contract.sourceId ? contract.source : paths?.get(id)
        return name === undefined ? undefined : sourceNear(contract.file, name, hashes?.get(name))
      },
      // without another source, everything else is generated
      isMadeUp: (id) =>
        id !== contract.sourceId && (paths === undefined ? hashes?.size === 1 : !paths.has(id)),
    })
  }

  /** Each artifact has only its own source. */
  #truffle(contract: Contract): Details | undefined {
    const { maps, isOptimized, hashes } = artifactIn(contract.file)
    const known = new Set(hashes?.values())
    const folder = path.dirname(contract.file)
    const other = (id: number): Contract | undefined =>
      this.#catalogue.contracts.find(
        (each) => each.sourceId === id && path.dirname(each.file) === folder && isCurrent(each),
      )
    return details(maps, {
      isOptimized,
      find: (id) => {
        const found = other(id)
        if (found === undefined) return undefined
        const content = text(jsonIn(found.file).source)
        if (known.size > 0 && !known.has(hashOfText(content))) return undefined
        return sourceOf(path.relative(path.resolve(folder, '../..'), found.source), content)
      },
      isMadeUp: (id) => other(id) === undefined,
    })
  }

  /** Compiler output, in files or from an RPC method. */
  async #compiler(contract: Contract): Promise<Details | undefined> {
    const files = buildFilesOf(contract)
    if (files !== undefined) {
      const build = await this.#builds.of(files)
      return isOfBuild(build, contract) ? fromBuild(build, contract) : undefined
    }
    const given = this.#handedOver(contract.file)
    return isObject(given) ? fromBuild(buildOf(given, given), contract) : undefined
  }
}

function noDetails(): LruCache<Contract, Details | 'none'> {
  return new LruCache(KEPT_CONTRACTS)
}

/** An artifact of Foundry or Truffle. */
function artifactIn(file: string) {
  const output = outputIn(file)
  const metadata = metadataIn(output.metadata)
  const isOptimized = isOptimizedBy(metadata?.settings)
  return { maps: mapsOf(output), isOptimized, hashes: hashesIn(metadata) }
}

function isCurrent({ file, stamp }: Contract): boolean {
  return stamp === '' || stampOf(file) === stamp
}

/** True if the build information has the artifact's code: one may be rewritten before the other. */
function isOfBuild({ maps }: Build, { file, format, source, name }: Contract): boolean {
  if (format === 'compiler') return true
  const { bytecode, deployedBytecode } = jsonIn(file)
  return maps.get(`${source}:${name}`)?.digest === digestOf(bytecode, deployedBytecode)
}

interface Finding extends Pick<Details, 'isOptimized' | 'isMadeUp'> {
  readonly find: (id: number) => SourceFile | undefined
}

function details(
  { creationMap, runtimeMap, layout }: Maps,
  { isOptimized, isMadeUp, find }: Finding,
): Details | undefined {
  if (creationMap === '' && runtimeMap === '') return undefined
  const known = new Map<number, SourceFile | undefined>()
  const source = (id: number): SourceFile | undefined => {
    if (!known.has(id)) known.set(id, id < 0 ? undefined : find(id))
    return known.get(id)
  }
  return {
    creationMap: once(creationMap),
    runtimeMap: once(runtimeMap),
    isOptimized,
    layout,
    source,
    sources: () => [...sourcesIn(runtimeMap)].flatMap((id) => source(id) ?? []),
    isMadeUp,
  }
}

/** Parsed once: instructions are the same in every deployment. */
function once(sourceMap: string): (code: Uint8Array) => CodeMap | undefined {
  let known: CodeMap | undefined
  return (code) => {
    if (sourceMap !== '') known ??= codeMapOf(sourceMap, code)
    return known
  }
}

function fromBuild(build: Build, contract: Contract): Details | undefined {
  const maps = build.maps.get(`${contract.source}:${contract.name}`)
  if (maps === undefined) return undefined
  return details(maps, {
    isOptimized: build.isOptimized,
    find: (id) => {
      const name = build.paths.get(id)
      if (name === undefined) return undefined
      const content = build.texts.get(name)
      if (content === undefined) return sourceNear(contract.file, name, build.hashes?.get(name))
      const shown = shownPath(name)
      return isEdited(contract, shown, content) ? undefined : sourceOf(shown, content)
    },
    isMadeUp: (id) => !build.paths.has(id),
  })
}

/** True if the source on disk differs from the compiled one, so that lines may have moved. */
function isEdited({ file, stamp }: Contract, name: string, content: string): boolean {
  const found = stamp === '' ? undefined : nearest(file, name, (each) => each.isFile())
  const present = found && textOf(found)
  return present !== undefined && !isSameText(present, content)
}

/** The files of a contract's compilation, if its artifact names them. */
export function buildFilesOf({ file, format }: Contract): BuildFiles | undefined {
  if (format === 'hardhat2') return buildOfSecond(file)
  if (format === 'hardhat3') return buildOfThird(file)
  return format === 'compiler' && existsSync(file) ? [file, file] : undefined
}

/** `artifacts/contracts/Vault.sol/Vault.dbg.json` names the build information. */
function buildOfSecond(file: string): BuildFiles {
  const reference = text(jsonIn(file.replace(/\.json$/, '.dbg.json')).buildInfo)
  const build = path.resolve(path.dirname(file), reference)
  return [build, build]
}

function buildOfThird(file: string): BuildFiles {
  const id = text(jsonIn(file).buildInfoId)
  const folder = nearest(file, 'build-info')
  if (folder === undefined || !/^[\w.-]+$/.test(id))
    throw new Error(`no build information of ${file}`)
  return [path.join(folder, `${id}.json`), path.join(folder, `${id}.output.json`)]
}

/** A source on disk, below a parent folder of the artifact. @param hash of the compiled source */
function sourceNear(file: string, name: string, hash?: string): SourceFile | undefined {
  const content = textNear(file, name, hash)
  return content === undefined ? undefined : sourceOf(name, content)
}

/** Hardhat 3 puts the package before a path: `project/contracts/Vault.sol`, `npm/@scope/name@1.0.0/Vault.sol`. */
export function shownPath(name: string): string {
  return name.replace(/^project\//, '').replace(/^npm\/((?:@[^/]+\/)?[^/@]+)@[^/]+\//, '$1/')
}

export function sourceOf(name: string, content: string): SourceFile {
  const bytes = Buffer.from(content, 'utf8').toString('latin1')
  return { path: name, text: bytes, outline: outlineOf(bytes) }
}
