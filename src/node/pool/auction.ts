// What waits, for many blocks one after another: the best transaction of each block, without looking at all the others
// for each. Instant mining is right without it, with `Candidates` made anew for each block, but takes as long as the
// square of the number of senders.
import type { Address } from '../../core/hex.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import { effectiveTip } from '../../protocol/fees.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { accountAt, type World } from '../../state/world.ts'
import type { Conditions } from './conditions.ts'
import {
  Candidates,
  isBetter,
  type Pool,
  type PooledTransaction,
  paysBlobs,
  pooledByNonce,
  pooledInOrder,
} from './pool.ts'

/** Hands out transactions for a block. After `best` either `advance` (it was taken) or `skip` is called. */
export interface Source {
  readonly best: Transaction | undefined
  /** Under which the best may be in the block. */
  readonly conditions?: Conditions | undefined
  readonly advance: () => void
  readonly skip: () => void
}

/** Blocks for which all that waits is looked at, while so few senders have something to offer: mostly there are no more. */
const AUCTION_AFTER = 3

export interface AuctionBlock {
  readonly pool: Pool
  readonly world: World
  readonly block: Pick<
    BlockEnvironment,
    'baseFee' | 'excessBlobGas' | 'hardfork' | 'blobRules' | 'gasLimit'
  >
  readonly used: readonly Address[]
}

/** Gives what waits for one block after another, each of which takes one transaction. */
export function sourcesOfWaiting(): (next: AuctionBlock) => Source {
  let blocks = 0
  let senders = 0
  let auction: Auction | undefined
  return (next) => {
    blocks += 1
    if (blocks <= AUCTION_AFTER && senders <= AUCTION_AFTER) {
      const candidates = new Candidates(next.pool, next.world, next.block)
      senders = candidates.senders
      return candidates
    }
    if (auction === undefined) auction = new Auction(next)
    else auction.open(next)
    return auction
  }
}

/**
 * Hands out the transactions of a pool for blocks that take one each, in the order of `Candidates`. Of each sender one
 * transaction is offered at a time: the one with the sender's nonce. No transaction may enter the pool meanwhile, and the
 * gas limit of blocks stays.
 *
 * What a transaction bids depends on the base fee: its tip where its fee cap leaves room for it, else what the cap leaves.
 * So transactions stand in order of the room between the two, and for each base fee those from some place on bid their
 * tips, and those before it the rest of their caps. The best of either part is found in a tree of the best of each stretch.
 */
export class Auction implements Source {
  #pool: Pool
  #world: World
  #block: AuctionBlock['block']
  readonly #entries: readonly PooledTransaction[]
  readonly #places: ReadonlyMap<PooledTransaction, number>
  /** Places of the best of each stretch, by tip and by fee cap. */
  readonly #byTip: BestOf
  readonly #byCap: BestOf
  readonly #offered = new Map<Address, PooledTransaction>()
  readonly #watched = new Set<Address>()
  /** Senders whose transaction could not be taken in this block, but may be in the next. */
  #skipped: Address[] = []
  /** Senders whose transaction does not pay for its blobs. */
  #poor: Address[] = []
  /** Transactions from this place on bid their tips. */
  #border = 0

  constructor({ pool, world, block }: Omit<AuctionBlock, 'used'>) {
    this.#pool = pool
    this.#world = world
    this.#block = block
    this.#entries = pooledInOrder(pool).sort((a, b) => ascending(roomOf(a), roomOf(b)))
    this.#places = new Map(this.#entries.map((entry, place) => [entry, place]))
    this.#byTip = new BestOf(this.#entries, ({ maxPriorityFeePerGas }) => maxPriorityFeePerGas)
    this.#byCap = new BestOf(this.#entries, ({ maxFeePerGas }) => maxFeePerGas)
    this.#border = this.#borderAt(block.baseFee)
    for (const [sender] of pool.bySender.entries()) this.#offer(sender)
  }

