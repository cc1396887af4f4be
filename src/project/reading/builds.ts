// Build information: what the compiler was given and what it answered, as far as stacks and layouts are told from it.
import { readFileSync, statSync } from 'node:fs'
import { hashOf } from '../code/shape.ts'
import { entriesOf, isObject, type Loose, member, text } from './formats.ts'

export interface Build {
  readonly texts: ReadonlyMap<string, string>
  /** Paths of sources by the indexes that source maps have for them. */
  readonly paths: ReadonlyMap<number, string>
  /** By path and name: `src/Vault.sol:Vault`. */
  readonly maps: ReadonlyMap<string, BuiltMaps>
  readonly isOptimized: boolean
}

export interface Maps {
  readonly creationMap: string
  readonly runtimeMap: string
  /** Of storage; undefined where the compiler was not asked for it. */
  readonly layout?: unknown
}

/** What the compiler said of a contract. */
export interface BuiltMaps extends Maps {
  /** Of its codes: an artifact with others is of another compilation. */
  readonly digest: string
}

/** Files of one compilation: one twice where input and output are in the same. */
export type BuildFiles = readonly [input: string, output: string]

export interface BuildOrder {
  readonly build: BuildFiles
}

/** Bytes of build information that is read. */
const LARGEST_BUILD = 150_000_000

export function readBuild([inputFile, outputFile]: BuildFiles): Build {
  const whole = jsonIn(inputFile)
  const other = inputFile === outputFile ? whole : jsonIn(outputFile)
  return buildOf(whole, other)
}

/** @param whole that has the input @param other that has the output, or is it */
export function buildOf(whole: Loose, other: Loose): Build {
  const { input } = whole
  const output = isObject(other.output) ? other.output : other
  const texts = entriesOf(member(input, 'sources')).flatMap(([name, source]) => {
    const content = member(source, 'content')
    return typeof content === 'string' ? [[name, content] as const] : []
  })
  const maps = entriesOf(member(output, 'contracts')).flatMap(([source, unit]) =>
    entriesOf(unit).map(([name, contract]) => {
      const layout = member(contract, 'storageLayout')
      const evm = member(contract, 'evm')
      const [creation, runtime] = [member(evm, 'bytecode'), member(evm, 'deployedBytecode')]
      const digest = digestOf(member(creation, 'object'), member(runtime, 'object'))
      return [`${source}:${name}`, { ...mapsIn(evm), layout, digest }] as const
    }),
  )
  return {
    texts: new Map(texts),
    paths: new Map(pathsIn(whole, output)),
    maps: new Map(maps),
    isOptimized: isOptimizedBy(member(input, 'settings')),
  }
}

/** @param creation hex, as an artifact or the compiler has it */
export function digestOf(creation: unknown, runtime: unknown): string {
  const plain = [creation, runtime].map((code) => text(code).replace(/^0x/, ''))
  return hashOf(Buffer.from(plain.join()))
}

/** Foundry has a table of them; the compiler tells the index of each source. */
function pathsIn(whole: Loose, output: Loose): readonly (readonly [number, string])[] {
  const table = entriesOf(whole.source_id_to_path)
  if (table.length > 0) return table.map(([id, name]) => [Number(id), text(name)])
  return entriesOf(output.sources).map(([name, unit]) => [Number(member(unit, 'id')), name])
}

export function mapsIn(code: unknown): Maps {
  return {
    creationMap: text(member(member(code, 'bytecode'), 'sourceMap')),
    runtimeMap: text(member(member(code, 'deployedBytecode'), 'sourceMap')),
  }
}

export function isOptimizedBy(settings: unknown): boolean {
  const isEnabled = member(member(settings, 'optimizer'), 'enabled') === true
  return isEnabled || member(settings, 'viaIR') === true
}

export function jsonIn(file: string): Loose {
  if (statSync(file).size > LARGEST_BUILD) throw new Error(`${file} is too large`)
  const json: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return isObject(json) ? json : {}
}
