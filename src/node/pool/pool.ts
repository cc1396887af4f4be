// The transaction pool, by sender and nonce, and by hash. Admission rules are in admission.ts.
import { larger } from '../../core/bigints.ts'
import { DevchainError } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import { emptyMap, type PersistentMap } from '../../core/persistent.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import { blobBaseFee, effectiveTip } from '../../protocol/fees.ts'
import { authorityOf, type Transaction } from '../../protocol/transactions/transaction.ts'
import { nonceAt, type World } from '../../state/world.ts'
import type { Conditions } from './conditions.ts'

/** `arrival` numbers all that ever entered. Transactions returned by a reorg get lower ones, 0 and below. */
export interface PooledTransaction {
  readonly transaction: Transaction
  readonly arrival: number
  /** Gone for transactions that a reorg returned. */
  readonly conditions?: Conditions | undefined
}

/** At most `POOL_LIMIT` transactions. Immutable. */
export interface Pool {
  readonly size: number
  readonly lastArrival: number
  readonly byHash: PersistentMap<Hash, PooledTransaction>
  readonly bySender: PersistentMap<Address, SenderQueue>
}

interface SenderQueue {
  /** By nonce in decimal. */
  readonly byNonce: PersistentMap<string, PooledTransaction>
  /** Ascending runs of nonces without a gap, to find the next free nonce quickly. */
  readonly runs: readonly NonceRun[]
}

interface NonceRun {
  readonly from: bigint
  readonly to: bigint
}

export const POOL_LIMIT = 100_000

export function poolFull(): DevchainError {
  const message = `transaction pool is full: ${POOL_LIMIT} transactions wait`
  return new DevchainError('POOL_FULL', message)
}

export const emptyPool: Pool = {
  size: 0,
  lastArrival: 0,
  byHash: emptyMap(),
  bySender: emptyMap(),
}

const emptyQueue: SenderQueue = { byNonce: emptyMap(), runs: [] }

export function pooledByHash(pool: Pool, hash: Hash): PooledTransaction | undefined {
  return pool.byHash.get(hash)
}

export function pooledByNonce(
  pool: Pool,
  sender: Address,
  nonce: bigint,
): PooledTransaction | undefined {
  return pool.bySender.get(sender)?.byNonce.get(nonce.toString())
}

export function nextNonce(pool: Pool, world: World, sender: Address): bigint {
  const nonce = nonceAt(world, sender)
  const run = pool.bySender.get(sender)?.runs.find(({ from, to }) => from <= nonce && nonce < to)
  return run?.to ?? nonce
}

/** Replaces one with the same sender and nonce. Unchecked: see admission.ts. */
export function withTransaction(
  pool: Pool,
  transaction: Transaction,
  conditions?: Conditions,
): Pool {
  const { from, nonce } = transaction
  const replaced = pooledByNonce(pool, from, nonce)
  const rest = replaced === undefined ? pool : withoutTransaction(pool, replaced.transaction)
  const arrival = pool.lastArrival + 1
  return { ...withEntry(rest, { transaction, arrival, conditions }), lastArrival: arrival }
}

function withEntry(pool: Pool, entry: PooledTransaction): Pool {
  const { from, nonce, hash } = entry.transaction
  const queue = pool.bySender.get(from) ?? emptyQueue
  const changed = {
    byNonce: queue.byNonce.set(nonce.toString(), entry),
    runs: withNonce(queue.runs, nonce),
  }
  return {
    size: pool.size + 1,
    lastArrival: pool.lastArrival,
    byHash: pool.byHash.set(hash, entry),
    bySender: pool.bySender.set(from, changed),
  }
}

export function withoutTransaction(pool: Pool, { hash, from, nonce }: Transaction): Pool {
  const queue = pool.bySender.get(from)
  if (queue === undefined || !pool.byHash.has(hash)) return pool
  const runs = withoutNonce(queue.runs, nonce)
  const byNonce = queue.byNonce.delete(nonce.toString())
  return {
    size: pool.size - 1,
    lastArrival: pool.lastArrival,
    byHash: pool.byHash.delete(hash),
    bySender:
      runs.length === 0 ? pool.bySender.delete(from) : pool.bySender.set(from, { byNonce, runs }),
  }
}