  open({ pool, world, block, used }: AuctionBlock): void {
    const before = this.#block
    const isSamePrice =
      before.excessBlobGas === block.excessBlobGas &&
      before.hardfork === block.hardfork &&
      before.blobRules === block.blobRules
    this.#pool = pool
    this.#world = world
    this.#block = block
    this.#border = this.#borderAt(block.baseFee)
    for (const sender of used) this.#offer(sender)
    for (const sender of this.#watched) this.#offer(sender)
    for (const sender of this.#skipped.splice(0)) this.#offer(sender)
    if (!isSamePrice) for (const sender of this.#poor.splice(0)) this.#offer(sender)
  }

  get best(): Transaction | undefined {
    return this.#first()?.transaction
  }

  get conditions(): Conditions | undefined {
    return this.#first()?.conditions
  }

  /** The best was taken: its sender's next one may come in the next block. */
  advance(): void {
    const first = this.#first()
    if (first !== undefined) this.#withdraw(first.transaction.from)
  }

  /** The best cannot be taken in this block: nothing of its sender can. */
  skip(): void {
    const first = this.#first()
    if (first === undefined) return
    this.#withdraw(first.transaction.from)
    this.#skipped.push(first.transaction.from)
  }

  #first(): PooledTransaction | undefined {
    for (;;) {
      const first = this.#highest()
      if (first === undefined || this.#bidOf(first) < 0n) return undefined
      if (paysBlobs(first.transaction, this.#block)) return first
      this.#withdraw(first.transaction.from)
      this.#poor.push(first.transaction.from)
    }
  }

  #highest(): PooledTransaction | undefined {
    const tip = this.#entries[this.#byTip.best(this.#border, this.#entries.length)]
    const rest = this.#entries[this.#byCap.best(0, this.#border)]
    if (tip === undefined || rest === undefined) return tip ?? rest
    const [one, other] = [tip, rest].map((entry) => ({ entry, tip: this.#bidOf(entry) }))
    return isBetter(one!, other!) ? tip : rest
  }

  #bidOf({ transaction }: PooledTransaction): bigint {
    return effectiveTip(transaction, this.#block.baseFee)
  }

  #offer(sender: Address): void {
    const { nonce = 0n, code } = accountAt(this.#world, sender) ?? {}
    if (code !== undefined && code.length > 0) this.#watched.add(sender)
    const entry = pooledByNonce(this.#pool, sender, nonce)
    if (entry !== undefined && entry === this.#offered.get(sender)) return
    this.#withdraw(sender)
    const place = entry && this.#places.get(entry)
    if (entry === undefined || place === undefined) return
    if (entry.transaction.gasLimit > this.#block.gasLimit) return
    this.#offered.set(sender, entry)
    this.#byTip.put(place)
    this.#byCap.put(place)
  }

  #withdraw(sender: Address): void {
    const entry = this.#offered.get(sender)
    const place = entry && this.#places.get(entry)
    if (place === undefined) return
    this.#offered.delete(sender)
    this.#byTip.take(place)
    this.#byCap.take(place)
  }

  /** The first place whose transaction has its whole tip at a base fee. */
  #borderAt(baseFee: bigint): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (roomOf(this.#entries[middle]!) < baseFee) low = middle + 1
      else high = middle
    }
    return low
  }
}

const NOBODY = -1

/** The best of each stretch of places, as some of them come and go: a tree whose leaves are the places. */
class BestOf {
  readonly #entries: readonly PooledTransaction[]
  readonly #amountOf: (transaction: Transaction) => bigint
  /** The leaves stand behind the inner nodes; node i has the nodes 2i and 2i + 1 below it. */
  readonly #nodes: Int32Array

  constructor(
    entries: readonly PooledTransaction[],
    amountOf: (transaction: Transaction) => bigint,
  ) {
    this.#entries = entries
    this.#amountOf = amountOf
    this.#nodes = new Int32Array(2 * entries.length).fill(NOBODY)
  }

  put(place: number): void {
    this.#set(place, place)
  }

  take(place: number): void {
    this.#set(place, NOBODY)
  }

  /** The best place from one up to and excluding another; -1 when there is none. */
  best(from: number, to: number): number {
    const nodes = this.#nodes
    const { length } = this.#entries
    let found = NOBODY
    for (let [low, high] = [from + length, to + length]; low < high; low >>= 1, high >>= 1) {
      if (low % 2 === 1) found = this.#better(found, nodes[low++]!)
      if (high % 2 === 1) found = this.#better(found, nodes[--high]!)
    }
    return found
  }

  #set(place: number, value: number): void {
    const nodes = this.#nodes
    let at = place + this.#entries.length
    nodes[at] = value
    for (at >>= 1; at >= 1; at >>= 1) {
      nodes[at] = this.#better(nodes[2 * at]!, nodes[2 * at + 1]!)
    }
  }

  #better(one: number, other: number): number {
    const [a, b] = [this.#entries[one], this.#entries[other]]
    if (a === undefined || b === undefined) return a === undefined ? other : one
    const [tipA, tipB] = [this.#amountOf(a.transaction), this.#amountOf(b.transaction)]
    return isBetter({ entry: a, tip: tipA }, { entry: b, tip: tipB }) ? one : other
  }
}

/** Wei per gas between the tip and the fee cap: up to such a base fee the whole tip is paid. */
function roomOf({ transaction }: PooledTransaction): bigint {
  return transaction.maxFeePerGas - transaction.maxPriorityFeePerGas
}

function ascending(a: bigint, b: bigint): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
