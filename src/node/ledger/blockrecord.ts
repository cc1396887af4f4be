// A block with its results, and consecutive blocks kept as one.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { memoizeByIdentity } from '../../core/lrucache.ts'
import type { Outcome, Signers } from '../../evm/executor.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import type { Log, Receipt } from '../../protocol/blocks/receipt.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { World } from '../../state/world.ts'

export interface ExecutedTransaction extends Pick<Outcome, 'output' | 'failure' | 'consoleLines'> {
  readonly transaction: Transaction
  readonly receipt: Receipt
  /** The run had one frame only. False or undefined where that is not known. */
  readonly isAlone?: boolean | undefined
}

/** `executed[i]` belongs to `block.transactions[i]`. Members may be getters, which a spread loses. */
export interface BlockRecord {
  readonly block: Block
  readonly executed: readonly ExecutedTransaction[]
  /** The world after the block. Throws `NOT_FOUND` where it is not known. */
  readonly world: World
  readonly isStateless?: boolean
  /** The block came from a dump; other rules may have made it. */
  readonly isLoaded?: boolean
  /** Up to and including this block, uncles included. */
  readonly totalDifficulty: bigint
  /** The value of PREVRANDAO where it is not the header's `mixHash`, which a proof of work replaces later. */
  readonly prevRandao?: Hash | undefined
  /** Impersonated signatures while the block ran. */
  readonly signers?: Signers | undefined
}

/** What logs need of a `BlockRecord`. */
export interface LoggedBlock {
  readonly block: LogBlock
  readonly executed: readonly LoggedTransaction[]
}

interface LoggedTransaction {
  readonly transaction: Pick<Transaction, 'hash'>
  readonly receipt: { readonly logs: readonly Log[] }
}

/** What clients see of a log's block. */
export interface LogBlock extends Pick<Block, 'hash'> {
  readonly header: Pick<Header, 'number' | 'timestamp'>
}

/** Logs of the block before those of the transaction at `index`. */
export function logsBefore({ executed }: Pick<BlockRecord, 'executed'>, index: number): number {
  return index === 0 ? 0 : logCounts(executed)[index]!
}

const logCounts = memoizeByIdentity((executed: readonly ExecutedTransaction[]) => {
  let count = 0
  return executed.map(({ receipt: { logs } }) => {
    count += logs.length
    return count - logs.length
  })
})

/** Consecutive blocks, counted from 0, each made on read. Two reads of a block may give different objects. */
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

/** What reading the world after a block from a dump without it throws. */
export function noWorldOf({ header, hash }: Block): DevchainError {
  const message = `state after block ${header.number} (${hash}) not found: the block was loaded from a dump without it (a dump has the state of the newest block, and those of older ones if it was made with historical states)`
  return new DevchainError('NOT_FOUND', message, undefined, { stateOf: header.number })
}

/** Wei above the base fee, for the block's miner. */
export function tipsOf(
  executed: readonly ExecutedTransaction[],
  { baseFeePerGas = 0n }: Header,
): bigint {
  return executed.reduce(
    (sum, { receipt }) => sum + receipt.gasUsed * (receipt.effectiveGasPrice - baseFeePerGas),
    0n,
  )
}
