// Fetches the headers of a peer's branch in batches, and checks each against its parent.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import { placeOf } from '../../node/import/validate.ts'
import { blockByHash, hashByNumber, isCanonical } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import { decodeHeader, type Header } from '../../protocol/blocks/header.ts'
import { checkHeader } from '../../protocol/blocks/headerrules.ts'
import type { Peer, PeerHead } from '../peers/peer.ts'
import { LinkError } from '../protocol/linkerror.ts'
import { MOST } from '../protocol/messages.ts'

export type HashedHeader = Pick<Block, 'header' | 'hash'>

/** Headers whose blocks are fetched together. */
const CHUNK = 64

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

/**
 * The headers of a peer's branch, a chunk at a time. The parent of the first is the newest common block.
 * @throws {LinkError} for headers that form no branch
 */
export async function* headersOf(
  options: HeaderOptions,
): AsyncGenerator<readonly [HashedHeader, ...HashedHeader[]], undefined> {
  const { peer, state, yieldIfDue } = options
  const target = peer.head
  let last: HashedHeader | undefined
  while (last?.hash !== target.hash) {
    const locator = last === undefined ? locatorOf(state) : [last.hash]
    const { headers } = await peer.link.request('getHeaders', { locator, most: MOST.headers })
    if (headers.length === 0) return undefined
    const read: HashedHeader[] = []
    try {
      for (const encoded of headers) {
        last = readHeader(encoded, last, target, options)
        read.push(last)
        await yieldIfDue()
      }
    } finally {
      // an error is thrown after the good headers are used
      while (read.length > 0) yield read.splice(0, CHUNK) as [HashedHeader]
    }
  }
  return undefined
}

function readHeader(
  encoded: Uint8Array,
  last: HashedHeader | undefined,
  target: PeerHead,
  { peer: { head }, state, isInvalid }: HeaderOptions,
): HashedHeader {
  const read = { header: decodeHeader(encoded), hash: keccakHash(encoded) }
  const { number } = read.header
  const parent = parentOf(read, last, state)
  // the peer may have moved on; the request shows how far
  const highest = head.number > target.number ? head : target
  if (number > highest.number) {
    const message = `it sends header ${number} though its newest block is ${highest.number}`
    throw new LinkError(message, 'invalidHeader')
  }
  if (isInvalid(read.hash)) {
    throw new LinkError(`block ${number} of its branch is invalid`, 'repeatedMessages')
  }
  check(read.header, parent, state)
  return read
}

function parentOf(
  { header: { parentHash, number } }: HashedHeader,
  last: HashedHeader | undefined,
  { tree }: ChainState,
): HashedHeader {
  if (last !== undefined && last.hash === parentHash) return last
  const record = last === undefined ? blockByHash(tree, parentHash) : undefined
  if (record !== undefined && isCanonical(tree, record)) return record.block
  throw new LinkError(`its header ${number} does not follow the one before`, 'invalidHeader')
}

/** Checks all rules that need no execution. */
function check(header: Header, parent: HashedHeader, state: ChainState): void {
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
