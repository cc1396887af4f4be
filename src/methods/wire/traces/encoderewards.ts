// Encodes block rewards as OpenEthereum's list entries, after the frames of transactions.
import { type Address, quantityFromBigint } from '../../../core/hex.ts'
import type { Chain } from '../../../node/chain/chain.ts'
import type { BlockRecord } from '../../../node/ledger/blockrecord.ts'
import { rewardsIn } from '../../../node/mining/rewards.ts'
import type { Json } from '../../../rpc/schema.ts'

export interface RewardEntry {
  readonly author: Address
  readonly entry: Json
}

/** The miner's reward first; empty for the genesis and on chains without rewards. */
export function rewardEntries({ state }: Chain, { block }: BlockRecord): readonly RewardEntry[] {
  const { header, uncles, hash } = block
  if (header.number === 0n) return []
  const hardfork = state.config.hardforkAt(header.number, header.timestamp)
  const rewards = rewardsIn(state.config, hardfork, header, uncles)
  return [...rewards.slice(-1), ...rewards.slice(0, -1)].map(({ address, amount }, index) => ({
    author: address,
    entry: {
      action: {
        author: address,
        rewardType: index === 0 ? 'block' : 'uncle',
        value: quantityFromBigint(amount),
      },
      blockHash: hash,
      blockNumber: Number(header.number),
      result: null,
      subtraces: 0,
      traceAddress: [],
      type: 'reward',
    },
  }))
}
