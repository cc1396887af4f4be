// The block as a call sees it that pays no base fee. It would break what every transaction keeps, that its price covers the
// base fee, unless there is none.
import type { BlockEnvironment, Message } from '../../evm/executor.ts'
import { areBlobsFree, isFree } from '../../protocol/fees.ts'
import type { Behaviour } from '../ledger/behaviour.ts'
import type { BlockOverrides } from './overrides.ts'

/** Blocks without a base fee, by the blocks that they are made of: the engines keep what they know of a block. */
const feeless = new WeakMap<BlockEnvironment, BlockEnvironment>()

/**
 * The block that a call runs in: without a price (or, where the chain behaves so, always) it has no base fee, without a
 * price for its blobs no base fee of blobs. What overrides name is seen all the same.
 */
export function blockOfCall(
  block: BlockEnvironment,
  message: Message,
  { callsSeeBaseFee }: Behaviour,
  overrides: BlockOverrides = {},
): BlockEnvironment {
  if (callsSeeBaseFee === 'all') return block
  const paysNone = callsSeeBaseFee === 'none' || isFree(message)
  const hidesFee = block.baseFee > 0n && paysNone && overrides.baseFee === undefined
  const seen = hidesFee ? withoutFee(block) : block
  const hidesBlobFee = message.blobs !== undefined && areBlobsFree(message)
  return hidesBlobFee && overrides.blobBaseFee === undefined ? { ...seen, blobBaseFee: 0n } : seen
}

function withoutFee(block: BlockEnvironment): BlockEnvironment {
  const known = feeless.get(block)
  if (known !== undefined) return known
  const made = { ...block, baseFee: 0n }
  feeless.set(block, made)
  return made
}
