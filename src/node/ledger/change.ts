// The result of a command, and what listeners get.
import type { DevchainError } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { Executor } from '../../evm/executor.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { HeadChange } from './blocktree.ts'
import type { ChainState } from './chainstate.ts'

export interface DroppedTransaction {
  readonly transaction: Transaction
  readonly error: DevchainError
}

export interface Change<T> {
  readonly state: ChainState
  readonly value: T
  readonly dropped?: readonly DroppedTransaction[] | undefined
}

export type CommandOf<T> = (state: ChainState, executor: Executor) => MaybePromise<Change<T>>

export interface StateChange {
  readonly before: ChainState
  readonly after: ChainState
  readonly head: HeadChange
  readonly dropped: readonly DroppedTransaction[]
  /** The peer that sent the blocks; undefined for local changes. */
  readonly peer?: string | undefined
}
