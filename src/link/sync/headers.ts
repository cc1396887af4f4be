// Fetches the headers of a peer's branch in batches, and checks each against its parent.
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
import { LinkError } from '../protocol/linkerror.ts'
import { MOST } from '../protocol/messages.ts'

export interface HashedHeader {
  readonly header: Header
  readonly hash: Hash
}

/** A locator has each of the newest hashes; then its steps double. */
const EVERY = 10

/** Helps a peer find the newest common block. */
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

interface HeaderOptions {
  readonly peer: Peer
  readonly state: ChainState
  /** True for known bad blocks. */
  readonly isInvalid: (hash: Hash) => boolean
  readonly yieldIfDue: YieldIfDue
}

export class HeaderSource {
  readonly #options: HeaderOptions
  readonly #target: PeerHead
  #last: HashedHeader | undefined
  #buffer: HashedHeader[] = []
  #isAtEnd = false
  #problem: unknown
  /** The newest common block; known with the first header. */
  fork: Hash | undefined

  constructor(options: HeaderOptions) {
    this.#options = options
    this.#target = options.peer.head
  }

  /** @throws {LinkError} for headers that form no branch */
  async begin(): Promise<void> {
    while (this.#buffer.length === 0 && !this.#isAtEnd) {
      if (this.#problem !== undefined) throw this.#problem
      // the error is thrown after the good headers are used
      await this.#ask().catch((error: unknown) => {
        this.#problem = error
      })
    }
  }

  /** Empty at the end of the branch. */
  async next(count: number): Promise<readonly HashedHeader[]> {
    await this.begin()
    return this.#buffer.splice(0, count)
  }

  async #ask(): Promise<void> {
    const { peer, state, yieldIfDue } = this.#options
    const locator = this.#last === undefined ? locatorOf(state) : [this.#last.hash]
    const { headers } = await peer.link.request('getHeaders', { locator, most: MOST.headers })
    for (const encoded of headers) {
      this.#add(encoded)
      await yieldIfDue()
    }
    if (headers.length === 0 || this.#last?.hash === this.#target.hash) this.#isAtEnd = true
  }

  #add(encoded: Uint8Array): void {
    const read = { header: decodeHeader(encoded), hash: keccakHash(encoded) }
    const parent = this.#parentOf(read)
    // the peer may have moved on; the request shows how far
    const { head } = this.#options.peer
    const highest = head.number > this.#target.number ? head : this.#target
    if (read.header.number > highest.number) {
      throw new LinkError(
        `it sends header ${read.header.number} though its newest block is ${highest.number}`,
        'invalidHeader',
      )
    }
    if (this.#options.isInvalid(read.hash)) {
      throw new LinkError(
        `block ${read.header.number} of its branch is invalid`,
        'repeatedMessages',
      )
    }
    this.#check(read.header, parent)
    this.#last = read
    this.#buffer.push(read)
  }

  #parentOf({ header }: HashedHeader): HashedHeader {
    const { parentHash, number } = header
    const { tree } = this.#options.state
    const last = this.#last
    if (last !== undefined && last.hash === parentHash) return last
    const record = last === undefined ? blockByHash(tree, parentHash) : undefined
    if (record === undefined || !isCanonical(tree, record)) {
      throw new LinkError(`its header ${number} does not follow the one before`, 'invalidHeader')
    }
    this.fork = parentHash
    return record.block
  }

  /** Checks all rules that need no execution. */
  #check(header: Header, parent: HashedHeader): void {
    const { state } = this.#options
    const { config } = state
    // the first block's execution shows which rules hold
    if (parent.header.number === 0n && !config.hasOwnGenesis) return
    try {
      if (config.ruleset === 'own' || config.terminalTotalDifficulty === undefined) {
        checkHeader(header, placeOf(state, header, parent))
      }
    } catch (error) {
      if (!(error instanceof DevchainError)) throw error
      throw new LinkError(`header ${header.number}: ${error.message}`, 'invalidHeader')
    }
  }
}
