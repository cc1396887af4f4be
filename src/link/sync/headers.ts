// The headers of a peer's branch, one batch after another, each held against the one before it.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import { placeOf } from '../../node/import/validate.ts'
import { blockByHash, hashByNumber, isCanonical } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { Header } from '../../protocol/blocks/header.ts'
import { decodeHeader } from '../../protocol/blocks/header.ts'
import { checkHeader } from '../../protocol/blocks/headerrules.ts'
import type { Peer, PeerHead } from '../peers/peer.ts'
import { MOST } from '../protocol/messages.ts'
import { Refusal } from '../protocol/refusal.ts'

export interface HashedHeader {
  readonly header: Header
  readonly hash: Hash
}

/** The newest blocks of which a locator has every hash; from there on it goes back in steps that double. */
const EVERY = 10

/** Hashes by which a peer finds the newest block that both chains have. */
function locatorOf({ tree }: ChainState): Hash[] {
  const hashes: Hash[] = []
  let step = 1
  let number = tree.canonical.length - 1
  while (number > 0) {
    hashes.push(hashByNumber(tree, BigInt(number))!)
    if (hashes.length >= EVERY) step *= 2
    number -= step
  }
  return [...hashes, hashByNumber(tree, 0n)!]
}

export class HeaderSource {
  readonly #peer: Peer
  readonly #state: ChainState
  readonly #target: PeerHead
  readonly #isInvalid: (hash: Hash) => boolean
  readonly #yieldIfDue: YieldIfDue
  #last: HashedHeader | undefined
  #buffer: HashedHeader[] = []
  #isAtEnd = false
  #problem: unknown
  /** The newest block that both have; known once there is a header. */
  fork: Hash | undefined

  /** @param isInvalid true for blocks that a branch may not contain */
  constructor(
    peer: Peer,
    state: ChainState,
    isInvalid: (hash: Hash) => boolean,
    yieldIfDue: YieldIfDue,
  ) {
    this.#peer = peer
    this.#state = state
    this.#target = peer.head
    this.#isInvalid = isInvalid
    this.#yieldIfDue = yieldIfDue
  }

  /**
   * Resolves when the next headers are there, or the branch ends.
   * @throws {Refusal} when the peer does not send what can be a branch
   */
  async begin(): Promise<void> {
    while (this.#buffer.length === 0 && !this.#isAtEnd) {
      if (this.#problem !== undefined) throw this.#problem
      // what went wrong is thrown when all before it is used
      await this.#ask().catch((error: unknown) => {
        this.#problem = error
      })
    }
  }

  /** The next headers, so many at most; none at the end of the branch. @throws as `begin` */
  async next(count: number): Promise<readonly HashedHeader[]> {
    await this.begin()
    return this.#buffer.splice(0, count)
  }

  async #ask(): Promise<void> {
    const locator = this.#last === undefined ? locatorOf(this.#state) : [this.#last.hash]
    const { headers } = await this.#peer.link.ask('getHeaders', { locator, most: MOST.headers })
    for (const encoded of headers) {
      this.#add(encoded)
      await this.#yieldIfDue()
    }
    if (headers.length === 0 || this.#last?.hash === this.#target.hash) this.#isAtEnd = true
  }

  #add(encoded: Uint8Array): void {
    const read = { header: decodeHeader(encoded), hash: keccakHash(encoded) }
    const parent = this.#parentOf(read)
    // the peer may have gone on since; how far is known when it is asked
    const highest = this.#peer.head.number > this.#target.number ? this.#peer.head : this.#target
    if (read.header.number > highest.number) {
      throw new Refusal(
        `it sends header ${read.header.number} though its newest block is ${highest.number}`,
        'invalidHeader',
      )
    }
    if (this.#isInvalid(read.hash)) {
      throw new Refusal(`block ${read.header.number} of its branch is invalid`, 'repeatedMessages')
    }
    this.#check(read.header, parent)
    this.#last = read
    this.#buffer.push(read)
  }

  #parentOf({ header }: HashedHeader): HashedHeader {
    const { parentHash, number } = header
    const last = this.#last
    if (last !== undefined && last.hash === parentHash) return last
    const record = last === undefined ? blockByHash(this.#state.tree, parentHash) : undefined
    if (record === undefined || !isCanonical(this.#state.tree, record)) {
      throw new Refusal(`its header ${number} does not follow the one before`, 'invalidHeader')
    }
    this.fork = parentHash
    return record.block
  }

  /** Holds a header against the rules as far as they are known before blocks are run. */
  #check(header: Header, parent: HashedHeader): void {
    const { config } = this.#state
    // whose rules hold shows when the first block is run
    if (parent.header.number === 0n && !config.hasOwnGenesis) return
    try {
      if (config.ruleset === 'own' || config.terminalTotalDifficulty === undefined) {
        checkHeader(header, placeOf(this.#state, header, parent))
      }
    } catch (error) {
      if (!(error instanceof DevchainError)) throw error
      throw new Refusal(`header ${header.number}: ${error.message}`, 'invalidHeader')
    }
  }
}
