// The blocks of a chain: the canonical ones, the branches beside them, and which branch is the canonical one.

import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { emptyMap, type PersistentMap } from '../../core/persistent.ts'
import { hashHeader } from '../../protocol/blocks/header.ts'
import type { World } from '../../state/world.ts'
import type { BlockRecord, ExecutedTransaction } from './blockrecord.ts'
import type { BlockRun } from './blockrun.ts'
import { type BlockRange, CanonicalChain, NO_BLOCKS } from './canonicalchain.ts'

export interface TransactionPlace {
  readonly record: BlockRecord
  readonly index: number
}

/** Blocks that are known and not canonical, in the order in which they became so; at most `SIDE_LIMIT`. */
export interface SideBlocks {
  readonly records: readonly BlockRecord[]
  /** The highest of their numbers; -1n when there are none. */
  readonly highest: bigint
}

export interface BlockTree {
  /** `canonical.at(n)` is block n. Never empty: block 0 is the genesis. */
  readonly canonical: CanonicalChain
  /** But for those in runs of empty blocks: `blockByHash` knows all. */
  readonly byHash: PersistentMap<Hash, BlockRecord>
  readonly places: PersistentMap<Hash, TransactionPlace>
  readonly side: SideBlocks
  readonly network: NetworkPart | undefined
  /** How many blocks ever left the canonical chain. It makes those that take their place other blocks. */
  readonly abandoned: number
}

/** The blocks that a fork has of its network. */
export interface NetworkPart {
  readonly run: BlockRun
  readonly number: number
}

/** Blocks beside the canonical chain that are kept. The first seen is forgotten first. */
export const SIDE_LIMIT = 1024

/** An uncle's parent is one of so many blocks before the block that includes it (Yellow Paper, 11.1). */
export const UNCLE_GENERATIONS = 7

const NO_SIDE: SideBlocks = { records: [], highest: -1n }

export interface HeadChange {
  readonly removed: BlockRange
  readonly added: BlockRange
}

const NO_CHANGE: HeadChange = { removed: NO_BLOCKS, added: NO_BLOCKS }

export const emptyTree: BlockTree = {
  canonical: CanonicalChain.empty(),
  byHash: emptyMap(),
  places: emptyMap(),
  side: NO_SIDE,
  network: undefined,
  abandoned: 0,
}

export function treeFrom(genesis: BlockRecord): BlockTree {
  return appendBlock(emptyTree, genesis)
}

export function headOf(tree: BlockTree): BlockRecord {
  return tree.canonical.head!
}

export function blockByNumber(tree: BlockTree, number: bigint): BlockRecord | undefined {
  if (number < 0n || number >= BigInt(tree.canonical.length)) return undefined
  return tree.canonical.at(Number(number))
}

export function hashByNumber(tree: BlockTree, number: bigint): Hash | undefined {
  if (number < 0n || number >= BigInt(tree.canonical.length)) return undefined
  return tree.canonical.hashAt(Number(number))
}

/** The block of a hash, on whatever branch. */
export function blockByHash(tree: BlockTree, hash: Hash): BlockRecord | undefined {
  return tree.byHash.get(hash) ?? tree.canonical.findInRuns(hash)
}

export function isCanonical(tree: BlockTree, { block }: BlockRecord): boolean {
  return hashByNumber(tree, block.header.number) === block.hash
}

/** The hash of the ancestor with a number, which need not be canonical itself. */
export function ancestorHash(
  tree: BlockTree,
  record: BlockRecord,
  asked: bigint,
): Hash | undefined {
  let ancestor: BlockRecord | undefined = record
  if (asked >= record.block.header.number) return undefined
  while (ancestor !== undefined && ancestor.block.header.number > asked) {
    // a pending block and one on a branch meet the canonical chain at some parent
    if (isCanonical(tree, ancestor)) return hashByNumber(tree, asked)
    ancestor = blockByHash(tree, ancestor.block.header.parentHash)
  }
  return ancestor?.block.hash
}

export function executedAt({ record, index }: TransactionPlace): ExecutedTransaction {
  const executed = record.executed[index]
  if (executed === undefined) throw new Error(`block ${record.block.hash} has no index ${index}`)
  return executed
}

export function transactionPlace(tree: BlockTree, hash: Hash): TransactionPlace | undefined {
  return tree.places.get(hash) ?? tree.network?.run.placeOf?.(hash)
}

