// Moving the clock: the body of evm_increaseTime and anvil_increaseTime.

import type { Chain } from '../../node/chain/chain.ts'
import { increaseTime } from '../../node/commands/time.ts'
import type { Encoder } from '../../rpc/schema.ts'

export const secondsResult: Encoder<bigint> = {
  name: 'seconds',
  json: { title: 'seconds', type: 'integer' },
  encode: Number,
}

export function increasedTime(chain: Chain, seconds: bigint): Promise<bigint> {
  return chain.update((state) => increaseTime(state, seconds, chain.environment.now()))
}
