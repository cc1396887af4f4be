// Keeps the chain on the heaviest branch among the peers: finds, fetches and validates it.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { LruCache } from '../../core/lrucache.ts'
import { yielder } from '../../core/yield.ts'
import type { Executor } from '../../evm/executor.ts'
import { cancellable } from '../../node/chain/cancellable.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { ForeignBranch } from '../../node/import/branch.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import {
  blockByHash,
  headOf,
  isHeavier,
  UNCLE_GENERATIONS,
  weightOf,
} from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { nameOf, type PeerEvent, type ReputationEvent, type SyncStatus } from '../../node/peers.ts'
import { decodeBlock } from '../../protocol/blocks/blockdecoding.ts'
import type { Peer, PeerHead } from '../peers/peer.ts'
import type { NodeOptions } from '../protocol/link.ts'
import { LinkError } from '../protocol/linkerror.ts'
import { BodyFetcher, type FetchedBlock } from './bodies.ts'
import { headersOf } from './headers.ts'

export interface SyncOptions extends Pick<NodeOptions, 'timing' | 'yieldIfDue' | 'onBug'> {
  readonly chain: Chain
  readonly peers: () => readonly Peer[]
  readonly note: (peer: Peer, event: ReputationEvent, times?: number) => void
  readonly log: (event: PeerEvent) => void
}

/** Milliseconds of import before others get a turn. */
const TURN_MS = 10

/** Milliseconds of import before its blocks join the chain. */
const ADOPT_MS = 100

/** Blocks by which a branch may be longer than what it replaces before it must be heavier. */
const MAX_LIGHT = 20_000n

/** Milliseconds before a failed head is tried again. */
const RETRY_MS = 2_000

const REMEMBERED = 1_024

/** Errors in the body, which the hash does not cover: blame the sender. */
const BODY_RULES: readonly unknown[] = [
  'encoding',
  'uncles hash',
  'transactions root',
  'withdrawals root',
]

/** Ends a branch with an invalid block that was counted already. */
class RejectedBlock extends LinkError {}

export class Synchronizer {
  readonly #options: SyncOptions
  readonly #onStatus: (status: SyncStatus | undefined) => void
  readonly #fresh = new FreshBlocks()
  readonly #invalid = new LruCache<Hash, string>(REMEMBERED)
  readonly #ignored = new WeakMap<Peer, { readonly hash: Hash; readonly until: number }>()
  readonly #valid = new Map<Peer, number>()
  readonly #executor: Executor
  readonly #closing = new AbortController()
  isBusy = false
  #range: Omit<SyncStatus, 'currentBlock'> | undefined

  /** @param onStatus gets undefined at the end of an import */
  constructor(options: SyncOptions, onStatus: (status: SyncStatus | undefined) => void) {
    this.#options = options
    this.#onStatus = onStatus
    this.#executor = cancellable(options.chain.executor, this.#closing.signal)
  }

  /** Undefined: no import, or one of a single block. */
  get status(): SyncStatus | undefined {
    const { tree } = this.#options.chain.state
    return this.#range && { ...this.#range, currentBlock: headOf(tree).block.header.number }
  }

  close(): void {
    this.#closing.abort()
  }

  /** @throws {DevchainError} `INVALID_PARAMS` for what is no block */
  offer(from: Peer, encoded: readonly Uint8Array[]): void {
    const { tree } = this.#options.chain.state
    for (const bytes of encoded) {
      // copy, so that a waiting block does not keep the whole message alive
      const block = decodeBlock(bytes.slice())
      from.note(block.hash)
      const isKnown = blockByHash(tree, block.hash) !== undefined || this.#fresh.has(block.hash)
      if (isKnown || this.#invalid.get(block.hash) !== undefined) {
        this.#options.note(from, 'repeatedMessages')
      } else this.#fresh.add({ block, from })
    }
  }

  /** Imports until no peer has a better branch. */
  wake(): void {
    if (this.isBusy || this.#closing.signal.aborted) return
    this.isBusy = true
    void this.#run()
  }

  async #run(): Promise<void> {
    try {
      for (let peer = this.#best(); peer !== undefined; peer = this.#best()) {
        const target = peer.head
        const isSettled = await this.#follow(peer, target)
        if (this.#isUnknown(target.hash)) this.#ignore(peer, target, isSettled)
      }
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#options.onBug(error)
    } finally {
      this.isBusy = false
      this.#setRange(undefined)
    }
  }

  /** For good if the branch was judged, for a while if it could not be fetched. */
  #ignore(peer: Peer, { hash }: PeerHead, isSettled: boolean): void {
    const { timing } = this.#options
    const until = isSettled ? Number.POSITIVE_INFINITY : timing.now() + RETRY_MS
    this.#ignored.set(peer, { hash, until })
    if (!isSettled) timing.after(RETRY_MS, () => this.wake())
  }

