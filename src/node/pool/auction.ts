// The pool for many consecutive blocks of one transaction each. It keeps senders' offers from block to block, which
// saves the lookups of `Candidates`.
import type { Address } from '../../core/hex.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import { effectiveTip } from '../../protocol/fees.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { accountAt, type World } from '../../state/world.ts'
import type { Conditions } from './conditions.ts'
import {
  type Candidate,
  isBetter,
  type Pool,
  type PooledTransaction,
  paysBlobs,
  pooledByNonce,
} from './pool.ts'

/** After `best` the caller calls `advance` (the transaction was taken) or `skip`. */
export interface Source {
  readonly best: Transaction | undefined
  readonly conditions?: Conditions | undefined
  readonly advance: () => void
  readonly skip: () => void
}

export interface AuctionBlock {
  readonly pool: Pool
  readonly world: World
  readonly block: Pick<BlockEnvironment, 'baseFee' | 'excessBlobGas' | 'hardfork' | 'blobRules'>
  readonly used: readonly Address[]
}

/** Same order as `Candidates`. No transaction may enter the pool meanwhile. */
export class Auction implements Source {
  #next: AuctionBlock
  readonly #offered = new Map<Address, PooledTransaction>()
  /** Senders with code, whose nonces others can raise: a delegation may create contracts. */
  readonly #watched = new Set<Address>()
  /** Senders whose transaction did not fit in this block, but may fit in the next. */
  #skipped: Address[] = []
  #best: Candidate | undefined

  constructor(first: AuctionBlock) {
    this.#next = first
    for (const [sender] of first.pool.bySender.entries()) this.#offer(sender)
  }

  /** For the next block. */
  opened(next: AuctionBlock): this {
    this.#next = next
    this.#best = undefined
    const changed = [...next.used, ...this.#watched, ...this.#skipped.splice(0)]
    for (const sender of changed) this.#offer(sender)
    return this
  }

  get best(): Transaction | undefined {
    return this.#first?.transaction
  }

  get conditions(): Conditions | undefined {
    return this.#first?.conditions
  }

  advance(): void {
    const first = this.#first
    if (first !== undefined) this.#offered.delete(first.transaction.from)
    this.#best = undefined
  }

  skip(): void {
    const first = this.#first
    if (first !== undefined) this.#skipped.push(first.transaction.from)
    this.advance()
  }

  get #first(): PooledTransaction | undefined {
    this.#best ??= this.#find()
    return this.#best?.entry
  }

  #find(): Candidate | undefined {
    const { block } = this.#next
    let best: Candidate | undefined
    for (const entry of this.#offered.values()) {
      const tip = effectiveTip(entry.transaction, block.baseFee)
      if (tip < 0n || !paysBlobs(entry.transaction, block)) continue
      if (best === undefined || isBetter({ entry, tip }, best)) best = { entry, tip }
    }
    return best
  }

  #offer(sender: Address): void {
    const { pool, world } = this.#next
    const { nonce = 0n, code } = accountAt(world, sender) ?? {}
    if (code !== undefined && code.length > 0) this.#watched.add(sender)
    const entry = pooledByNonce(pool, sender, nonce)
    if (entry === undefined) this.#offered.delete(sender)
    else this.#offered.set(sender, entry)
  }
}
