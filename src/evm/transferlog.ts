// Logs of ether that moves (EIP-7708), in the form of a token's.
import { type Address, type Hash, paddedBytes } from '../core/hex.ts'
import { memoize } from '../core/lrucache.ts'
import type { Log } from '../protocol/blocks/receipt.ts'
import { SYSTEM_ADDRESS } from '../state/predeploys.ts'

/** Transfer(address,address,uint256) */
export const TRANSFER_EVENT =
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' as Hash

export function transferLog(
  from: Address,
  to: Address,
  value: bigint,
  address: Address = SYSTEM_ADDRESS,
): Log {
  return {
    address,
    topics: [TRANSFER_EVENT, topicOf(from), topicOf(to)],
    data: paddedBytes(value, 32),
  }
}

/** Remembered, as accounts occur again: so the topic is one string, whose bloom is found at once. */
const topicOf = memoize(
  1_000,
  (address: Address) => `0x${'0'.repeat(24)}${address.slice(2)}` as Hash,
)