  /** Retries what failed while the peer was cut off. */
  rejoined(peer: Peer): void {
    this.#ignored.delete(peer)
    this.wake()
  }

  #best(): Peer | undefined {
    if (this.#closing.signal.aborted) return undefined
    const wanted = this.#options.peers().filter((peer) => this.#isWanted(peer))
    return wanted.reduce<Peer | undefined>(
      (best, peer) => (best !== undefined && !isHeavier(peer.head, best.head) ? best : peer),
      undefined,
    )
  }

  /** True for a heavier branch, and for a side block that may become an uncle. */
  #isWanted(peer: Peer): boolean {
    const { head } = peer
    if (!this.#isUnknown(head.hash) || this.#invalid.get(head.hash) !== undefined) return false
    const ignored = this.#ignored.get(peer)
    if (ignored?.hash === head.hash && ignored.until > this.#options.timing.now()) return false
    const own = weightOf(headOf(this.#options.chain.state.tree))
    return isHeavier(head, own) || head.number + BigInt(UNCLE_GENERATIONS) > own.number
  }

  #isUnknown(hash: Hash): boolean {
    return blockByHash(this.#options.chain.state.tree, hash) === undefined
  }

  /** @returns true: the branch was judged; false: it could not be fetched */
  async #follow(peer: Peer, target: PeerHead): Promise<boolean> {
    try {
      const { state } = this.#options.chain
      const fresh = this.#fresh.leadingTo(target.hash, state)
      if (fresh === undefined) await this.#followHeaders(peer, target)
      else {
        const branch = new ForeignBranch(state, fresh.parent)
        await this.#import(branch, peer, fresh.blocks, undefined)
        this.#checkClaim(peer, target, branch)
      }
      return true
    } catch (error) {
      return this.#blame(peer, error)
    }
  }

  async #followHeaders(peer: Peer, target: PeerHead): Promise<void> {
    const { chain, peers, note, yieldIfDue } = this.#options
    const { state } = chain
    const isInvalid = (hash: Hash): boolean => this.#invalid.get(hash) !== undefined
    const headers = headersOf({ peer, state, isInvalid, yieldIfDue })
    const fetcher = new BodyFetcher({ source: peer, peers, note, yieldIfDue })
    const { value: first } = await headers.next()
    if (first === undefined) return this.#checkEnd(peer, target)
    const fork = blockByHash(state.tree, first[0].header.parentHash)!
    const length = target.number - fork.block.header.number
    const wins = isHeavier(target, weightOf(headOf(state.tree)))
    if (!wins && length >= UNCLE_GENERATIONS) return
    if (length > 1n) {
      this.#setRange({
        startingBlock: this.#range?.startingBlock ?? fork.block.header.number,
        highestBlock: target.number,
      })
    }
    const branch = new ForeignBranch(state, fork)
    await this.#import(branch, peer, fetcher.blocksOf(first, headers), fetcher)
    this.#checkClaim(peer, target, branch)
  }

  /** The chain switches to the branch as soon as it is heavier. */
  async #import(
    branch: ForeignBranch,
    peer: Peer,
    blocks: Iterable<FetchedBlock> | AsyncIterable<FetchedBlock>,
    fetcher: BodyFetcher | undefined,
  ): Promise<void> {
    const { timing } = this.#options
    const yieldIfDue = yielder(TURN_MS)
    const start = branch.head.block.header.number
    let adoptAt = timing.now() + ADOPT_MS
    try {
      for await (const fetched of blocks) {
        await this.#add(branch, peer, fetched, fetcher)
        if (timing.now() >= adoptAt) {
          await this.#adopt(branch, peer)
          adoptAt = timing.now() + ADOPT_MS
          this.#checkWeight(branch, start)
        }
        await yieldIfDue()
        if (this.#closing.signal.aborted) return
      }
    } finally {
      if (!this.#closing.signal.aborted) await this.#adopt(branch, peer)
    }
  }

  async #add(
    branch: ForeignBranch,
    peer: Peer,
    { block, from }: FetchedBlock,
    fetcher: BodyFetcher | undefined,
  ): Promise<void> {
    try {
      await branch.add(this.#executor, block)
      this.#fresh.delete(block.hash)
      from.note(block.hash)
      this.#valid.set(from, (this.#valid.get(from) ?? 0) + 1)
    } catch (error) {
      this.#fresh.delete(block.hash)
      if (!(error instanceof DevchainError && error.word === 'INVALID_BLOCK')) throw error
      const { rule } = error.data as { readonly rule?: unknown }
      this.#options.note(from, 'invalidBlocks')
      if (!BODY_RULES.includes(rule)) return this.#reject(block.hash, peer, from, error)
      this.#options.log({ kind: 'rejected', peer: nameOf(from), reason: error.message })
      // the header may be right: another peer may have the right body
      if (fetcher === undefined) throw new RejectedBlock(error.message)
      const [again] = await fetcher.fetch([block], new Set([from]))
      if (again !== undefined) await this.#add(branch, peer, again, undefined)
    }
  }

  /** Remembers the block, so that its descendants are skipped. */
  #reject(hash: Hash, peer: Peer, from: Peer, error: DevchainError): never {
    this.#invalid.set(hash, error.message)
    this.#options.log({ kind: 'rejected', peer: nameOf(from), reason: error.message })
    // count it against the announcing peer too, if another sent the block
    if (peer !== from) this.#options.note(peer, 'invalidBlocks')
    throw new RejectedBlock(error.message)
  }

  async #adopt(branch: ForeignBranch, peer: Peer): Promise<void> {
    const { chain, note } = this.#options
    for (const [from, count] of this.#valid) note(from, 'validBlocks', count)
    this.#valid.clear()
    if (branch.waiting === 0) return
    await chain.update((state) => branch.adoptedBy(state), { peer: nameOf(peer) })
    branch.adopted(chain.state)
  }

  /** @throws {LinkError} for a long branch that stays lighter */
  #checkWeight(branch: ForeignBranch, start: bigint): void {
    const own = headOf(this.#options.chain.state.tree).block.header.number
    const replaced = own > start ? own - start : 0n
    if (BigInt(branch.waiting) <= replaced + MAX_LIGHT) return
    const message = `${branch.waiting} blocks of its branch are no heavier than the ${replaced} here`
    throw new LinkError(message, 'invalidHeader')
  }

  #checkClaim(peer: Peer, target: PeerHead, branch: ForeignBranch): void {
    const { block, totalDifficulty } = branch.head
    if (block.hash !== target.hash) this.#checkEnd(peer, target)
    if (block.hash !== target.hash || totalDifficulty === target.totalDifficulty) return
    peer.head = { hash: block.hash, number: block.header.number, totalDifficulty }
    const message = `its total difficulty is ${totalDifficulty}, it claimed ${target.totalDifficulty}`
    throw new LinkError(message, 'invalidHeader')
  }

  /** The branch ended early: an error unless the peer has moved on. */
  #checkEnd(peer: Peer, target: PeerHead): void {
    if (peer.head.hash !== target.hash || !peer.isPresent) return
    const { number, totalDifficulty } = target
    const message = `it claimed block ${number} with a total difficulty of ${totalDifficulty}, and does not send it`
    throw new LinkError(message, 'invalidHeader')
  }

  /** @returns true: the branch is invalid; false: it could not be fetched */
  #blame(peer: Peer, error: unknown): boolean {
    if (error instanceof DevchainError && error.word === 'CANCELLED') return true
    const isMalformed = error instanceof DevchainError && error.word === 'INVALID_PARAMS'
    if (!(error instanceof LinkError || isMalformed)) throw error
    const event = error instanceof LinkError ? error.event : 'invalidMessages'
    // counted already, or nobody's fault
    if (event === undefined) return error instanceof RejectedBlock
    this.#options.log({ kind: 'rejected', peer: nameOf(peer), reason: error.message })
    this.#options.note(peer, event)
    return true
  }

  #setRange(range: Omit<SyncStatus, 'currentBlock'> | undefined): void {
    const wasRunning = this.#range !== undefined
    this.#range = range
    if ((wasRunning || range !== undefined) && !this.#closing.signal.aborted)
      this.#onStatus(this.status)
  }
}

