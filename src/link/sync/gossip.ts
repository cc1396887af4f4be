// Announces new blocks and pool transactions to peers, and handles theirs: hashes first, contents on request.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
import { headChange, headOf } from '../../node/ledger/blocktree.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import { nameOf } from '../../node/peers.ts'
import {
  arrivedAfter,
  type PooledTransaction,
  pooledByHash,
  pooledInOrder,
} from '../../node/pool/pool.ts'
import { readReceived, receiveTransactions } from '../../node/sending/receive.ts'
import { type Block, encodeBlock } from '../../protocol/blocks/block.ts'
import type { SentTransaction } from '../../protocol/transactions/sidecar.ts'
import { isImpersonated } from '../../protocol/transactions/transaction.ts'
import type { Peer } from '../peers/peer.ts'
import { LinkError } from '../protocol/linkerror.ts'
import { type LinkMessage, MAX_MESSAGE, MOST } from '../protocol/messages.ts'
import { pause } from '../protocol/timing.ts'
import type { SyncOptions } from './synchronizer.ts'
import { isHere, travels, waitingBytes } from './travel.ts'

export interface GossipOptions extends SyncOptions {
  /** True: peers' transactions trigger instant mining (--mine-for-peers). */
  readonly minesForPeers: boolean
  /** True: accepts transactions of impersonated senders. Peers could put them into blocks anyway. */
  readonly takesImpersonated: boolean
}

/** Milliseconds of gathering before blocks are announced: the first after a pause, and in a series. */
const GATHER_FIRST_MS = 1
const GATHER_MANY_MS = 20

/** Milliseconds before a known block is announced: the peer has nothing to do then. */
const GATHER_KNOWN_MS = 100

const GATHER_TRANSACTIONS_MS = 10

/** Scanning the pool takes at most 1/10 of the time. */
const LOOKING_SHARE = 10

/** Blocks, and their bytes, in one announcement; beyond that the peer asks for headers. */
const PUSHED_BLOCKS: number = MOST.blocks
const PUSHED_BYTES = 256 * 1024

/** A peer that is further behind gets no blocks: it is busy, and asks for them later. */
const FAR_BEHIND = 512n

/** Waiting transactions, and their bytes with blobs, beyond which none are requested. */
const ROOM = 4_096
const ROOM_BYTES = 16 * 2 ** 20

/** Milliseconds between checks if pending requests have left room. */
const ROOM_MS = 20

/** Blobs without proofs are expensive to reject, and honest nodes send none. */
const UNPROVEN_WEIGHT = 20

/** Transactions that enter the pool before users get a turn. */
const RECEIVED_AT_ONCE = 64

/** Not the sender's fault: chains may be at different blocks. */
const HARMLESS: readonly string[] = [
  'ALREADY_KNOWN',
  'NONCE_TOO_LOW',
  'NONCE_TOO_HIGH',
  'REPLACEMENT_UNDERPRICED',
  'TRANSACTION_UNDERPRICED',
  'FEE_CAP_TOO_LOW',
  'EXCEEDS_BLOCK_GAS_LIMIT',
  'POOL_FULL',
]

export class Gossip {
  readonly #options: GossipOptions
  readonly #wanted = new Map<Peer, Set<Hash>>()
  readonly #asked = new Set<Hash>()
  /** Announced again, though peers may know them. */
  readonly #returned = new Set<Hash>()
  readonly #passedOver = new WeakSet<Peer>()
  #openRequests = 0
  #announced: ChainState
  #announcedArrival: number
  #announcedAt = Number.NEGATIVE_INFINITY
  #reading: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #stopBlocks: (() => void) | undefined
  #stopHead: (() => void) | undefined
  #stopTransactions: (() => void) | undefined

  constructor(options: GossipOptions) {
    this.#options = options
    this.#announced = options.chain.state
    this.#announcedArrival = options.chain.state.pool.lastArrival
  }