/** Returned transactions go first, without new notifications. A waiting one with the same nonce wins. */
export function withReturned(pool: Pool, transactions: readonly Transaction[]): Pool {
  const free = transactions.filter(({ from, nonce }) => !pooledByNonce(pool, from, nonce))
  if (free.length === 0) return pool
  let first = pool.lastArrival + 1
  for (const [, { arrival }] of pool.byHash.entries()) first = Math.min(first, arrival)
  return free.reduce(
    (grown, transaction, i) => withEntry(grown, { transaction, arrival: first - free.length + i }),
    pool,
  )
}

/** The sender's and the authorities' (EIP-7702). */
export function noncesUsedBy({ from, authorizationList }: Transaction): Address[] {
  const authorities = authorizationList.map(authorityOf)
  return [from, ...authorities.filter((address) => address !== undefined)]
}

/** @param gone all different; those that do not wait are ignored */
export function withoutTransactions(
  pool: Pool,
  gone: readonly { readonly transaction: Transaction }[],
): Pool {
  const isAll =
    gone.length === pool.size && gone.every(({ transaction }) => pool.byHash.has(transaction.hash))
  if (isAll) return { ...emptyPool, lastArrival: pool.lastArrival }
  return gone.reduce((rest, { transaction }) => withoutTransaction(rest, transaction), pool)
}

/** All must be in the pool. `yieldIfDue` is awaited after each. */
export async function withoutMany(
  pool: Pool,
  transactions: readonly Transaction[],
  yieldIfDue: YieldIfDue,
): Promise<Pool> {
  if (transactions.length === pool.size) return { ...emptyPool, lastArrival: pool.lastArrival }
  let rest: Pool = pool
  for (const transaction of transactions) {
    rest = withoutTransaction(rest, transaction)
    await yieldIfDue()
  }
  return rest
}

/** Removes these senders' transactions with used nonces. */
export function withoutStale(pool: Pool, world: World, senders: Iterable<Address>): Pool {
  let rest = pool
  for (const sender of senders) {
    const queue = rest.bySender.get(sender) ?? emptyQueue
    rest = withoutTransactions(rest, entriesOf(queue, 0n, nonceAt(world, sender)))
  }
  return rest
}

/** Transactions without a nonce gap, by nonce. */
export function pendingBySender(pool: Pool, world: World): BySender {
  return bySender(pool, (queue, sender) =>
    entriesOf(queue, nonceAt(world, sender), nextNonce(pool, world, sender)),
  )
}

/** Transactions behind a nonce gap, by nonce. */
export function queuedBySender(pool: Pool, world: World): BySender {
  return bySender(pool, (queue, sender) => entriesOf(queue, nextNonce(pool, world, sender)))
}

/** By sender and nonce. */
export function pendingOf(pool: Pool, world: World): PooledTransaction[] {
  return [...pendingBySender(pool, world).values()].flat()
}

/** Only senders that have some. */
export type BySender = ReadonlyMap<Address, readonly PooledTransaction[]>

function bySender(
  pool: Pool,
  entriesIn: (queue: SenderQueue, sender: Address) => readonly PooledTransaction[],
): BySender {
  const found = new Map<Address, readonly PooledTransaction[]>()
  for (const [sender, queue] of pool.bySender.entries()) {
    const entries = entriesIn(queue, sender)
    if (entries.length > 0) found.set(sender, entries)
  }
  return found
}

/** In order of arrival. */
export function arrivedAfter(pool: Pool, arrival: number): PooledTransaction[] {
  return [...pool.byHash.entries()]
    .map(([, entry]) => entry)
    .filter((entry) => entry.arrival > arrival)
    .sort((a, b) => a.arrival - b.arrival)
}

export function pooledInOrder(pool: Pool): PooledTransaction[] {
  return arrivedAfter(pool, Number.NEGATIVE_INFINITY)
}

