// Decodes the parameters of evm_mine and similar methods.

import { quantity } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { members } from './decodeobject.ts'

/** The block count, and the exact time of the first in seconds. */
export interface MineParameters {
  readonly blocks: bigint
  readonly timestamp: bigint | undefined
}

/** One block, with the clock's time. */
export const ONE_BLOCK: MineParameters = { blocks: 1n, timestamp: undefined }

const orderMembers = members('order', { timestamp: quantity, blocks: quantity })

/** A timestamp, or `{timestamp}`, `{blocks}`, or both. */
export const mineParameters: Decoder<MineParameters> = {
  name: 'timestamp or {timestamp, blocks}',
  json: { anyOf: [quantity.json, orderMembers.json] },
  decode: (value, path, notes) => {
    if (typeof value !== 'object') {
      return { ...ONE_BLOCK, timestamp: quantity.decode(value, path) }
    }
    const { timestamp, blocks = 1n } = orderMembers.decode(value, path, notes)
    return { timestamp, blocks }
  },
}
