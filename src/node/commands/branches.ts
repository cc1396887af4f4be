// Goes on from blocks of any branch that the chain still knows, or runs them again.
import { invalidParams } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import { yielder } from '../../core/yield.ts'
import type { Executor } from '../../evm/executor.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import type { BlockRecord, ExecutedTransaction } from '../ledger/blockrecord.ts'
import {
  blockByHash,
  blockByNumber,
  blockNotFound,
  headOf,
  isCanonical,
  truncateTo,
  withHead,
} from '../ledger/blocktree.ts'
import type { ChainState, Settings } from '../ledger/chainstate.ts'
import type { Change } from '../ledger/change.ts'
import { isLateEnough } from '../ledger/clock.ts'
import { knownBlock } from '../ledger/leftblocks.ts'
import { withWorldReady } from '../ledger/packing/keptrecord.ts'
import { type BlockReference, numberOfTag } from '../ledger/references.ts'
import { mineThose } from '../mining/miner.ts'
import { onTree } from '../mining/reorganize.ts'

/** @throws {DevchainError} `NOT_FOUND` for an unknown block, `INVALID_PARAMS` for one that a fork does not own */
export function branchAt(state: ChainState, reference: BlockReference): ChainState {
  if (reference.kind === 'hash') return branchAtHash(state, reference.hash)
  // a branch of the pending block would have its transactions waiting, as one of the newest block has
  const number =
    reference.kind === 'number'
      ? reference.number
      : numberOfTag(state, reference.tag === 'pending' ? 'latest' : reference.tag)
  if (blockByNumber(state.tree, number) === undefined)
    throw blockNotFound(state.tree, `block 0x${number.toString(16)}`)
  return onTree(state, truncateTo(state.tree, number))
}

/** As `branchAt`, once the world after the block is there. @param reference undefined: the state as it is */
export function readyBranch(
  state: ChainState,
  reference: BlockReference | undefined,
): MaybePromise<ChainState> {
  if (reference === undefined) return state
  const branch = branchAt(state, reference)
  return whenThere(withWorldReady(headOf(branch.tree)), () => branch)
}

function branchAtHash(state: ChainState, hash: Hash): ChainState {
  for (const each of [state, ...state.left]) {
    const record = blockByHash(each.tree, hash)
    const tree = record && withHead(each.tree, record)
    if (tree !== undefined && headOf(tree).block.hash === hash) return onTree(each, tree)
  }
  throw blockNotFound(state.tree, `block ${hash}`)
}

export interface ReplayedTransaction {
  /** The block that it was in. */
  readonly was: BlockRecord
  readonly before: ExecutedTransaction
  /** Undefined if it may not be in the block any more. */
  readonly after: ExecutedTransaction | undefined
  /** Why not. */
  readonly refusal: string | undefined
}

/**
 * Runs the blocks of another branch again, up to the one with this hash, each with its time, miner, fees and randomness, on
 * the newest block. Transactions that may not be in their block any more are left out.
 * @throws {DevchainError} `NOT_FOUND` for an unknown block, `INVALID_PARAMS` for one of the chain itself
 */
export async function replayBranch(
  executor: Executor,
  state: ChainState,
  hash: Hash,
  now: number,
): Promise<Change<readonly ReplayedTransaction[]>> {
  const value: ReplayedTransaction[] = []
  const yieldIfDue = yielder()
  let current = state
  for (const was of branchTo(state, hash)) {
    const { header, transactions } = was.block
    const options = {
      now,
      timestamp: isLateEnough(current, header.timestamp) ? header.timestamp : undefined,
      difficulty: header.difficulty === 0n ? undefined : header.difficulty,
    }
    const settings = settingsOf(current.settings, header)
    const mined = await mineThose(executor, { ...current, settings }, transactions, options)
    current = mined.state
    const executed = new Map(
      headOf(current.tree).executed.map((each) => [each.transaction.hash, each]),
    )
    const refused = new Map(mined.dropped.map(({ transaction, error }) => [transaction, error]))
    for (const [index, transaction] of transactions.entries()) {
      const after = executed.get(transaction.hash)
      const refusal =
        after === undefined ? (refused.get(transaction)?.message ?? NO_ROOM) : undefined
      value.push({ was, before: was.executed[index]!, after, refusal })
    }
    await yieldIfDue()
  }
  return { state: { ...current, settings: state.settings }, value }
}

const NO_ROOM = 'the block has no room for it'

function settingsOf(settings: Settings, header: Header): Settings {
  return {
    ...settings,
    coinbase: header.miner,
    blockGasLimit: header.gasLimit,
    extraData: header.extraData,
    nextBaseFee: header.baseFeePerGas,
    nextPrevRandao: header.mixHash,
  }
}

/** The blocks of a branch off the chain, up to one of them, oldest first. */
function branchTo(state: ChainState, hash: Hash): readonly BlockRecord[] {
  const branch: BlockRecord[] = []
  let each = knownBlock(state, hash)
  while (each !== undefined && !isCanonical(state.tree, each)) {
    branch.push(each)
    each = knownBlock(state, each.block.header.parentHash)
  }
  if (each === undefined) throw blockNotFound(state.tree, `block ${hash}`)
  if (branch.length > 0) return branch.reverse()
  const message = `block ${hash} is part of the chain: go back before it, or replay it on a branch that begins before it`
  throw invalidParams(message)
}