  note({ before, after, head }: StateChange): void {
    if (this.#options.peers().length === 0) {
      this.#announced = after
      this.#announcedArrival = after.pool.lastArrival
      return
    }
    if (before.tree !== after.tree) this.#announceBlocksSoon()
    // added blocks alone change nothing here
    if (head.removed.length === 0 && after.pool.size === 0) return
    for (const { block } of head.removed.filled()) {
      for (const { hash } of block.transactions) {
        if (this.#returned.size < MOST.hashes) this.#returned.add(hash)
      }
    }
    const hasNew = before.pool.lastArrival !== after.pool.lastArrival || this.#returned.size > 0
    if (hasNew && after.pool.size > 0) this.#announceTransactionsSoon()
  }

  /** A peer joined or rejoined: announces everything. */
  greet(peer: Peer): void {
    const { state } = this.#options.chain
    announce(peer, state, [])
    this.#announceHashes(peer, pooledInOrder(state.pool))
  }

  get isBusy(): boolean {
    return this.#wanted.size > 0
  }

  /** Announces gathered blocks now, so that later messages refer to the newest one. */
  announceNow(): void {
    if (this.#stopBlocks !== undefined) {
      this.#stopBlocks()
      this.#announceBlocks()
    }
    this.#stopHead?.()
    this.#announceHead()
  }

  forget(peer: Peer): void {
    this.#wanted.delete(peer)
  }

  close(): void {
    this.#isClosed = true
    this.#stopBlocks?.()
    this.#stopHead?.()
    this.#stopTransactions?.()
  }

  heard(peer: Peer, { hashes }: LinkMessage<'pooled'>): void {
    const { state } = this.#options.chain
    const wanted = this.#wanted.get(peer) ?? new Set<Hash>()
    for (const hash of hashes) {
      peer.note(hash)
      if (isHere(state, hash) || this.#asked.has(hash)) continue
      if (wanted.size < ROOM) wanted.add(hash)
    }
    const isAsking = this.#wanted.has(peer)
    this.#wanted.set(peer, wanted)
    if (!isAsking) void this.#ask(peer, wanted)
  }

  async #ask(peer: Peer, wanted: Set<Hash>): Promise<void> {
    try {
      while (wanted.size > 0 && peer.isPresent && !this.#isClosed) {
        const room = this.#room()
        if (room === 0) break
        if (room < 0) {
          await pause(this.#options.timing, ROOM_MS)
          continue
        }
        const some = [...wanted].slice(0, Math.min(MOST.transactions, room))
        for (const hash of some) wanted.delete(hash)
        const hashes = some.filter((hash) => !this.#asked.has(hash))
        const unanswered = hashes.length === 0 ? [] : await this.#fetch(peer, hashes)
        for (const hash of unanswered) wanted.add(hash)
      }
    } catch (error) {
      this.#failed(peer, error)
    } finally {
      if (this.#wanted.get(peer) === wanted) this.#wanted.delete(peer)
    }
  }

  #failed(peer: Peer, error: unknown): void {
    if (error instanceof LinkError) {
      if (error.event !== undefined) peer.link.refuse(error)
    } else if (!(error instanceof DevchainError)) this.#options.onBug(error)
  }

  /** Transactions that may be requested; 0: the pool is full; -1: too many requests are open. */
  #room(): number {
    const { state } = this.#options.chain
    const room = ROOM - state.pool.size
    if (room <= 0) return 0
    const roomBytes = ROOM_BYTES - waitingBytes(state)
    if (roomBytes <= 0) return 0
    const isOnItsWay = this.#openRequests * MAX_MESSAGE >= roomBytes || this.#asked.size >= room
    return isOnItsWay && this.#openRequests > 0 ? -1 : room - this.#asked.size
  }

  /** @returns those that the reply had no room for */
  async #fetch(peer: Peer, hashes: readonly Hash[]): Promise<readonly Hash[]> {
    for (const hash of hashes) this.#asked.add(hash)
    this.#openRequests += 1
    try {
      const { transactions } = await peer.link.request('getTransactions', { hashes })
      const read = await this.#inOrder(() => this.#read(peer, transactions, new Set(hashes)))
      await this.#receive(peer, read)
      const answered = new Set(read.map(({ transaction }) => transaction.hash))
      return answered.size === 0 ? [] : hashes.filter((hash) => !answered.has(hash))
    } finally {
      this.#openRequests -= 1
      for (const hash of hashes) this.#asked.delete(hash)
    }
  }

  /** One peer at a time, as proof checks yield. */
  #inOrder<T>(read: () => Promise<T>): Promise<T> {
    const done = this.#reading.then(read)
    this.#reading = done.catch(() => undefined)
    return done
  }

