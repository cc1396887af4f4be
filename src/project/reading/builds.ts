// Build information: the compiler's input and output, as far as stacks and layouts need it.
import { readFileSync, statSync } from 'node:fs'
import { hashOf } from '../code/shape.ts'
import { entriesOf, isObject, type JsonObject, member, text } from './formats.ts'

/** Hashes of all compiled sources by path; undefined without metadata. */
export type SourceHashes = ReadonlyMap<string, string> | undefined

export interface Build {
  readonly texts: ReadonlyMap<string, string>
  /** Of sources without text. */
  readonly hashes: SourceHashes
  /** Source paths by source map index. */
  readonly paths: ReadonlyMap<number, string>
  /** By path and name: `src/Vault.sol:Vault`. */
  readonly maps: ReadonlyMap<string, BuiltMaps>
  readonly isOptimized: boolean
}

export interface Maps {
  readonly creationMap: string
  readonly runtimeMap: string
  /** Storage layout; undefined if the compiler was not asked for it. */
  readonly layout?: unknown
}

/** What the compiler gave for a contract, in its words. */
export interface CompilerOutput {
  readonly metadata: unknown
  readonly bytecode: unknown
  readonly deployedBytecode: unknown
  readonly storageLayout: unknown
}

interface BuiltMaps extends Maps {
  /** Hash of its codes: an artifact with another hash is of another compilation. */
  readonly digest: string
}

/** Files of one compilation; the same file twice if it has input and output. */
export type BuildFiles = readonly [input: string, output: string]

export interface BuildOrder {
  readonly build: BuildFiles
}

/** Bytes of the largest file that is read. */
const LARGEST_BUILD = 150_000_000

export function readBuild([inputFile, outputFile]: BuildFiles): Build {
  const whole = jsonIn(inputFile)
  const other = inputFile === outputFile ? whole : jsonIn(outputFile)
  return buildOf(whole, other)
}

/** @param whole has the input @param other has the output; may be the same */
export function buildOf(whole: JsonObject, other: JsonObject): Build {
  const { input } = whole
  const output = isObject(other.output) ? other.output : other
  const texts = entriesOf(member(input, 'sources')).flatMap(([name, source]) => {
    const content = member(source, 'content')
    return typeof content === 'string' ? [[name, content] as const] : []
  })
  const units = entriesOf(member(output, 'contracts'))
  const hashes = texts.length > 0 ? [] : units.flatMap(([, unit]) => hashesOfUnit(unit))
  const maps = units.flatMap(([source, unit]) =>
    entriesOf(unit).map(([name, contract]) => {
      const built = outputOf(contract)
      const { bytecode, deployedBytecode } = built
      const digest = digestOf(member(bytecode, 'object'), member(deployedBytecode, 'object'))
      return [`${source}:${name}`, { ...mapsOf(built), digest }] as const
    }),
  )
  return {
    texts: new Map(texts),
    hashes: new Map(hashes),
    paths: new Map(pathsIn(whole, output)),
    maps: new Map(maps),
    isOptimized: isOptimizedBy(member(input, 'settings')),
  }
}

function hashesOfUnit(unit: unknown): readonly (readonly [string, string])[] {
  return entriesOf(unit).flatMap(([, contract]) => [
    ...(hashesIn(metadataIn(outputOf(contract).metadata)) ?? []),
  ])
}

/** @param creation hex, as an artifact or the compiler writes it */
export function digestOf(creation: unknown, runtime: unknown): string {
  const plain = [creation, runtime].map((code) => text(code).replace(/^0x/, ''))
  return hashOf(Buffer.from(plain.join()))
}

/** Foundry writes a table of them; the compiler gives each source's index. */
function pathsIn(whole: JsonObject, output: JsonObject): readonly (readonly [number, string])[] {
  const table = entriesOf(whole.source_id_to_path)
  if (table.length > 0) return table.map(([id, name]) => [Number(id), text(name)])
  return entriesOf(output.sources).map(([name, unit]) => [Number(member(unit, 'id')), name])
}

/** @param contract of the compiler's output */
export function outputOf(contract: unknown): CompilerOutput {
  const { metadata, storageLayout, evm } = isObject(contract) ? contract : {}
  const [bytecode, deployedBytecode] = [member(evm, 'bytecode'), member(evm, 'deployedBytecode')]
  return { metadata, bytecode, deployedBytecode, storageLayout }
}

/** In an artifact of Foundry or Truffle. Truffle has codes as hex, and what belongs to them beside them. */
export function outputIn(file: string): CompilerOutput {
  const artifact = jsonIn(file)
  const { metadata, rawMetadata, bytecode, deployedBytecode, storageLayout } = artifact
  const { sourceMap, deployedSourceMap, immutableReferences } = artifact
  const runtime = { object: deployedBytecode, sourceMap: deployedSourceMap, immutableReferences }
  return {
    metadata: rawMetadata ?? metadata,
    bytecode: isObject(bytecode) ? bytecode : { object: bytecode, sourceMap },
    deployedBytecode: isObject(deployedBytecode) ? deployedBytecode : runtime,
    storageLayout,
  }
}

export function mapsOf({ bytecode, deployedBytecode, storageLayout }: CompilerOutput): Maps {
  return {
    creationMap: text(member(bytecode, 'sourceMap')),
    runtimeMap: text(member(deployedBytecode, 'sourceMap')),
    layout: storageLayout,
  }
}

/** The compiler writes metadata as text; Foundry parses it. */
export function metadataIn(value: unknown): JsonObject | undefined {
  const read: unknown = typeof value === 'string' && value !== '' ? JSON.parse(value) : value
  return isObject(read) && isObject(read.sources) ? read : undefined
}

/** @param metadata the compiler's */
export function hashesIn(metadata: unknown): SourceHashes {
  const sources = entriesOf(member(metadata, 'sources'))
  return sources.length === 0
    ? undefined
    : new Map(sources.map(([name, source]) => [name, text(member(source, 'keccak256'))]))
}

export function isOptimizedBy(settings: unknown): boolean {
  const isEnabled = member(settings, 'optimizer', 'enabled') === true
  return isEnabled || member(settings, 'viaIR') === true
}

export function jsonIn(file: string): JsonObject {
  if (statSync(file).size > LARGEST_BUILD) throw new Error(`${file} is too large`)
  const json: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return isObject(json) ? json : {}
}
