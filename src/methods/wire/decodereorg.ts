// Decodes the new blocks of a reorg.

import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { TransactionRequest } from '../../node/calls/request.ts'
import { MAX_BRANCH } from '../../node/mining/reorganize.ts'
import { data, hash, list, quantityNumber } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { either, isObject, isText, refined } from './decodeobject.ts'
import { transactionRequest } from './decodetransaction.ts'

/** A transaction for a new block: signed, by hash, or to be signed by one of the node's accounts. */
export type Item =
  | { readonly kind: 'raw'; readonly raw: Uint8Array }
  | { readonly kind: 'hash'; readonly hash: Hash }
  | { readonly kind: 'request'; readonly request: TransactionRequest }

/** The new blocks' transactions; a number means so many empty blocks. */
export type Blocks = readonly (readonly Item[])[]

export const item: Decoder<Item> = either<Item, Item>(
  'raw transaction, hash or transaction',
  isObject,
  refined(transactionRequest, (request) => ({ kind: 'request', request })),
  either<Item, Item>(
    'raw transaction or hash',
    (value) => isText(value) && value.length === 66,
    refined(hash, (known) => ({ kind: 'hash', hash: known })),
    refined(data, (raw) => ({ kind: 'raw', raw })),
  ),
)

export const blocks: Decoder<Blocks> = either(
  'number of blocks, or list of lists of transactions',
  Array.isArray,
  list(list(item)),
  refined(quantityNumber, emptyBlocks),
)

export function emptyBlocks(count: number, path: string): Blocks {
  if (count <= MAX_BRANCH) return Array.from({ length: count }, () => [])
  const message = `${path}: expected at most ${MAX_BRANCH} new blocks, got ${count}`
  throw new DevchainError('LIMIT_EXCEEDED', message)
}