/** Numbers from `from` to before `to`, of blocks that may have transactions, those of a fork's network too. */
export function* filledToRead(
  tree: BlockTree,
  from: number,
  to: number,
): IterableIterator<BlockRecord> {
  const { canonical, network } = tree
  const own = network === undefined ? from : Math.max(from, network.number + 1)
  for (let number = from; number < Math.min(own, to, canonical.length); number++) {
    yield recordToRead(tree, canonical.at(number)!)
  }
  yield* canonical.filled(own, to)
}

const readOnes = new WeakMap<BlockRecord, BlockRecord>()

/**
 * A block as those who read it are given it. That which a fork goes on from has the transactions of its network, which are
 * fetched when they are read: commands, for which nothing of it is new, do without.
 */
export function recordToRead({ network }: BlockTree, record: BlockRecord): BlockRecord {
  const { block, totalDifficulty } = record
  if (network === undefined || block.header.number !== BigInt(network.number)) return record
  const { run, number } = network
  const known = readOnes.get(record)
  if (known !== undefined) return known
  const readOne: BlockRecord = {
    block: {
      ...block,
      get transactions() {
        return run.recordAt(number).block.transactions
      },
    },
    get executed() {
      return run.recordAt(number).executed
    },
    get world() {
      return record.world
    },
    isLoaded: true,
    totalDifficulty,
  }
  readOnes.set(record, readOne)
  return readOne
}

const sideTransactions = new WeakMap<SideBlocks, ReadonlySet<Hash>>()

export function isInSomeBlock({ places, side }: BlockTree, hash: Hash): boolean {
  if (places.has(hash)) return true
  if (side.records.length === 0) return false
  const known =
    sideTransactions.get(side) ??
    new Set(side.records.flatMap(({ block }) => block.transactions.map((each) => each.hash)))
  sideTransactions.set(side, known)
  return known.has(hash)
}

export function appendBlock(tree: BlockTree, record: BlockRecord): BlockTree {
  const { hash } = record.block
  const isOld = tree.side.records.length > 0 && tree.byHash.has(hash)
  return {
    canonical: tree.canonical.push(record),
    byHash: tree.byHash.set(hash, record),
    places: withPlaces(tree.places, record),
    network: tree.network,
    side: isOld ? sideOf(tree.side.records.filter(({ block }) => block.hash !== hash)) : tree.side,
    abandoned: tree.abandoned,
  }
}

export function withHeadWorld(tree: BlockTree, world: World): BlockTree {
  const { block, executed, totalDifficulty, prevRandao, signers } = headOf(tree)
  const record = { block, executed, world, totalDifficulty, prevRandao, signers }
  return {
    ...tree,
    canonical: tree.canonical.withHead(record),
    byHash: tree.byHash.set(block.hash, record),
    places: withPlaces(tree.places, record),
  }
}

function withPlaces(places: BlockTree['places'], record: BlockRecord): BlockTree['places'] {
  return record.block.transactions.reduce(
    (all, { hash }, index) => all.set(hash, { record, index }),
    places,
  )
}

/** `last` is the last of all blocks of a run. Where the chain ends with some of them, the others follow. */
export function appendRun(tree: BlockTree, run: BlockRun, last: BlockRecord): BlockTree {
  const canonical = tree.canonical.pushRun(run, last)
  // the block may have been known, beside the chain
  return { ...(tree.side.records.length === 0 ? tree : appendBlock(tree, last)), canonical }
}

/**
 * The tree with `record`, whose parent it knows. The heaviest branch is the chain, and of two that weigh the same the
 * one seen first: a block that is no child of the head changes the chain only when its branch is heavier.
 */
export function withBlock(tree: BlockTree, record: BlockRecord): BlockTree {
  const { hash, header } = record.block
  if (blockByHash(tree, hash) !== undefined) return tree
  const head = headOf(tree)
  if (header.parentHash === head.block.hash) return appendBlock(tree, record)
  const grown = withSideBlocks(tree, [record])
  return record.totalDifficulty > head.totalDifficulty ? withHead(grown, record) : grown
}

/** Blocks in a row become the chain where they are heavier, however many they are; else few of them are kept beside it. */
export function withBranch(tree: BlockTree, records: readonly BlockRecord[]): BlockTree {
  const [first, last] = [records[0], records.at(-1)]
  if (first === undefined || last === undefined) return tree
  const isHeavier = last.totalDifficulty > headOf(tree).totalDifficulty
  const fork = first.block.header.number - 1n
  if (isHeavier && hashByNumber(tree, fork) === first.block.header.parentHash) {
    return records.reduce(appendBlock, truncateTo(tree, fork))
  }
  if (!isHeavier && records.length >= UNCLE_GENERATIONS) return tree
  return records.reduce(withBlock, tree)
}

