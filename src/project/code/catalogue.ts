// The known contracts, looked up by code, selector or name.
import path from 'node:path'
import { getOrMake, memoizeByIdentity } from '../../core/lrucache.ts'
import type { AbiItem, ContractSummary, ReadFile } from '../reading/summary.ts'
import { selectorsIn } from './selectors.ts'
import {
  type CodeShape,
  fitsProbes,
  hashOf,
  maskedMetadata,
  WORD_LENGTH,
  withoutHoles,
  withoutMetadata,
} from './shape.ts'

export interface Contract extends ContractSummary {
  readonly file: string
  /** Of the file as read; empty for artifacts from RPC methods. */
  readonly stamp: string
  /** Counts files as they are read: the latest compilation has the highest. */
  readonly age: number
}

export interface Match {
  readonly contract: Contract
  /** True if the code differs from the compiled code, or several contracts share it. */
  readonly isGuess: boolean
  /** True if the code is the compiled code, even of several contracts. */
  readonly isSame: boolean
}

export interface Alike {
  readonly contracts: readonly Contract[]
  /** True if the metadata hashes match too: the sources are identical to the byte. */
  readonly isExact: boolean
}

export interface CreationMatch extends Match {
  readonly argumentsAt: number
}

/** Further files are left out, with a warning. */
export const MOST_CONTRACTS = 50_000

const LEAST_FUNCTIONS = 3

/**
 * Minimum share of the code's selectors in a guessed ABI. A contract that extends an abstract contract or interface has
 * more functions, and is another contract.
 */
const LEAST_SHARE = 0.75
const ABSTRACT_SHARE = 0.9

type KnownFile = Pick<ReadFile, 'stamp'> & { readonly contracts: readonly Contract[] }

export class Catalogue {
  readonly #files = new Map<string, KnownFile>()
  #age = 0
  #version = 0
  #count = 0
  /** Rebuilt when the contracts change. */
  #lookups:
    | (ReturnType<typeof lookupsOf> & { runtime: (code: Uint8Array) => Match | null })
    | undefined

  get version(): number {
    return this.#version
  }

  get isEmpty(): boolean {
    return this.#files.size === 0
  }

  get stamps(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#files].map(([file, { stamp }]) => [file, stamp]))
  }

  /** Counts contracts with code in some files and folders; if none has code, all of them. */
  count(...places: readonly string[]): number {
    const contracts = this.contracts.filter(({ file }) => places.some((each) => isIn(each, file)))
    const deployable = contracts.filter(({ runtime, creation }) => runtime ?? creation)
    return deployable.length > 0 ? deployable.length : contracts.length
  }

  /** Identifies contracts of a file or folder, by path and name: a hash of code without metadata, and ABI. */
  marks(place: string): ReadonlyMap<string, string> {
    const contracts = this.contracts.filter(({ file }) => isIn(place, file))
    return new Map(
      contracts.map(({ name, source, creation, runtime, abi }) => {
        const items = abi.map(({ kind, signature }) => `${kind} ${signature}`)
        return [`${source}:${name}`, [creation?.masked, runtime?.masked, ...items].join()]
      }),
    )
  }

  filesIn(place: string): readonly string[] {
    return [...this.#files.keys()].filter((file) => isIn(place, file))
  }

  /**
   * Adds what one reader read.
   * @param items ABI members of its earlier files by their JSON, so that contracts share them; new ones are added
   * @returns false if there are too many contracts
   */
  add(files: readonly ReadFile[], items: Map<string, AbiItem> = new Map()): boolean {
    let fits = true
    for (const file of files) fits = this.#addFile(file, items) && fits
    return fits
  }

  remove(files: Iterable<string>): void {
    for (const file of files) {
      this.#count -= this.#files.get(file)?.contracts.length ?? 0
      this.#files.delete(file)
    }
    this.#changed()
  }

  #addFile({ path, stamp, contracts }: ReadFile, items: Map<string, AbiItem>): boolean {
    const former = this.#files.get(path)?.contracts.length ?? 0
    if (this.#count - former + contracts.length > MOST_CONTRACTS) return false
    this.#count += contracts.length - former
    this.#age += 1
    const age = this.#age
    const made = contracts.map((summary) => {
      const abi = summary.abi.map((item) => getOrMake(items, item.json, () => item))
      return { ...summary, file: path, stamp, age, abi }
    })
    this.#files.set(path, { stamp, contracts: made })
    this.#changed()
    return true
  }

  #changed(): void {
    this.#version += 1
    this.#lookups = undefined
  }

