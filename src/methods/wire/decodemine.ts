// Decodes the parameters of evm_mine and similar methods.

import { quantity } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { either, isObject, members, refined } from './decodeobject.ts'

/** The block count, and the exact time of the first in seconds. */
export interface MineParameters {
  readonly blocks: bigint
  readonly timestamp: bigint | undefined
}

/** One block, with the clock's time. */
export const ONE_BLOCK: MineParameters = { blocks: 1n, timestamp: undefined }

const orderMembers = members('order', { timestamp: quantity, blocks: quantity })

/** A timestamp, or `{timestamp}`, `{blocks}`, or both. */
export const mineParameters: Decoder<MineParameters> = either(
  'timestamp or {timestamp, blocks}',
  isObject,
  refined(orderMembers, ({ timestamp, blocks = 1n }) => ({ timestamp, blocks })),
  refined(quantity, (timestamp) => ({ ...ONE_BLOCK, timestamp })),
)
