// Decodes the new blocks of a reorg.

import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { TransactionRequest } from '../../node/calls/request.ts'
import { MAX_BRANCH } from '../../node/mining/reorganize.ts'
import { data, hash, list, quantityNumber } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { transactionRequest } from './decodetransaction.ts'

/** A transaction for a new block: signed, by hash, or to be signed by one of the node's accounts. */
export type Item =
  | { readonly kind: 'raw'; readonly raw: Uint8Array }
  | { readonly kind: 'hash'; readonly hash: Hash }
  | { readonly kind: 'request'; readonly request: TransactionRequest }

/** The new blocks' transactions; a number means so many empty blocks. */
export type Blocks = readonly (readonly Item[])[]

export const item: Decoder<Item> = {
  name: 'raw transaction, hash or transaction',
  json: { anyOf: [data.json, hash.json, transactionRequest.json] },
  decode: (value, path, notes) => {
    if (typeof value === 'object' && value !== null) {
      return { kind: 'request', request: transactionRequest.decode(value, path, notes) }
    }
    const isHash = typeof value === 'string' && value.length === 66
    if (isHash) return { kind: 'hash', hash: hash.decode(value, path) }
    return { kind: 'raw', raw: data.decode(value, path) }
  },
}

const blocksWithItems = list(list(item))

export const blocks: Decoder<Blocks> = {
  name: 'number of blocks, or list of lists of transactions',
  json: { anyOf: [quantityNumber.json, blocksWithItems.json] },
  decode: (value, path, notes) =>
    Array.isArray(value)
      ? blocksWithItems.decode(value, path, notes)
      : emptyBlocks(quantityNumber.decode(value, path), path),
}

export function replacements(depth: bigint, path: string): Blocks {
  return emptyBlocks(Number(depth), path)
}

function emptyBlocks(count: number, path: string): Blocks {
  if (count <= MAX_BRANCH) return Array.from({ length: count }, () => [])
  const message = `${path}: expected at most ${MAX_BRANCH} new blocks, got ${count}`
  throw new DevchainError('LIMIT_EXCEEDED', message)
}
