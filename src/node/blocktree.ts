// The blocks of a chain: its canonical line, and what is known by hash.
import type { Hash } from '../core/hex.ts'
import { emptyList, emptyMap, type PersistentList, type PersistentMap } from '../core/persistent.ts'
import type { ConsoleLine, Failure } from '../evm/executor.ts'
import type { Block } from '../protocol/block.ts'
import type { Receipt } from '../protocol/receipt.ts'
import type { Transaction } from '../protocol/transaction.ts'
import type { World } from '../state/world.ts'

/** A transaction in a block, with all that came of it. */
export interface ExecutedTransaction {
  readonly transaction: Transaction
  readonly receipt: Receipt
  /** Return data, or revert data. */
  readonly output: Uint8Array
  readonly failure: Failure | undefined
  readonly consoleLines: readonly ConsoleLine[]
}

/** A block with what came of it. `executed[i]` belongs to `block.transactions[i]`. */
export interface BlockRecord {
  readonly block: Block
  readonly executed: readonly ExecutedTransaction[]
  /** All accounts after the block. */
  readonly world: World
  /** Difficulty of all blocks up to and including this one, uncles included. */
  readonly totalDifficulty: bigint
}

/** Where a transaction stands in the canonical chain. */
export interface TransactionPlace {
  readonly record: BlockRecord
  readonly index: number
}

/** The canonical chain, and every known block and canonical transaction by hash. */
export interface BlockTree {
  /** `canonical.at(n)` is block n. Never empty: block 0 is the genesis. */
  readonly canonical: PersistentList<BlockRecord>
  readonly byHash: PersistentMap<Hash, BlockRecord>
  readonly places: PersistentMap<Hash, TransactionPlace>
}

/** What happened to the canonical chain between two states. */
export interface HeadChange {
  /** Abandoned blocks, newest first. */
  readonly removed: readonly BlockRecord[]
  /** New blocks, oldest first. */
  readonly added: readonly BlockRecord[]
}

/** A tree of one block. */
export function treeFrom(genesis: BlockRecord): BlockTree {
  return appendBlock({ canonical: emptyList(), byHash: emptyMap(), places: emptyMap() }, genesis)
}

/** The newest canonical block. */
export function headOf(tree: BlockTree): BlockRecord {
  return tree.canonical.at(tree.canonical.length - 1)!
}

/** The canonical block of a number; undefined beyond the head. */
export function blockByNumber(tree: BlockTree, number: bigint): BlockRecord | undefined {
  if (number < 0n || number >= BigInt(tree.canonical.length)) return undefined
  return tree.canonical.at(Number(number))
}

/** The block of a hash, on whatever branch. */
export function blockByHash(tree: BlockTree, hash: Hash): BlockRecord | undefined {
  return tree.byHash.get(hash)
}

/** True when the block is part of the chain that ends at the head. */
export function isCanonical(tree: BlockTree, { block }: BlockRecord): boolean {
  return blockByNumber(tree, block.header.number)?.block.hash === block.hash
}

/** The canonical block that a transaction is in; undefined when it is in none. */
export function transactionPlace(tree: BlockTree, hash: Hash): TransactionPlace | undefined {
  return tree.places.get(hash)
}

/** The tree with `record`, a child of the head, as its head. */
export function appendBlock(tree: BlockTree, record: BlockRecord): BlockTree {
  let places = tree.places
  record.block.transactions.forEach(({ hash }, index) => {
    places = places.set(hash, { record, index })
  })
  return {
    canonical: tree.canonical.push(record),
    byHash: tree.byHash.set(record.block.hash, record),
    places,
  }
}

/** The tree with block `number` as its head. The blocks after it stay known by hash, on a branch of their own. */
export function truncateTo(tree: BlockTree, number: bigint): BlockTree {
  const length = Number(number) + 1
  let places = tree.places
  for (const { block } of tree.canonical.values(length)) {
    for (const { hash } of block.transactions) places = places.delete(hash)
  }
  return { canonical: tree.canonical.truncate(length), byHash: tree.byHash, places }
}

/** How the canonical chain of `before` became that of `after`. Takes as long as the blocks that changed. */
export function headChange(before: BlockTree, after: BlockTree): HeadChange {
  if (before.canonical === after.canonical) return { removed: [], added: [] }
  let common = Math.min(before.canonical.length, after.canonical.length)
  while (common > 0 && !isSameAt(before, after, common - 1)) common -= 1
  const removed = [...before.canonical.values(common)].reverse()
  return { removed, added: [...after.canonical.values(common)] }
}

function isSameAt(before: BlockTree, after: BlockTree, index: number): boolean {
  // by reference: two runs may seal one hash twice, and their blocks are then not the same event
  return before.canonical.at(index) === after.canonical.at(index)
}