/** Block `number` becomes the head; those after it stay known by hash. Throws for one of the network that a fork goes on from. */
export function truncateTo(tree: BlockTree, number: bigint): BlockTree {
  requireOwn(tree, number)
  const length = Number(number) + 1
  const canonical = tree.canonical.truncate(length)
  let places = tree.places
  for (const { block } of tree.canonical.filled(length)) {
    for (const { hash } of block.transactions) places = places.delete(hash)
  }
  const kept: BlockTree = {
    ...tree,
    canonical,
    places,
    abandoned: tree.abandoned + tree.canonical.length - canonical.length,
  }
  return withSideBlocks(kept, leftAfter(tree.canonical, length))
}

function requireOwn({ network }: BlockTree, number: bigint): void {
  if (network === undefined || number >= network.number) return
  const message = `cannot go back to block ${number}: the chain is a fork that begins at block ${network.number}; hardhat_reset forks at another`
  throw new DevchainError('INVALID_PARAMS', message)
}

function leftAfter(chain: CanonicalChain, length: number): BlockRecord[] {
  const recent = Math.max(length, chain.length - SIDE_LIMIT)
  return [...chain.filled(length, recent), ...chain.values(recent)]
}

/** Side blocks that the block after the head may include: siblings of one of the six blocks up to the head, oldest first. */
export function eligibleUncles({ canonical, side }: BlockTree, limit: number): BlockRecord[] {
  const next = BigInt(canonical.length)
  const lowest = next + 1n - BigInt(UNCLE_GENERATIONS)
  if (limit === 0 || side.highest < lowest) return []
  const recent = [...canonical.values(Math.max(0, canonical.length - UNCLE_GENERATIONS))]
  const used = new Set(recent.flatMap(({ block }) => block.uncles.map(hashHeader)))
  const isEligible = ({ block: { header, hash } }: BlockRecord): boolean =>
    header.number >= lowest &&
    header.number < next &&
    canonical.hashAt(Number(header.number) - 1) === header.parentHash &&
    !used.has(hash)
  return side.records
    .filter(isEligible)
    .sort((a, b) => Number(a.block.header.number - b.block.header.number))
    .slice(0, limit)
}

export function mayHaveUncles({ canonical, side }: BlockTree): boolean {
  return side.highest >= BigInt(canonical.length + 1 - UNCLE_GENERATIONS)
}

/** How the canonical chain of `before` became that of `after`. Takes as long as the blocks that changed. */
export function headChange(before: BlockTree, after: BlockTree): HeadChange {
  if (before.canonical === after.canonical) return NO_CHANGE
  const isSameNetwork = before.network === after.network
  const common = isSameNetwork ? before.canonical.common(after.canonical) : 0
  // what a fork has of its network neither comes nor goes
  const gone = Math.max(common, before.network?.number ?? 0)
  return {
    removed:
      gone === before.canonical.length ? NO_BLOCKS : before.canonical.range(gone, 'newest first'),
    added: after.canonical.range(Math.max(common, after.network?.number ?? 0)),
  }
}

/** The tree with a side block as its head; the same tree when the branch no longer reaches down to the chain. */
function withHead(tree: BlockTree, record: BlockRecord): BlockTree {
  const branch: BlockRecord[] = []
  let each: BlockRecord | undefined = record
  while (each !== undefined && !isCanonical(tree, each)) {
    branch.push(each)
    each = blockByHash(tree, each.block.header.parentHash)
  }
  if (each === undefined) return tree
  return branch.reverse().reduce(appendBlock, truncateTo(tree, each.block.header.number))
}

function withSideBlocks(tree: BlockTree, records: readonly BlockRecord[]): BlockTree {
  if (records.length === 0) return tree
  const all = [...tree.side.records, ...records]
  const surplus = all.length - SIDE_LIMIT
  let byHash = tree.byHash
  for (const record of records) byHash = byHash.set(record.block.hash, record)
  for (const { block } of all.slice(0, Math.max(0, surplus))) byHash = byHash.delete(block.hash)
  return { ...tree, byHash, side: sideOf(surplus > 0 ? all.slice(surplus) : all) }
}

function sideOf(records: readonly BlockRecord[]): SideBlocks {
  if (records.length === 0) return NO_SIDE
  const highest = records.reduce(
    (most, { block }) => (block.header.number > most ? block.header.number : most),
    -1n,
  )
  return { records, highest }
}