  async #receive(peer: Peer, read: readonly SentTransaction[]): Promise<void> {
    const { chain, note, minesForPeers, takesImpersonated, yieldIfDue } = this.#options
    const taken = read.filter(
      ({ transaction }) => takesImpersonated || !isImpersonated(transaction),
    )
    if (taken.length < read.length) this.#passOver(peer)
    for (let at = 0; at < taken.length; at += RECEIVED_AT_ONCE) {
      const some = taken.slice(at, at + RECEIVED_AT_ONCE)
      const { refused, completed } = await receiveTransactions(chain, some, minesForPeers)
      const wrong = refused.filter(({ error }) => !HARMLESS.includes(error.word))
      note(peer, 'invalidTransactions', wrong.length)
      note(peer, 'validTransactions', some.length - refused.length)
      for (const hash of completed) this.#returned.add(hash)
      if (completed.length > 0) this.#announceTransactionsSoon()
      await yieldIfDue()
    }
  }

  #passOver(peer: Peer): void {
    if (this.#passedOver.has(peer)) return
    this.#passedOver.add(peer)
    const reason = 'their senders are impersonated, which --follow off does not accept'
    this.#options.log({ kind: 'passedOver', peer: nameOf(peer), reason })
  }

  /** Drops malformed ones. Slow: recovers senders and verifies blobs. */
  async #read(
    peer: Peer,
    encoded: readonly Uint8Array[],
    hashes: ReadonlySet<Hash>,
  ): Promise<readonly SentTransaction[]> {
    const { chain, note, yieldIfDue } = this.#options
    const read: SentTransaction[] = []
    for (const bytes of encoded) {
      try {
        // copy, so that the pool does not keep the whole message alive
        const sent = await readReceived(chain, bytes.slice())
        if (!hashes.has(sent.transaction.hash)) {
          throw new LinkError('it sent a transaction that was not asked for', 'unexpectedMessages')
        }
        read.push(sent)
      } catch (error) {
        if (!(error instanceof DevchainError)) throw error
        note(peer, 'invalidTransactions', error.word === 'INVALID_BLOBS' ? UNPROVEN_WEIGHT : 1)
      }
      await yieldIfDue()
    }
    return read
  }

  #announceBlocksSoon(): void {
    if (this.#stopBlocks !== undefined) return
    const { chain, timing, peers } = this.#options
    const { hash } = headOf(chain.state.tree).block
    if (!peers().every((peer) => peer.knows(hash))) {
      const waitMs = Math.max(GATHER_FIRST_MS, this.#announcedAt + GATHER_MANY_MS - timing.now())
      this.#stopBlocks = timing.after(waitMs, () => this.#announceBlocks())
      return
    }
    this.#announced = chain.state
    if (peers().every(({ announcedHead }) => announcedHead === hash)) return
    this.#stopHead ??= timing.after(GATHER_KNOWN_MS, () => this.#announceHead())
  }

  /** Announces blocks to peers that lack the newest one. */
  #announceBlocks(): void {
    this.#stopBlocks = undefined
    const { chain, peers, timing } = this.#options
    const { state } = chain
    this.#announcedAt = timing.now()
    const pushed = pushable(headChange(this.#announced.tree, state.tree).added)
    this.#announced = state
    const { block } = headOf(state.tree)
    const encode = memoize(PUSHED_BLOCKS, encodeBlock)
    for (const peer of peers()) {
      if (peer.knows(block.hash)) continue
      const isFarBehind = peer.head.number + FAR_BEHIND < block.header.number
      const first = isFarBehind ? -1 : pushed.findIndex(({ hash }) => !peer.knows(hash))
      const blocks = first < 0 ? [] : pushed.slice(first)
      announce(peer, state, blocks.map(encode))
      for (const { hash } of blocks) peer.note(hash)
    }
    this.#announceBlocksSoon()
  }

  /** Announces the head to peers that have the block: they need to know that it is the head here. */
  #announceHead(): void {
    this.#stopHead = undefined
    const { chain, peers } = this.#options
    const { hash } = headOf(chain.state.tree).block
    for (const peer of peers()) {
      if (peer.knows(hash) && peer.announcedHead !== hash) announce(peer, chain.state, [])
    }
  }

  #announceTransactionsSoon(): void {
    const { timing } = this.#options
    const announce = (): void => this.#announceTransactions()
    this.#stopTransactions ??= timing.after(GATHER_TRANSACTIONS_MS, announce)
  }

  #announceTransactions(): void {
    this.#stopTransactions = undefined
    const { chain, peers, timing } = this.#options
    const { pool } = chain.state
    const begin = timing.now()
    const returned = [...this.#returned].flatMap((hash) => pooledByHash(pool, hash) ?? [])
    this.#returned.clear()
    const arrived = arrivedAfter(pool, this.#announcedArrival)
    this.#announcedArrival = pool.lastArrival
    for (const peer of peers()) {
      // the peer may have asked for it while it was in a block
      this.#sendHashes(peer, returned)
      this.#announceHashes(peer, arrived)
    }
    const tookMs = timing.now() - begin
    if (tookMs < 1) return
    // the next scan waits, so that a large pool keeps to its share
    this.#stopTransactions = timing.after(LOOKING_SHARE * tookMs, () => {
      this.#stopTransactions = undefined
      if (chain.state.pool.lastArrival !== this.#announcedArrival) this.#announceTransactions()
    })
  }

  #announceHashes(peer: Peer, entries: readonly PooledTransaction[]): void {
    const unknown = entries.filter(({ transaction }) => !peer.knows(transaction.hash))
    this.#sendHashes(peer, unknown)
  }

  #sendHashes(peer: Peer, entries: readonly PooledTransaction[]): void {
    const { state } = this.#options.chain
    const hashes = entries
      .filter((entry) => travels(state, entry))
      .map(({ transaction }) => transaction.hash)
    for (let at = 0; at < hashes.length; at += MOST.hashes) {
      const some = hashes.slice(at, at + MOST.hashes)
      for (const hash of some) peer.note(hash)
      peer.link.send({ kind: 'pooled', hashes: some })
    }
  }
}

function announce(peer: Peer, { tree }: ChainState, blocks: readonly Uint8Array[]): void {
  const { block, totalDifficulty } = headOf(tree)
  const { hash, header } = block
  peer.link.send({ kind: 'announce', head: hash, number: header.number, totalDifficulty, blocks })
  peer.announcedHead = hash
  peer.note(hash)
}

function pushable(added: BlockRange): readonly Block[] {
  if (added.length > PUSHED_BLOCKS) return []
  const blocks = [...added].map(({ block }) => block)
  return blocks.reduce((sum, { size }) => sum + size, 0) <= PUSHED_BYTES ? blocks : []
}
