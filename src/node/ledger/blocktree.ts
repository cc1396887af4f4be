// The blocks of a chain: the canonical chain and its side branches.
import { larger } from '../../core/bigints.ts'
import { DevchainError, type ErrorFacts, invalidParams } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { getOrMake, memoizeByIdentity } from '../../core/lrucache.ts'
import { emptyMap, type PersistentMap } from '../../core/persistent.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import { hashHeader } from '../../protocol/blocks/header.ts'
import type { World } from '../../state/world.ts'
import type { BlockRecord, BlockRun, ExecutedTransaction } from './blockrecord.ts'
import { type BlockRange, CanonicalChain, NO_BLOCKS } from './canonicalchain.ts'
import { HashIndex, NUMBERS } from './packing/hashindex.ts'
import {
  FRESH_FULL_BLOCKS,
  hashOf,
  KeptRecord,
  kept,
  packedOf,
  WORLD_STEPS,
} from './packing/keptrecord.ts'

export interface TransactionPlace {
  readonly record: BlockRecord
  readonly index: number
}

/** Known blocks off the canonical chain, oldest first; at most `SIDE_LIMIT`. */
interface SideBlocks {
  readonly records: readonly BlockRecord[]
  /** The highest of their numbers; -1n when there are none. */
  readonly highest: bigint
}

export interface BlockTree {
  /** `canonical.at(n)` is block n. Never empty: block 0 is the genesis. */
  readonly canonical: CanonicalChain
  /** Excludes runs of empty blocks, blocks of `old`, and the genesis, which is hashed on read: `blockByHash` finds all. */
  readonly byHash: PersistentMap<Hash, BlockRecord>
  /** Of the blocks from `oldEnd` on, except those that are indexed at once. */
  readonly places: PersistentMap<Hash, TransactionPlace>
  /** Canonical blocks below `oldEnd`, their transactions, and those of blocks that are indexed at once. */
  readonly old: HashIndex
  readonly oldEnd: number
  readonly side: SideBlocks
  readonly network: NetworkPart | undefined
  /** How many blocks ever left the canonical chain, so that their replacements get other hashes. */
  readonly abandoned: number
}

/** Blocks that the index takes at a time. */
const INDEXED_BLOCKS = 128

/** The index takes the oldest blocks where there are more. */
const MOST_PLACES = 65_536

/** Of a block with so many transactions, the index takes them at once: a map of them took a quarter of the time to mine it. */
const INDEXED_AT_ONCE = 128

interface NetworkPart {
  readonly run: BlockRun
  readonly number: number
}

/** Most side blocks; the oldest is dropped first. */
export const SIDE_LIMIT = 1024

/** An uncle's parent is one of this many blocks before the block that includes it (Yellow Paper, 11.1). */
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
  old: HashIndex.none,
  oldEnd: 0,
  side: NO_SIDE,
  network: undefined,
  abandoned: 0,
}

