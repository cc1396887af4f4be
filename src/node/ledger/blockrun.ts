// Consecutive blocks kept as one, each made on read.
import type { Hash } from '../../core/hex.ts'
import type { BlockRecord } from './blockrecord.ts'

/** Blocks counted from 0. Two reads of a block may give different objects. */
export interface BlockRun {
  readonly count: number
  /** The name of the fork of whose network they are; else undefined. */
  readonly fork?: string
  hashAt(index: number): Hash
  indexOf(hash: Hash): number | undefined
  recordAt(index: number): BlockRecord
  /** Undefined for a block whose transactions were never read. */
  placeOf?(hash: Hash): { readonly record: BlockRecord; readonly index: number } | undefined
}
