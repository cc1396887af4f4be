// What the reader of artifacts hands on: little enough to be kept for thousands of contracts.
import type { CodeShape } from '../code/shape.ts'

/** A member of an ABI that can be looked up. */
export interface AbiItem {
  readonly kind: 'function' | 'error' | 'event' | 'constructor' | 'fallback' | 'receive'
  readonly name: string
  /** `transfer(address,uint256)` */
  readonly signature: string
  /** Selector, or of an event its first topic; empty for what is not called by one. */
  readonly key: string
  readonly isPayable: boolean
  /** The item as the compiler wrote it, without what nobody asks for. */
  readonly json: string
}

/** Tools whose artifacts are read. */
export type Format = 'foundry' | 'hardhat2' | 'hardhat3' | 'truffle' | 'compiler' | 'abi'

export interface ContractSummary {
  readonly name: string
  /** Path of its source as the compiler was told it; empty where the artifact does not say. */
  readonly source: string
  readonly format: Format
  /** Index of its source in source maps, where the artifact says it. */
  readonly sourceId: number | undefined
  /** The ABI: indexes into the items that the reader handed on. */
  readonly abi: readonly number[]
  /** Undefined for an interface or an abstract contract. */
  readonly creation: CodeShape | undefined
  readonly runtime: CodeShape | undefined
}

export interface ReadFile {
  readonly path: string
  readonly stamp: string
  readonly contracts: readonly ContractSummary[]
}

export interface SkippedFile {
  readonly path: string
  readonly why: string
}

export interface ReaderNews {
  readonly items: readonly AbiItem[]
  readonly files: readonly ReadFile[]
  readonly skipped: readonly SkippedFile[]
}

export interface ReadOrder {
  readonly files: readonly string[]
  /** Stamps of files that are known: they are not read again. */
  readonly known: Readonly<Record<string, string>>
}

/** The last message of a reader that runs in a thread of its own. */
export const END = 'end'
