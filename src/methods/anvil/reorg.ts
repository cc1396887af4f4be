// anvil: reorganizations.

import { DevchainError } from '../../core/errors.ts'
import { optional, param } from '../../rpc/method.ts'
import { list, quantity, quantityNumber } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import { nullCommand } from '../common/command.ts'
import type { Methods } from '../common/context.ts'
import { requireUnlinked } from '../common/peers.ts'
import { run } from '../common/reorganize.ts'
import { type Item, item, replacements } from '../wire/decodereorg.ts'

/** anvil's pair of a transaction and the new block that it goes into, counted from 0. */
const placedItem: Decoder<readonly [Item, number]> = {
  name: '[transaction, index of a new block]',
  json: {
    type: 'array',
    items: { anyOf: [item.json, quantityNumber.json] },
    minItems: 2,
    maxItems: 2,
  },
  decode: (value, path, notes) => {
    if (!Array.isArray(value) || value.length !== 2) {
      throw invalid(path, '[transaction, index of a new block]', value)
    }
    const given = item.decode(value[0], `${path}[0]`, notes)
    return [given, quantityNumber.decode(value[1], `${path}[1]`)]
  },
}

export const anvilReorgMethods: Methods = [
  nullCommand({
    name: 'anvil_reorg',
    summary:
      'Replaces the last blocks by as many with the given transactions only; others of theirs are lost. See devchain_reorg.',
    params: [param('depth', quantity), optional('transactions', list(placedItem), [])],
    example: { params: ['0x1', []] },
    handle: async ({ chain, caller }, depth, placed) => {
      const empty = replacements(depth, 'depth')
      const outside = placed.find(([, index]) => index >= empty.length)
      if (outside !== undefined) {
        const message = `transactions: expected an index of a new block, 0 to ${empty.length - 1}, got ${outside[1]}`
        throw new DevchainError('INVALID_PARAMS', message)
      }
      const filled = empty.map((_, i) => placed.filter(([, at]) => at === i).map(([each]) => each))
      await run(chain, { depth, blocks: filled, requeue: false }, caller.isWaiting)
    },
  }),
  nullCommand({
    name: 'anvil_rollback',
    summary: 'Takes the last blocks off the chain, one unless told; their transactions are lost.',
    params: [optional('depth', quantity, 1n)],
    example: { params: ['0x1'] },
    handle: async ({ chain, caller, peers }, depth) => {
      requireUnlinked({ peers }, 'take blocks off the chain')
      await run(chain, { depth, blocks: [], requeue: false }, caller.isWaiting)
    },
  }),
]
