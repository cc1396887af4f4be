// What evm_mine and its like are told.
import type { IsAwaited } from '../../evm/executor.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { type MineRequest, mine } from '../../node/commands/commands.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { quantity } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { members } from './decodeobject.ts'

/** What `evm_mine` may be told: how many blocks, and the exact time of the first, in seconds. */
export interface MineOrder {
  readonly blocks: bigint
  readonly timestamp: bigint | undefined
}

/** The next block, when the clock says. */
export const ONE_BLOCK: MineOrder = { blocks: 1n, timestamp: undefined }

const orderMembers = members('order', { timestamp: quantity, blocks: quantity })

/** A timestamp, or `{timestamp}`, `{blocks}`, or both. */
export const mineOrder: Decoder<MineOrder> = {
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

/**
 * Mines blocks on a chain, as ordered when their turn has come.
 * @param isAwaited false gives it up, and then nothing was mined
 * @returns the new blocks, oldest first
 * @throws {DevchainError} as `mine`
 */
export function mineOn(
  chain: Chain,
  order: (state: ChainState) => Omit<MineRequest, 'now' | 'onBug'>,
  isAwaited?: IsAwaited,
): Promise<BlockRange> {
  const { environment } = chain
  const onBug = (error: unknown): void => environment.onBug(error)
  return chain.update(
    (state, executor) => mine(executor, state, { ...order(state), now: environment.now(), onBug }),
    { isAwaited },
  )
}
