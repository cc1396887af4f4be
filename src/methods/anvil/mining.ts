// anvil: mining, and the time of blocks.

import { DevchainError } from '../../core/errors.ts'
import { number } from '../../core/format.ts'
import { setBlockInterval } from '../../node/commands/time.ts'
import { optional, param } from '../../rpc/method.ts'
import { boolean, list, nullable, quantity } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { increasedTime, secondsResult } from '../common/clock.ts'
import { command } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { mineBlocks, mineOn } from '../common/mine.ts'
import { mineParameters, ONE_BLOCK } from '../wire/decodemine.ts'
import { minedBlockShape } from '../wire/encodeminedblock.ts'

/** A number of JSON. */
const plainNumber: Encoder<number> = {
  name: 'number',
  json: { type: 'number' },
  encode: (value) => value,
}

/** Blocks that one reply may hold in full. */
const MAX_DETAILED = 1_000n

export const anvilMiningMethods: Methods = [
  command({
    name: 'anvil_mine',
    summary: 'Mines blocks, one unless told; all {interval} seconds apart, the first included.',
    params: [optional('blocks', quantity, 1n), optional('interval', quantity)],
    example: { params: ['0x3e8', '0x3c'], result: null },
    handle: ({ chain, caller }, blocks, interval) =>
      mineBlocks(chain, { blocks, interval, isFirstSpaced: true }, caller.isWaiting),
  }),
  method({
    name: 'anvil_mine_detailed',
    aliases: ['evm_mine_detailed', 'anvil_mineDetailed', 'hardhat_mineDetailed'],
    summary:
      'As evm_mine, but answers the blocks, each transaction with its output and why it failed.',
    params: [optional('order', mineParameters, ONE_BLOCK)],
    result: list(minedBlockShape),
    example: { params: [] },
    effects: 'chain',
    handle: async ({ chain, caller }, order) => {
      if (order.blocks > MAX_DETAILED) {
        const message = `order.blocks: expected at most ${MAX_DETAILED} blocks to be answered in full, got ${order.blocks}`
        throw new DevchainError('LIMIT_EXCEEDED', message)
      }
      const mined = await mineOn(chain, () => order, caller.isWaiting)
      const { upstream } = chain.state.config
      return [...mined].map((record) => ({ record, upstream }))
    },
  }),
  method({
    name: 'anvil_getIntervalMining',
    aliases: ['hardhat_getIntervalMining'],
    summary: 'Seconds from block to block under interval mining; null without it.',
    params: [],
    result: nullable(plainNumber),
    example: { params: [], result: null },
    handle: ({ chain }) => {
      const { mode } = chain.state.mining
      return mode.kind === 'interval' ? mode.intervalMs / 1000 : null
    },
  }),
  command({
    name: 'anvil_setBlockTimestampInterval',
    aliases: ['hardhat_setBlockTimestampInterval'],
    summary: 'Sets the seconds from each block to the next, in place of the clock.',
    params: [param('seconds', quantity)],
    example: { params: ['0x3c'], result: null },
    tell: ([seconds]) => `blocks ${number(seconds)} s apart`,
    handle: ({ chain }, seconds) => chain.update((state) => setBlockInterval(state, seconds)),
  }),
  method({
    name: 'anvil_removeBlockTimestampInterval',
    aliases: ['hardhat_removeBlockTimestampInterval'],
    summary: 'Lets the clock tell the time of blocks again; false when it did so already.',
    params: [],
    result: boolean,
    example: { params: [], result: false },
    effects: 'chain',
    tell: () => 'blocks at the time of the clock',
    handle: ({ chain }) =>
      chain.update((state) => {
        const isSet = state.clock.interval !== undefined
        return { ...setBlockInterval(state, undefined), value: isSet }
      }),
  }),
  /** Anvil's clients read a JSON number and nothing else. */
  method({
    name: 'anvil_increaseTime',
    summary: 'As evm_increaseTime, but answers a JSON number.',
    params: [param('seconds', quantity)],
    result: secondsResult,
    example: { params: ['0xe10'], result: 3600 },
    effects: 'chain',
    handle: ({ chain }, seconds) => increasedTime(chain, seconds),
  }),
]
