// Blocks in a row that are kept as one, and made when they are read.
import type { Hash } from '../../core/hex.ts'
import type { BlockRecord } from './blockrecord.ts'

/** Blocks of a run, counted from 0. What is read of one block twice need not be the same object. */
export interface BlockRun {
  /** May grow. */
  readonly count: number
  hashAt(index: number): Hash
  indexOf(hash: Hash): number | undefined
  recordAt(index: number): BlockRecord
  /** Where a transaction is; undefined for one of a block whose transactions nobody has read yet. */
  placeOf?(hash: Hash): { readonly record: BlockRecord; readonly index: number } | undefined
}
