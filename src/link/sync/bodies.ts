// Fetches the blocks of known headers from several peers at once, and yields them in order.
import { DevchainError } from '../../core/errors.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import type { ReputationEvent } from '../../node/peers.ts'
import { decodeBlock, type EncodedBlock } from '../../protocol/blocks/blockdecoding.ts'
import type { Peer } from '../peers/peer.ts'
import { LinkError } from '../protocol/linkerror.ts'
import type { HashedHeader } from './headers.ts'

export interface FetchedBlock {
  readonly block: EncodedBlock
  readonly from: Peer
}

/** Open requests of one branch: they bound the blocks in memory. */
const AHEAD = 6

export interface BodyOptions {
  readonly source: Peer
  readonly peers: () => readonly Peer[]
  readonly note: (peer: Peer, event: ReputationEvent) => void
  readonly yieldIfDue: YieldIfDue
}

export class BodyFetcher {
  readonly #options: BodyOptions
  readonly #open = new Map<Peer, number>()
  readonly #lacking = new Set<Peer>()

  constructor(options: BodyOptions) {
    this.#options = options
  }

  /** @throws {LinkError} if no peer sends one of the blocks */
  async *blocksOf(
    first: readonly HashedHeader[],
    others: AsyncIterable<readonly HashedHeader[]>,
  ): AsyncGenerator<FetchedBlock> {
    const coming = [this.#begin(first)]
    for await (const some of others) {
      coming.push(this.#begin(some))
      if (coming.length >= AHEAD) yield* await coming.shift()!
    }
    for (const each of coming) yield* await each
  }

  #begin(headers: readonly HashedHeader[]): Promise<readonly FetchedBlock[]> {
    const chunk = this.fetch(headers)
    // the error is thrown when its turn comes
    chunk.catch(() => undefined)
    return chunk
  }

  /**
   * @param without peers that are not asked
   * @throws {LinkError} if no peer sends one of the blocks
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

  /** Empty if the peer fails, which counts against it. */
  async #askOne(peer: Peer, headers: readonly HashedHeader[]): Promise<readonly EncodedBlock[]> {
    this.#open.set(peer, this.#openAt(peer) + 1)
    try {
      const hashes = headers.map(({ hash }) => hash)
      const { blocks } = await peer.link.request('getBlocks', { hashes })
      if (blocks.length === 0) this.#lacking.add(peer)
      return await this.#read(blocks, headers)
    } catch (error) {
      // ignore the rest of its reply
      if (error instanceof DevchainError) {
        peer.link.refuse(new LinkError(error.message, 'invalidMessages'))
      } else if (!(error instanceof LinkError)) throw error
      else if (error.event !== undefined) this.#options.note(peer, error.event)
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
        throw new LinkError(`it sent block ${block.hash}, asked for ${hash}`, 'unexpectedMessages')
      }
      blocks.push(block)
      await this.#options.yieldIfDue()
    }
    return blocks
  }

  /** The least busy peer that may have the block. */
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

  #nobody(headers: readonly HashedHeader[], failed: ReadonlySet<Peer>): LinkError {
    const { source } = this.#options
    const isToBlame = failed.has(source) && source.isPresent
    const message = `nobody sends block ${headers[0]?.header.number} of its branch`
    return new LinkError(message, isToBlame ? 'invalidHeader' : undefined)
  }
}
