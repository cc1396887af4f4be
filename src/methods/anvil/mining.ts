// anvil: mining, block times, and reorgs.

import { DevchainError } from '../../core/errors.ts'
import { number } from '../../core/format.ts'
import { setBlockInterval } from '../../node/commands/time.ts'
import { optional, param } from '../../rpc/method.ts'
import { asJson, boolean, list, nullable, quantity, quantityNumber } from '../../rpc/primitives.ts'
import { invalid } from '../../rpc/schema.ts'
import { command, increasedTime, nullCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { mineBlocks, mineOn, mineParameters, ONE_BLOCK } from '../common/mine.ts'
import { requireUnlinked } from '../common/peers.ts'
import { emptyBlocks, item, run } from '../common/reorganize.ts'
import { pair } from '../wire/decodeobject.ts'
import { minedBlockShape } from '../wire/encodeminedblock.ts'
import { plainInteger } from '../wire/encodeobject.ts'

/** Limit of full blocks in one reply. */
const MAX_DETAILED = 1_000n

/** anvil's pair of a transaction and the index of its new block, from 0. */
const placedItem = pair('[transaction, index of a new block]', item, quantityNumber)

export const anvilMiningMethods: Methods = [
  command('anvil_mine', {
    summary: 'Mines 1 block or more; every timestamp is {interval} seconds after the one before.',
    params: [optional('blocks', quantity, 1n), optional('interval', quantity)],
    example: { params: ['0x3e8', '0x3c'], result: null },
    handle: ({ chain, caller }, blocks, interval) =>
      mineBlocks(chain, { blocks, interval, isFirstSpaced: true }, caller),
  }),
  method('anvil_mine_detailed', {
    aliases: ['evm_mine_detailed', 'anvil_mineDetailed', 'hardhat_mineDetailed'],
    summary: 'Mines like evm_mine; returns the blocks with outputs and revert reasons.',
    params: [optional('order', mineParameters, ONE_BLOCK)],
    result: list(minedBlockShape),
    effects: 'chain',
    handle: async ({ chain, caller }, order) => {
      if (order.blocks > MAX_DETAILED) {
        const message = `order.blocks: expected at most ${MAX_DETAILED} blocks to be answered in full, got ${order.blocks}`
        throw new DevchainError('LIMIT_EXCEEDED', message)
      }
      const mined = await mineOn(chain, () => order, caller)
      const { upstream } = chain.state.config
      return [...mined].map((record) => ({ record, upstream }))
    },
  }),
  method('anvil_getIntervalMining', {
    aliases: ['hardhat_getIntervalMining'],
    summary: 'Returns the seconds between blocks of interval mining; null if it is off.',
    result: nullable(asJson<number>('number', { type: 'number' })),
    example: { result: null },
    handle: ({ chain }) => {
      const { mode } = chain.state.mining
      return mode.kind === 'interval' ? mode.intervalMs / 1000 : null
    },
  }),
  command('anvil_setBlockTimestampInterval', {
    aliases: ['hardhat_setBlockTimestampInterval'],
    summary: 'Sets the seconds between block timestamps, whatever the clock says.',
    params: [param('seconds', quantity)],
    example: { params: ['0x3c'], result: null },
    describe: ([seconds]) => `blocks ${number(seconds)} s apart`,
    handle: ({ chain }, seconds) => chain.update((state) => setBlockInterval(state, seconds)),
  }),
  method('anvil_removeBlockTimestampInterval', {
    aliases: ['hardhat_removeBlockTimestampInterval'],
    summary: 'Ends anvil_setBlockTimestampInterval; false if none was set.',
    result: boolean,
    example: { result: false },
    effects: 'chain',
    describe: () => 'blocks at the time of the clock',
    handle: ({ chain }) =>
      chain.update((state) => {
        const isSet = state.clock.interval !== undefined
        return { ...setBlockInterval(state, undefined), value: isSet }
      }),
  }),
  /** Anvil's clients accept only a JSON number. */
  method('anvil_increaseTime', {
    summary: 'Moves the clock ahead like evm_increaseTime, but returns a JSON number.',
    params: [param('seconds', quantity)],
    result: plainInteger,
    example: { params: ['0xe10'], result: 3600 },
    effects: 'chain',
    handle: ({ chain }, seconds) => increasedTime(chain, seconds),
  }),
  nullCommand('anvil_reorg', {
    summary: 'Replaces the last {depth} blocks by as many with only the given transactions.',
    params: [param('depth', quantity), optional('transactions', list(placedItem), [])],
    example: { params: ['0x1', []] },
    handle: async ({ chain, caller }, depth, placed) => {
      const empty = emptyBlocks(Number(depth), 'depth')
      const outside = placed.find(([, index]) => index >= empty.length)
      if (outside !== undefined) {
        throw invalid(
          'transactions',
          `an index of a new block, 0 to ${empty.length - 1}`,
          outside[1],
        )
      }
      const filled = empty.map((_, i) => placed.filter(([, at]) => at === i).map(([each]) => each))
      await run(chain, { depth, blocks: filled, requeue: false }, caller)
    },
  }),
  nullCommand('anvil_rollback', {
    summary: 'Removes the last block, or several, with their transactions.',
    params: [optional('depth', quantity, 1n)],
    example: { params: ['0x1'] },
    handle: async ({ chain, caller, peers }, depth) => {
      requireUnlinked({ peers }, 'take blocks off the chain')
      await run(chain, { depth, blocks: [], requeue: false }, caller)
    },
  }),
]
