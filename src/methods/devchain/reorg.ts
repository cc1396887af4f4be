// Reorganizations on request: devchain_reorg, and anvil's two ways to ask for one.

import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { Reorganized } from '../../node/mining/reorganize.ts'
import { param } from '../../rpc/method.ts'
import { boolean, hash, list, quantity } from '../../rpc/primitives.ts'
import type { Decoder, Encoder } from '../../rpc/schema.ts'
import { type Methods, method } from '../common/context.ts'
import { type Order, run } from '../common/reorganize.ts'
import { members } from '../wire/decodeobject.ts'
import { blocks, replacements } from '../wire/decodereorg.ts'
import { field, shape } from '../wire/encodeobject.ts'

const orderMembers = members('reorganization', { depth: quantity, blocks, requeue: boolean })

/** `{depth, blocks, requeue}`, or the depth alone. */
const order: Decoder<Order> = {
  name: 'depth or {depth, blocks, requeue}',
  json: { anyOf: [quantity.json, orderMembers.json] },
  decode: (value, path, notes) => {
    const isObject = typeof value === 'object' && value !== null
    const given = isObject
      ? orderMembers.decode(value, path, notes)
      : { depth: quantity.decode(value, path) }
    if (given.depth === undefined) {
      const message = `${path}.depth: expected how many blocks are replaced, got nothing`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const { depth, requeue = true } = given
    return { depth, requeue, blocks: given.blocks ?? replacements(depth, `${path}.depth`) }
  },
}

const hashes = list(hash)

/** Not of the blocks themselves, which those of long runs would be made for. */
function hashesOf(blocks: BlockRange): Hash[] {
  return Array.from({ length: blocks.length }, (_, index) => blocks.hashAt(index))
}

const reorganized: Encoder<Reorganized> = shape<Reorganized>('reorganization', {
  removed: field(hashes, ({ removed }) => hashesOf(removed).reverse()),
  added: field(hashes, ({ added }) => hashesOf(added)),
  requeued: field(hashes, ({ requeued }) => requeued.map((transaction) => transaction.hash)),
})

export const reorgMethods: Methods = [
  method({
    name: 'devchain_reorg',
    summary:
      'Replaces the last {depth} blocks by {blocks}: a number of empty ones, or lists of transactions (raw, hash, or request).',
    params: [param('order', order)],
    result: reorganized,
    example: { params: [{ depth: '0x2' }] },
    effects: 'chain',
    handle: ({ chain, caller }, given) => run(chain, given, caller.isWaiting),
  }),
]