  get #all() {
    this.#lookups ??= {
      ...lookupsOf(this.contracts),
      runtime: memoizeByIdentity((code) => chosen(this.alike(code)) ?? this.#guess(code) ?? null),
    }
    return this.#lookups
  }

  runtime(code: Uint8Array): Match | undefined {
    return this.#all.runtime(code) ?? undefined
  }

  alike(code: Uint8Array): Alike | undefined {
    const { runtimes, bodies } = this.#all
    const found = alike(runtimes.get(code.length) ?? [], code, ({ runtime }) => runtime)
    if (found !== undefined) return found
    const body = withoutMetadata(code)
    const contracts = body === undefined ? [] : withBody(bodies.get(body.length) ?? [], body)
    if (contracts.length > 0) return { contracts: newestFirst(contracts), isExact: false }
    return this.#withImmutablesBehind(code)
  }

  /** Vyper appends immutables to the code. */
  #withImmutablesBehind(code: Uint8Array): Alike | undefined {
    for (const [length, contracts] of this.#all.runtimes) {
      if (length >= code.length || (code.length - length) % WORD_LENGTH !== 0) continue
      const vyper = contracts.filter(({ source }) => source.endsWith('.vy'))
      const found = alike(vyper, code.subarray(0, length), ({ runtime }) => runtime)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** The contract a creation deploys: its code, then its arguments. */
  creation(input: Uint8Array): CreationMatch | undefined {
    let longest: CreationMatch | undefined
    for (const [length, contracts] of this.#all.creations) {
      if (length > input.length || (longest && length <= longest.argumentsAt)) continue
      const code = input.subarray(0, length)
      const match = chosen(alike(contracts, code, ({ creation }) => creation))
      if (match !== undefined) longest = { ...match, argumentsAt: length }
    }
    return longest
  }

  /** An item of any contract, by selector or topic: for code without an artifact. */
  item(kind: AbiItem['kind'], key: string): AbiItem | undefined {
    return this.#all.items.get(`${kind} ${key}`)
  }

  get contracts(): readonly Contract[] {
    return [...this.#files.values()].flatMap(({ contracts }) => contracts)
  }

  /** Includes the path if several contracts have the name. */
  nameOf({ name, source, file }: Contract): string {
    const others = this.#all.names.get(name) ?? []
    const isUnique = others.every(
      (each) => each.source === source && (source !== '' || each.file === file),
    )
    return isUnique ? name : `${name} (${source || file})`
  }

  /** The contract whose functions the code seems to have, if no compiled code matches. */
  #guess(code: Uint8Array): Match | undefined {
    const present = selectorsIn(code)
    const { bySelector } = this.#all
    const candidates = new Set([...present].flatMap((each) => bySelector.get(each) ?? []))
    let likeliest: Contract | undefined
    for (const contract of candidates) {
      const selectors = functionsOf(contract)
      const least = present.size * (isAbstract(contract) ? ABSTRACT_SHARE : LEAST_SHARE)
      if (selectors.length < Math.max(LEAST_FUNCTIONS, least)) continue
      if (likeliest !== undefined && !isLikelier(contract, likeliest)) continue
      if (selectors.every((each) => present.has(each))) likeliest = contract
    }
    return likeliest && { contract: likeliest, isGuess: true, isSame: false }
  }
}

