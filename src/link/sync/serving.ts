// Replies to peers: headers, blocks and pool transactions, as many as fit in one message.
import { keccakHash } from '../../core/crypto/crypto.ts'
import type { Hash } from '../../core/hex.ts'
import { blockByHash, blockByNumber, isCanonical } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { pooledByHash } from '../../node/pool/pool.ts'
import { type Block, encodeBlock } from '../../protocol/blocks/block.ts'
import { encodeHeader, rememberEncoding } from '../../protocol/blocks/header.ts'
import { LinkError } from '../protocol/linkerror.ts'
import { type LinkMessage, MAX_MESSAGE, MOST } from '../protocol/messages.ts'
import { encodeTravelling, travels } from './travel.ts'

/** Bytes of a block that fits in a message with its framing. */
const MAX_BLOCK: number = MAX_MESSAGE - 64

/** Empty if none of the hashes is on this chain. */
export function headersFor(
  { tree }: ChainState,
  { id, locator, most }: LinkMessage<'getHeaders'>,
): LinkMessage<'headers'> {
  const known = locator.map((hash) => blockByHash(tree, hash))
  const fork = known.find((record) => record !== undefined && isCanonical(tree, record))
  const headers: Uint8Array[] = []
  const first = fork === undefined ? undefined : fork.block.header.number + 1n
  const count = Math.min(most, MOST.headers)
  for (let i = 0; first !== undefined && i < count; i++) {
    const record = blockByNumber(tree, first + BigInt(i))
    if (record === undefined) break
    headers.push(encodedHeader(record.block))
  }
  return { kind: 'headers', id, headers }
}

/** Remembers the encoding, as the peer asks for the block next. */
function encodedHeader({ header, hash, transactions }: Block): Uint8Array {
  const encoded = encodeHeader(header)
  rememberEncoding(header, encoded)
  if (transactions.length > 0 || keccakHash(encoded) === hash) return encoded
  const message = `block ${header.number} of this chain is in a run of more than 1,000,000 empty blocks: their hashes do not follow from their headers, so no other chain accepts them`
  throw new LinkError(message)
}

/** Stops at the first block that is unknown or does not fit. */
export function blocksFor(
  { tree }: ChainState,
  { id, hashes }: LinkMessage<'getBlocks'>,
  mostBytes: number,
): LinkMessage<'blocks'> {
  const blocks = asManyAsFit(hashes, mostBytes, (hash) => encoded(tree, hash))
  return { kind: 'blocks', id, blocks }
}

function encoded(tree: ChainState['tree'], hash: Hash): Uint8Array | undefined {
  const block = blockByHash(tree, hash)?.block
  if (block === undefined) return undefined
  const { header, size } = block
  if (size <= MAX_BLOCK) return encodeBlock(block)
  const message = `block ${header.number} of this chain has ${size} bytes: blocks of more than ${MAX_BLOCK} are not sent`
  throw new LinkError(message)
}

export function transactionsFor(
  state: ChainState,
  { id, hashes }: LinkMessage<'getTransactions'>,
  mostBytes: number,
): LinkMessage<'transactions'> {
  const waiting = hashes
    .flatMap((hash) => pooledByHash(state.pool, hash) ?? [])
    .filter((entry) => travels(state, entry))
  const transactions = asManyAsFit(waiting, mostBytes, ({ transaction }) =>
    encodeTravelling(state, transaction),
  )
  return { kind: 'transactions', id, transactions }
}

function asManyAsFit<T>(
  items: readonly T[],
  mostBytes: number,
  encode: (item: T) => Uint8Array | undefined,
): Uint8Array[] {
  const parts: Uint8Array[] = []
  let size = 0
  for (const item of items) {
    const part = encode(item)
    if (part === undefined || (parts.length > 0 && size + part.length > mostBytes)) break
    parts.push(part)
    size += part.length
  }
  return parts
}