/** Those of the nonces from `first` on, below `end`. */
function entriesOf(
  { runs, byNonce }: SenderQueue,
  first: bigint,
  end?: bigint,
): PooledTransaction[] {
  const entries: PooledTransaction[] = []
  for (const { from, to } of runs) {
    const last = end === undefined || to < end ? to : end
    for (let nonce = larger(first, from); nonce < last; nonce += 1n) {
      entries.push(byNonce.get(nonce.toString())!)
    }
  }
  return entries
}

function withNonce(runs: readonly NonceRun[], nonce: bigint): readonly NonceRun[] {
  const before = runs.filter(({ to }) => to < nonce)
  const after = runs.filter(({ from }) => from > nonce + 1n)
  const touching = runs.slice(before.length, runs.length - after.length)
  const from = touching[0] !== undefined && touching[0].from < nonce ? touching[0].from : nonce
  const end = touching.at(-1)?.to ?? nonce
  return [...before, { from, to: end > nonce ? end : nonce + 1n }, ...after]
}

function withoutNonce(runs: readonly NonceRun[], nonce: bigint): readonly NonceRun[] {
  return runs.flatMap((run) => {
    if (nonce < run.from || nonce >= run.to) return [run]
    const parts = [
      { from: run.from, to: nonce },
      { from: nonce + 1n, to: run.to },
    ]
    return parts.filter(({ from, to }) => from < to)
  })
}

/** Highest tip first, then first come first served, but each sender by nonce. For one use; the pool does not change. */
export class Candidates {
  readonly #block: BlockPrices
  /** The best is last. */
  readonly #heads: QueuedCandidate[]

  /** @param block transactions below its prices wait, with their sender's later ones */
  constructor(pool: Pool, world: World, block: BlockPrices) {
    this.#block = block
    this.#heads = [...pool.bySender.entries()]
      .flatMap(([sender, queue]) => this.#candidate(queue, nonceAt(world, sender)) ?? [])
      .sort((a, b) => (isBetter(a, b) ? 1 : -1))
  }

  get best(): Transaction | undefined {
    return this.#heads.at(-1)?.entry.transaction
  }

  get conditions(): Conditions | undefined {
    return this.#heads.at(-1)?.entry.conditions
  }

  advance(): void {
    const taken = this.#heads.pop()
    const next = taken && this.#candidate(taken.queue, taken.entry.transaction.nonce + 1n)
    if (next === undefined) return
    let [low, high] = [0, this.#heads.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBetter(this.#heads[middle]!, next)) high = middle
      else low = middle + 1
    }
    this.#heads.splice(low, 0, next)
  }

  /** Skips all of the sender's transactions. */
  skip(): void {
    this.#heads.pop()
  }

  /** Undefined for one that waits. */
  #candidate(queue: SenderQueue, nonce: bigint): QueuedCandidate | undefined {
    const entry = queue.byNonce.get(nonce.toString())
    if (entry === undefined) return undefined
    const tip = effectiveTip(entry.transaction, this.#block.baseFee)
    return tip < 0n || !paysBlobs(entry.transaction, this.#block)
      ? undefined
      : { entry, tip, queue }
  }
}

type BlockPrices = Pick<BlockEnvironment, 'baseFee' | 'excessBlobGas' | 'hardfork' | 'blobRules'>

export function paysBlobs(
  { blobs }: Transaction,
  { excessBlobGas, hardfork, blobRules }: BlockPrices,
): boolean {
  if (blobs === undefined) return true
  return blobs.maxFeePerBlobGas >= blobBaseFee(excessBlobGas, hardfork, blobRules)
}

export interface Candidate {
  readonly entry: PooledTransaction
  readonly tip: bigint
}

interface QueuedCandidate extends Candidate {
  readonly queue: SenderQueue
}

/** Higher tip first, then earlier arrival. */
export function isBetter(a: Candidate, b: Candidate): boolean {
  return a.tip > b.tip || (a.tip === b.tip && a.entry.arrival < b.entry.arrival)
}