function isIn(place: string, file: string): boolean {
  return file === place || file.startsWith(place + path.sep)
}

function lookupsOf(contracts: readonly Contract[]) {
  const runtimes = new Map<number, Contract[]>()
  // runtimes by their length without metadata
  const bodies = new Map<number, Contract[]>()
  const creations = new Map<number, Contract[]>()
  const bySelector = new Map<string, Contract[]>()
  const names = new Map<string, Contract[]>()
  const items = new Map<string, AbiItem>()
  for (const contract of contracts) {
    const { runtime, creation, name, abi } = contract
    put(names, name, contract)
    if (runtime !== undefined) put(runtimes, runtime.length, contract)
    if (runtime?.body !== undefined) put(bodies, runtime.body.length, contract)
    if (creation !== undefined) put(creations, creation.length, contract)
    for (const selector of functionsOf(contract)) put(bySelector, selector, contract)
    for (const item of abi) if (item.key !== '') items.set(`${item.kind} ${item.key}`, item)
  }
  return { runtimes, bodies, creations, bySelector, names, items }
}

function put<K>(map: Map<K, Contract[]>, key: K, contract: Contract): void {
  getOrMake(map, key, () => []).push(contract)
}

/** True if a tool compiled it to no code; a plain ABI may belong to anything. */
function isAbstract({ runtime, format }: Contract): boolean {
  return runtime === undefined && format !== 'abi'
}

/** Prefers the guess with most functions, then one with code, then the newest. */
function isLikelier(contract: Contract, other: Contract): boolean {
  const more = functionsOf(contract).length - functionsOf(other).length
  if (more !== 0) return more > 0
  if (isAbstract(contract) !== isAbstract(other)) return isAbstract(other)
  return contract.age > other.age
}

function functionsOf({ abi }: Contract): readonly string[] {
  return abi.filter(({ kind }) => kind === 'function').map(({ key }) => key)
}

/** Matches by the code's hash, else by its hash without metadata hashes. */
function alike(
  contracts: readonly Contract[],
  code: Uint8Array,
  shapeIn: (contract: Contract) => CodeShape | undefined,
): Alike | undefined {
  const exact: Contract[] = []
  const masked: Contract[] = []
  const hashes = new Map<string, ReturnType<typeof hashesOf>>()
  for (const contract of contracts) {
    const shape = shapeIn(contract)
    if (shape === undefined || !fitsProbes(code, shape.probes)) continue
    const key = shape.holes.map(({ start, length }) => `${start}+${length}`).join()
    const hashed = getOrMake(hashes, key, () => hashesOf(code, shape.holes))
    if (hashed.exact === shape.exact) exact.push(contract)
    else if (hashed.masked === shape.masked) masked.push(contract)
  }
  if (exact.length > 0) return { contracts: newestFirst(exact), isExact: true }
  return masked.length > 0 ? { contracts: newestFirst(masked), isExact: false } : undefined
}

function newestFirst(contracts: readonly Contract[]): readonly Contract[] {
  return contracts.toSorted((a, b) => b.age - a.age)
}

function hashesOf(code: Uint8Array, holes: CodeShape['holes']) {
  const filled = withoutHoles(code, holes)
  return { exact: hashOf(filled), masked: hashOf(maskedMetadata(filled)) }
}

function withBody(contracts: readonly Contract[], body: Uint8Array): readonly Contract[] {
  return contracts.filter(
    ({ runtime }) =>
      runtime?.body !== undefined && hashesOf(body, runtime.holes).masked === runtime.body.hash,
  )
}

/** The newest contract with the code; a guess if different contracts share it. */
function chosen(found: Alike | undefined): Match | undefined {
  const contract = found?.contracts[0]
  if (contract === undefined) return undefined
  const isGuess = found?.contracts.some((each) => each.name !== contract.name) === true
  return { contract, isGuess, isSame: true }
}
