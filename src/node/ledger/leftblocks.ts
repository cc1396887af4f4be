// Blocks of all branches that the chain still knows: those that reorgs left are in its tree, those of reverts in the states they left.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { BlockRecord } from './blockrecord.ts'
import {
  type BlockTree,
  blockByHash,
  hashByNumber,
  headChange,
  isCanonical,
  SIDE_LIMIT,
  singleByHash,
  type TransactionPlace,
  transactionPlace,
} from './blocktree.ts'
import type { ChainState } from './chainstate.ts'

type Branches = Pick<ChainState, 'tree' | 'left'>

/** Blocks of branches off the chain, newest first. Those of reverts come before those of reorgs. */
export function leftBlocks({ tree, left }: Branches): readonly BlockRecord[] {
  const byHash = new Map<Hash, BlockRecord>()
  for (const branch of [...left.map((each) => each.tree), tree]) {
    const records = branch === tree ? [...tree.side.records].reverse() : goneOf(branch, tree)
    for (const record of records) byHash.set(record.block.hash, record)
  }
  return [...byHash.values()].filter((record) => !isCanonical(tree, record))
}

/** Newest first; at most as many as a reorg leaves, as a later revert may go back any number of blocks. */
function goneOf(branch: BlockTree, tree: BlockTree): readonly BlockRecord[] {
  const { removed } = headChange(branch, tree)
  const length = Math.min(removed.length, SIDE_LIMIT)
  return Array.from({ length }, (_, index) => removed.at(index)!)
}

/** The block with this hash, on any branch. */
export function knownBlock({ tree, left }: Branches, hash: Hash): BlockRecord | undefined {
  const record = singleByHash(tree, hash)
  if (record !== undefined) return record
  // the runs last: those of a forked network may have to be fetched
  for (const find of [singleByHash, blockByHash]) {
    for (const each of left) {
      const gone = find(each.tree, hash)
      if (gone !== undefined) return gone
    }
  }
  return blockByHash(tree, hash)
}

/** As it was before the block: on other branches its accounts may have been set otherwise since. */
export function knownParent(
  state: Branches,
  { block: { hash, header } }: BlockRecord,
): BlockRecord | undefined {
  const trees = [state.tree, ...state.left.map(({ tree }) => tree)]
  const own = trees.find((tree) => singleByHash(tree, hash) !== undefined)
  return (own && blockByHash(own, header.parentHash)) ?? knownBlock(state, header.parentHash)
}

/** @throws {DevchainError} `NOT_FOUND` if no block has the transaction */
export function minedPlace(state: Branches, hash: Hash): TransactionPlace {
  const place = knownPlace(state, hash)
  if (place !== undefined) return place
  const message = `transaction ${hash} not found: it is in no block of the chain`
  throw new DevchainError('NOT_FOUND', message, undefined, { transaction: hash })
}

/** Where a transaction is on the chain, or else on a branch that was left. */
export function knownPlace(state: Branches, hash: Hash): TransactionPlace | undefined {
  const place = transactionPlace(state.tree, hash)
  if (place !== undefined) return place
  for (const each of state.left) {
    const gone = transactionPlace(each.tree, hash)
    if (gone !== undefined) return gone
  }
  for (const record of state.tree.side.records) {
    const index = record.block.transactions.findIndex((each) => each.hash === hash)
    if (index >= 0) return { record, index }
  }
  return undefined
}

/** The hash of an ancestor by number; the block itself need not be canonical. */
export function ancestorHash(
  state: Branches,
  record: BlockRecord,
  asked: bigint,
): Hash | undefined {
  let ancestor: BlockRecord | undefined = record
  if (asked >= record.block.header.number) return undefined
  while (ancestor !== undefined && ancestor.block.header.number > asked) {
    // a pending block and one on a branch meet the canonical chain at some parent
    if (isCanonical(state.tree, ancestor)) return hashByNumber(state.tree, asked)
    ancestor = knownBlock(state, ancestor.block.header.parentHash)
  }
  return ancestor?.block.hash
}
