// Summaries of artifacts, small enough to keep thousands.
import type { CodeShape } from '../code/shape.ts'

const KINDS = ['function', 'error', 'event', 'constructor', 'fallback', 'receive'] as const

export interface AbiItem {
  readonly kind: (typeof KINDS)[number]
  readonly name: string
  /** `transfer(address,uint256)` */
  readonly signature: string
  /** Selector, or an event's first topic; empty for members without one. */
  readonly key: string
  readonly isPayable: boolean
  /** The compiler's item without unused members. */
  readonly json: string
}

export function isAbiKind(type: unknown): type is AbiItem['kind'] {
  return (KINDS as readonly unknown[]).includes(type)
}

export interface ContractSummary {
  readonly name: string
  /** Source path as given to the compiler; empty if unknown. */
  readonly source: string
  readonly format: 'foundry' | 'hardhat2' | 'hardhat3' | 'truffle' | 'compiler' | 'abi'
  /** Index in source maps, if the artifact has it. */
  readonly sourceId: number | undefined
  readonly abi: readonly AbiItem[]
  /** Undefined for an interface or abstract contract. */
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
  readonly files: readonly ReadFile[]
  readonly skipped: readonly SkippedFile[]
}

export interface ReadOrder {
  readonly files: readonly string[]
  /** Stamps of known files, which are not read again. */
  readonly known: Readonly<Record<string, string>>
}

export const END = 'end'
