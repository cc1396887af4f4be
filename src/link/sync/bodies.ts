// The blocks of a branch whose headers are known: fetched from several peers at once, handed on in their order.
import { DevchainError } from '../../core/errors.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import type { Deed } from '../../node/peers.ts'
import { decodeBlock, type EncodedBlock } from '../../protocol/blocks/blockdecoding.ts'
import type { Peer } from '../peers/peer.ts'
import { Refusal } from '../protocol/refusal.ts'
import type { HashedHeader, HeaderSource } from './headers.ts'

export interface FetchedBlock {
  readonly block: EncodedBlock
  readonly from: Peer
}

const CHUNK = 64

/** Questions that are open for one branch at a time: what they bring is all that waits to be imported. */
const AHEAD = 6

export interface BodyOptions {
  readonly source: Peer
  readonly peers: () => readonly Peer[]
  readonly note: (peer: Peer, deed: Deed) => void
  readonly yieldIfDue: YieldIfDue
}

export class BodyFetcher {
  readonly #options: BodyOptions
  readonly #open = new Map<Peer, number>()
  /** Those that do not have this branch. */
  readonly #lacking = new Set<Peer>()

  constructor(options: BodyOptions) {
    this.#options = options
  }

  /**
   * All blocks of a branch.
   * @throws {Refusal} when nobody sends one of them
   */
  async *blocksOf(headers: HeaderSource): AsyncGenerator<FetchedBlock> {
    const coming: Promise<readonly FetchedBlock[]>[] = []
    for (;;) {
      while (coming.length < AHEAD) {
        const some = await headers.next(CHUNK)
        if (some.length === 0) break
        const chunk = this.fetch(some)
        // its error is thrown when its turn has come
        chunk.catch(() => undefined)
        coming.push(chunk)
      }
      const next = coming.shift()
      if (next === undefined) return
      yield* await next
    }
  }

  /**
   * These blocks, from whoever has them.
   * @param without peers that are not asked
   * @throws {Refusal} when nobody sends one of them
   */
  async fetch(
    headers: readonly HashedHeader[],
    without: ReadonlySet<Peer> = new Set(),
  ): Promise<readonly FetchedBlock[]> {
    const found: FetchedBlock[] = []
    const failed = new Set(without)
    while (found.length < headers.length) {
      const rest = headers.slice(found.length)
      const peer = this.#choose(rest.at(-1)?.header.number ?? 0n, failed)
      if (peer === undefined) throw this.#nobody(headers, failed)
      const blocks = await this.#askOne(peer, rest)
      if (blocks.length === 0) failed.add(peer)
      for (const block of blocks) found.push({ block, from: peer })
    }
    return found
  }

  /** What one peer has of them; none when it fails, which is counted. */
  async #askOne(peer: Peer, headers: readonly HashedHeader[]): Promise<readonly EncodedBlock[]> {
    this.#open.set(peer, this.#openAt(peer) + 1)
    try {
      const hashes = headers.map(({ hash }) => hash)
      const { blocks } = await peer.link.ask('getBlocks', { hashes })
      if (blocks.length === 0) this.#lacking.add(peer)
      return await this.#read(blocks, headers)
    } catch (error) {
      // what else it has to say is not read
      if (error instanceof DevchainError) {
        peer.link.refuse(new Refusal(error.message, 'invalidMessages'))
      } else if (!(error instanceof Refusal)) throw error
      // one that came too late is counted already
      else if (error.deed !== undefined && error.deed !== 'timeoutMessages') {
        this.#options.note(peer, error.deed)
      }
      return []
    } finally {
      this.#open.set(peer, this.#openAt(peer) - 1)
    }
  }

  async #read(
    encoded: readonly Uint8Array[],
    wanted: readonly HashedHeader[],
  ): Promise<readonly EncodedBlock[]> {
    const blocks: EncodedBlock[] = []
    for (const [i, each] of encoded.entries()) {
      const block = decodeBlock(each)
      const { hash } = wanted[i] ?? {}
      if (block.hash !== hash) {
        throw new Refusal(`it sent block ${block.hash}, asked for ${hash}`, 'unexpectedMessages')
      }
      blocks.push(block)
      await this.#options.yieldIfDue()
    }
    return blocks
  }

  /** Whoever may have a block, and has least to do. */
  #choose(number: bigint, failed: ReadonlySet<Peer>): Peer | undefined {
    const { source, peers } = this.#options
    const able = peers().filter(
      (peer) =>
        !failed.has(peer) &&
        (peer === source || (peer.head.number >= number && !this.#lacking.has(peer))),
    )
    return able.sort((a, b) => this.#openAt(a) - this.#openAt(b))[0]
  }

  #openAt(peer: Peer): number {
    return this.#open.get(peer) ?? 0
  }

  #nobody(headers: readonly HashedHeader[], failed: ReadonlySet<Peer>): Refusal {
    const { source } = this.#options
    const isToBlame = failed.has(source) && source.isPresent
    const message = `nobody sends block ${headers[0]?.header.number} of its branch`
    return new Refusal(message, isToBlame ? 'invalidHeader' : undefined)
  }
}