/** Of the announced blocks that are kept. */
const MAX_BLOCKS = 512
const MAX_BYTES = 2_000_000

/** From a child of a known block to the wanted one. */
interface FreshBranch {
  readonly parent: BlockRecord
  readonly blocks: readonly FetchedBlock[]
}

/** A bounded number of announced blocks that are not on the chain yet, by hash. */
class FreshBlocks {
  readonly #blocks = new Map<Hash, FetchedBlock>()
  #bytes = 0

  has(hash: Hash): boolean {
    return this.#blocks.has(hash)
  }

  add(fetched: FetchedBlock): void {
    const { hash, size } = fetched.block
    if (this.#blocks.has(hash)) return
    this.#blocks.set(hash, fetched)
    this.#bytes += size
    for (const [oldest] of this.#blocks) {
      if (this.#blocks.size <= MAX_BLOCKS && this.#bytes <= MAX_BYTES) break
      this.delete(oldest)
    }
  }

  delete(hash: Hash): void {
    const found = this.#blocks.get(hash)
    if (found === undefined) return
    this.#blocks.delete(hash)
    this.#bytes -= found.block.size
  }

  /** Undefined: a block in between is missing. */
  leadingTo(hash: Hash, { tree }: ChainState): FreshBranch | undefined {
    const blocks: FetchedBlock[] = []
    for (let next: Hash = hash; ; ) {
      const found = this.#blocks.get(next)
      if (found === undefined) return undefined
      blocks.unshift(found)
      next = found.block.header.parentHash
      const parent = blockByHash(tree, next)
      if (parent !== undefined) return { parent, blocks }
    }
  }
}
