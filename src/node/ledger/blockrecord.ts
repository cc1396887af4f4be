// A block with what came of it.
import type { Hash } from '../../core/hex.ts'
import type { ConsoleLine, Failure, Signers } from '../../evm/executor.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import type { Receipt } from '../../protocol/blocks/receipt.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { World } from '../../state/world.ts'

export interface ExecutedTransaction {
  readonly transaction: Transaction
  readonly receipt: Receipt
  /** Return data, or revert data. */
  readonly output: Uint8Array
  readonly failure: Failure | undefined
  readonly consoleLines: readonly ConsoleLine[]
  /** True: its run had no frame but the outermost. Left out or false where that is not known. */
  readonly isAlone?: boolean
}

/**
 * A block with what came of it. `executed[i]` belongs to `block.transactions[i]`. Members may be made when they are asked
 * for: a spread has none of these.
 */
export interface BlockRecord {
  readonly block: Block
  readonly executed: readonly ExecutedTransaction[]
  /** All accounts after the block. Reading it throws `NOT_FOUND` where they are not known. */
  readonly world: World
  readonly isStateless?: boolean
  /** True: the block came from a dump, and may have been made by other rules than those here. */
  readonly isLoaded?: boolean
  /** Difficulty of all blocks up to and including this one, uncles included. */
  readonly totalDifficulty: bigint
  /** What PREVRANDAO gave, where that is not the header's `mixHash`: work for the block puts its proof there afterwards. */
  readonly prevRandao?: Hash | undefined
  /** Signatures that counted as somebody's while the block ran; undefined: none did. */
  readonly signers?: Signers | undefined
}

/** Wei above the base fee: what a block's miner gets. */
export function tipsOf(
  executed: readonly ExecutedTransaction[],
  { baseFeePerGas = 0n }: Header,
): bigint {
  return executed.reduce(
    (sum, { receipt }) => sum + receipt.gasUsed * (receipt.effectiveGasPrice - baseFeePerGas),
    0n,
  )
}
