// Mining blocks: the body of evm_mine, hardhat_mine and anvil_mine.
import { whenThere } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { type MineRequest, mine } from '../../node/commands/mine.ts'
import { startMining, stopMining } from '../../node/commands/miningmode.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import { describeMining } from '../../node/ledger/miningmode.ts'
import { quantity } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { either, isObject, members, refined } from '../wire/decodeobject.ts'
import type { MethodContext } from './context.ts'

/** The block count, and the exact time of the first in seconds. */
interface MineParameters {
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

/** Summary and handler of evm_startMining and miner_start. */
export const resuming = {
  describe: (_values: unknown, _result: unknown, { chain }: MethodContext): string =>
    `mining ${describeMining(chain.state.mining)}`,
  handle: ({ chain, caller }: MethodContext): Promise<BlockRange> =>
    chain.update((state, executor) => startMining(executor, state, chain.environment.now()), {
      cancellation: caller,
    }),
}

/** Summary and handler of evm_stopMining and miner_stop. */
export const stopping = {
  describe: (): string => 'mining stopped',
  handle: ({ chain }: MethodContext): Promise<void> => chain.update(stopMining),
}

/**
 * Mines blocks when their turn in the queue comes.
 * @returns the new blocks, oldest first
 * @throws {DevchainError} as `mine`
 */
export function mineOn(
  chain: Chain,
  order: (state: ChainState) => Omit<MineRequest, 'now' | 'bulk' | 'begun'>,
  cancellation?: Cancellation,
): Promise<BlockRange> {
  const { environment, execution, nextBlock } = chain
  return chain.update(
    (state, executor) =>
      whenThere(nextBlock.take(executor), (begun) =>
        mine(executor, state, {
          ...order(state),
          now: environment.now(),
          bulk: execution.bulk,
          begun,
        }),
      ),
    { cancellation },
  )
}