export function treeFrom(genesis: BlockRecord): BlockTree {
  return { ...emptyTree, canonical: emptyTree.canonical.push(kept(genesis)) }
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

export function blockByHash(tree: BlockTree, hash: Hash): BlockRecord | undefined {
  return singleByHash(tree, hash) ?? tree.canonical.findInRuns(hash)
}

/** A block that is in no run. */
export function singleByHash(tree: BlockTree, hash: Hash): BlockRecord | undefined {
  const isHere = (record: BlockRecord): true | undefined => hashOf(record) === hash || undefined
  const found = tree.byHash.get(hash) ?? findOld(tree, hash, isHere)?.record
  if (found !== undefined) return found
  const first = tree.canonical.singleAt(0)
  return first && isHere(first) && first
}

/** @param block how the caller named it */
export function blockNotFound(
  tree: BlockTree,
  block: string,
  facts?: ErrorFacts,
  problem = 'not found',
): DevchainError {
  const { header, hash } = headOf(tree).block
  const message = `${block} ${problem}: the newest block is ${header.number} (${hash})`
  return new DevchainError('NOT_FOUND', message, undefined, facts)
}

export function isCanonical(tree: BlockTree, record: BlockRecord): boolean {
  return hashByNumber(tree, record.block.header.number) === hashOf(record)
}

export function executedAt({ record, index }: TransactionPlace): ExecutedTransaction {
  const executed = record.executed[index]
  if (executed === undefined) throw new Error(`block ${record.block.hash} has no index ${index}`)
  return executed
}

export function transactionPlace(tree: BlockTree, hash: Hash): TransactionPlace | undefined {
  return tree.places.get(hash) ?? oldPlace(tree, hash) ?? tree.network?.run.placeOf?.(hash)
}

function oldPlace(tree: BlockTree, hash: Hash): TransactionPlace | undefined {
  const found = findOld(tree, hash, ({ block }) => indexOf(block, hash))
  return found && { record: found.record, index: found.value }
}

const indexesOf = memoizeByIdentity(
  (transactions: Block['transactions']): ReadonlyMap<Hash, number> =>
    new Map(transactions.map(({ hash }, index) => [hash, index])),
)

function indexOf({ transactions }: Block, hash: Hash): number | undefined {
  if (transactions.length >= INDEXED_AT_ONCE) return indexesOf(transactions).get(hash)
  const index = transactions.findIndex((each) => each.hash === hash)
  return index < 0 ? undefined : index
}

/** The newest of the old blocks for which `read` gives a value. */
function findOld<T>(
  { canonical, old }: BlockTree,
  hash: Hash,
  read: (record: BlockRecord) => T | undefined,
): { readonly record: BlockRecord; readonly value: T } | undefined {
  for (const number of old.find(hash)) {
    const record = canonical.singleAt(number)
    const value = record && read(record)
    if (record !== undefined && value !== undefined) return { record, value }
  }
  return undefined
}

/** Numbers in [from, to) of blocks that may have transactions, including a fork's network. */
export function* filledToRead(
  tree: BlockTree,
  from: number,
  to: number,
): IterableIterator<BlockRecord> {
  const { canonical } = tree
  const own = Math.max(from, firstOwn(tree))
  for (let number = from; number < Math.min(own, to, canonical.length); number++) {
    yield recordToRead(tree, canonical.at(number)!)
  }
  yield* canonical.filled(own, to)
}

const readOnes = new WeakMap<BlockRecord, BlockRecord>()

/** Gives readers the forked block with its transactions, fetched on read. Commands do without them. */
export function recordToRead({ network }: BlockTree, record: BlockRecord): BlockRecord {
  // first, as an old block would have to be decoded
  if (network === undefined) return record
  const { block, totalDifficulty } = record
  if (block.header.number !== BigInt(network.number)) return record
  const { run, number } = network
  return getOrMake(readOnes, record, () => ({
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
  }))
}

const transactionsBeside = memoizeByIdentity(
  ({ records }: SideBlocks): ReadonlySet<Hash> =>
    new Set(records.flatMap(({ block }) => block.transactions.map((each) => each.hash))),
)

export function isInSomeBlock(tree: BlockTree, hash: Hash): boolean {
  const isMined = tree.places.has(hash) || oldPlace(tree, hash) !== undefined
  return isMined || transactionsBeside(tree.side).has(hash)
}

export function appendBlock(tree: BlockTree, appended: BlockRecord): BlockTree {
  const record = kept(appended)
  const canonical = tree.canonical.push(record)
  const grown = withRecord({ ...withoutSide(tree, hashOf(record)), canonical }, record)
  const first = firstOwn(tree)
  const packedEnd = first + packedOf(canonical.length - first)
  const isDue = packedEnd > Math.max(grown.oldEnd, first) || grown.places.size > MOST_PLACES
  const indexed = isDue ? withOlder(grown) : grown
  // last, as the index reads the transactions of the blocks that are packed
  packOlder(indexed, packedEnd)
  return indexed
}

/** Number of the first of the chain's own blocks, after those of a fork's network. */
export function firstOwn({ network }: BlockTree): number {
  return network === undefined ? 0 : network.number + 1
}

/** Moves the oldest blocks of the maps to the index, many at a time: each time costs as much as a hundred blocks. */
function withOlder(tree: BlockTree): BlockTree {
  const { canonical } = tree
  let { byHash, places } = tree
  let number = Math.max(tree.oldEnd, firstOwn(tree))
  const end = Math.min(number + INDEXED_BLOCKS, canonical.length - 1, NUMBERS)
  const entries: number[] = []
  for (; number < end && entries.length < 2 * INDEXED_BLOCKS; number++) {
    const record = canonical.singleAt(number)
    if (record === undefined) continue
    byHash = byHash.delete(hashOf(record))
    entries.push(HashIndex.entry(hashOf(record), number))
    // those of a large block are indexed already, unless an older version stored it
    for (const { hash } of KeptRecord.partsOf(record).block.transactions) {
      const rest = places.delete(hash)
      if (rest === places) continue
      places = rest
      entries.push(HashIndex.entry(hash, number))
    }
  }
  const old = entries.length === 0 ? tree.old : tree.old.with(entries)
  return { ...tree, byHash, places, old, oldEnd: number }
}

/** Packs the last two blocks before `end`; those before are packed. It changes how they are kept, not what they are. */
function packOlder(tree: BlockTree, end: number): void {
  const { canonical } = tree
  const first = firstOwn(tree)
  const recordAt = (number: number): KeptRecord | undefined => {
    const record = number < first ? undefined : canonical.singleAt(number)
    return record instanceof KeptRecord ? record : undefined
  }
  const newest = canonical.length - 1
  const full = recordAt(newest - FRESH_FULL_BLOCKS)
  if (full?.hasMany) full.pack(recordAt(newest - FRESH_FULL_BLOCKS - 1))
  for (const number of [end - 2, end - 1]) {
    const old = recordAt(number)
    old?.pack(recordAt(number - 1))
    old?.packWorld(number, newest - number)
  }
  for (const { behind, step } of WORLD_STEPS) recordAt(newest - behind)?.thin(newest - behind, step)
}

function withoutSide(tree: BlockTree, hash: Hash): BlockTree {
  const { records } = tree.side
  const isOld = records.length > 0 && tree.byHash.has(hash)
  return isOld ? { ...tree, side: sideOf(records.filter((each) => hashOf(each) !== hash)) } : tree
}

export function withHeadWorld(tree: BlockTree, world: World): BlockTree {
  const head = headOf(tree)
  const { block, executed, totalDifficulty, prevRandao, signers } = head
  const record =
    head instanceof KeptRecord
      ? head.withWorld(world)
      : kept(
          { block, executed, world, totalDifficulty, prevRandao, signers },
          tree.canonical.at(tree.canonical.length - 2),
        )
  const edited = { ...tree, canonical: tree.canonical.withHead(record) }
  if (tree.oldEnd === tree.canonical.length) return edited
  const indexed = { ...edited, byHash: tree.byHash.set(hashOf(record), record) }
  return isIndexedAtOnce(record) ? indexed : withPlaces(indexed, record)
}

/** Indexes a block by its hash, and by those of its transactions. */
function withRecord(tree: BlockTree, record: BlockRecord): BlockTree {
  const { hash, header, transactions } = record.block
  const grown = { ...tree, byHash: tree.byHash.set(hash, record) }
  if (!isIndexedAtOnce(record)) return withPlaces(grown, record)
  const number = Number(header.number)
  const entries = transactions.map((each) => HashIndex.entry(each.hash, number))
  return { ...grown, old: tree.old.with(entries) }
}

function withPlaces(tree: BlockTree, record: BlockRecord): BlockTree {
  let { places } = tree
  for (const [index, { hash }] of record.block.transactions.entries()) {
    places = places.set(hash, { record, index })
  }
  return { ...tree, places }
}

function isIndexedAtOnce({ block: { header, transactions } }: BlockRecord): boolean {
  return transactions.length >= INDEXED_AT_ONCE && header.number < NUMBERS
}

/** `last` is the run's last block. If the chain ends with part of the run, appends the rest. */
export function appendRun(tree: BlockTree, run: BlockRun, last: BlockRecord): BlockTree {
  const canonical = tree.canonical.pushRun(run, last)
  // the block may be a known side block
  const isAlone = tree.side.records.length === 0
  const others = isAlone ? tree : withRecord(withoutSide(tree, last.block.hash), last)
  return { ...others, canonical }
}

interface Weight {
  readonly totalDifficulty: bigint
  readonly number: bigint
}

export function weightOf({ totalDifficulty, block }: BlockRecord): Weight {
  return { totalDifficulty, number: block.header.number }
}

/** At equal difficulties the longer branch is heavier: blocks of a chain without difficulty have no other weight. */
export function isHeavier(one: Weight, other: Weight): boolean {
  const difference = one.totalDifficulty - other.totalDifficulty
  return difference > 0n || (difference === 0n && one.number > other.number)
}

/** Adds `record`, whose parent must be known. The heaviest branch wins, on a tie the one seen first. */
export function withBlock(tree: BlockTree, record: BlockRecord): BlockTree {
  const { hash, header } = record.block
  if (blockByHash(tree, hash) !== undefined) return tree
  const head = headOf(tree)
  if (header.parentHash === head.block.hash) return appendBlock(tree, record)
  const grown = withSideBlocks(tree, [record])
  return isHeavier(weightOf(record), weightOf(head)) ? withHead(grown, record) : grown
}

/** The branch wins at any length if it is heavier; else only few of its blocks are kept. */
export function withBranch(tree: BlockTree, records: readonly BlockRecord[]): BlockTree {
  const [first, last] = [records[0], records.at(-1)]
  if (first === undefined || last === undefined) return tree
  const wins = isHeavier(weightOf(last), weightOf(headOf(tree)))
  const fork = first.block.header.number - 1n
  if (wins && hashByNumber(tree, fork) === first.block.header.parentHash) {
    return records.reduce(appendBlock, truncateTo(tree, fork))
  }
  if (!wins && records.length >= UNCLE_GENERATIONS) return tree
  return records.reduce(withBlock, tree)
}

/** Later blocks stay known by hash. Throws for a block of the forked network. */
export function truncateTo(tree: BlockTree, number: bigint): BlockTree {
  requireOwn(tree, number)
  const length = Number(number) + 1
  const canonical = tree.canonical.truncate(length)
  const isOld = length < tree.oldEnd
  let { places } = tree
  let isIndexed = isOld
  for (const record of tree.canonical.filled(Math.max(length, tree.oldEnd))) {
    isIndexed ||= isIndexedAtOnce(record)
    for (const { hash } of record.block.transactions) places = places.delete(hash)
  }
  const kept: BlockTree = {
    ...tree,
    canonical,
    places,
    old: isIndexed ? tree.old.below(length) : tree.old,
    oldEnd: isOld ? length : tree.oldEnd,
    abandoned: tree.abandoned + tree.canonical.length - canonical.length,
  }
  return withSideBlocks(kept, leftAfter(tree.canonical, length))
}

function requireOwn({ network }: BlockTree, number: bigint): void {
  if (network === undefined || number >= network.number) return
  const message = `cannot go back to block ${number}: the chain is a fork that begins at block ${network.number}; hardhat_reset forks at another`
  throw invalidParams(message)
}

function leftAfter(chain: CanonicalChain, length: number): BlockRecord[] {
  const recent = Math.max(length, chain.length - SIDE_LIMIT)
  return [...chain.filled(length, recent), ...chain.values(recent)]
}

/** Side blocks that the next block may include: siblings of one of the six blocks up to the head, oldest first. */
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

/** Takes time proportional to the changed blocks. */
export function headChange(before: BlockTree, after: BlockTree): HeadChange {
  if (before.canonical === after.canonical) return NO_CHANGE
  const isSameNetwork = before.network === after.network
  const common = isSameNetwork ? before.canonical.common(after.canonical) : 0
  // the forked network's blocks never change
  const gone = Math.max(common, before.network?.number ?? 0)
  return {
    removed:
      gone === before.canonical.length ? NO_BLOCKS : before.canonical.range(gone, 'newest first'),
    added: after.canonical.range(Math.max(common, after.network?.number ?? 0)),
  }
}

/** The tree with this block, of any branch, as its head; unchanged when the branch no longer reaches the chain. */
export function withHead(tree: BlockTree, record: BlockRecord): BlockTree {
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
  for (const record of records) byHash = byHash.set(hashOf(record), record)
  for (const { block } of all.slice(0, Math.max(0, surplus))) byHash = byHash.delete(block.hash)
  return { ...tree, byHash, side: sideOf(surplus > 0 ? all.slice(surplus) : all) }
}

function sideOf(records: readonly BlockRecord[]): SideBlocks {
  if (records.length === 0) return NO_SIDE
  return { records, highest: records.map(({ block }) => block.header.number).reduce(larger) }
}
