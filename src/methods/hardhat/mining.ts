// Mining as a test wants it: many blocks at once, and what is in the header of the next ones.

import { DevchainError } from '../../core/errors.ts'
import { fee, number } from '../../core/format.ts'
import { hexFromBytes } from '../../core/hex.ts'
import type { IsAwaited } from '../../evm/executor.ts'
import type { Chain } from '../../node/chain/chain.ts'
import {
  changeSettings,
  type MineRequest,
  setBlockInterval,
  setGasLimit,
  startMining,
  stopMining,
} from '../../node/commands/commands.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState, Settings } from '../../node/ledger/chainstate.ts'
import { describeMining, isInstant } from '../../node/ledger/miningmode.ts'
import { nextRules } from '../../node/mining/miner.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import {
  address,
  boolean,
  data,
  hash,
  list,
  nullable,
  quantity,
  text,
} from '../../rpc/primitives.ts'
import type { Decoder, Encoder } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { STRANGER } from '../common/examples.ts'
import { requireFork } from '../common/requirefork.ts'
import { ack, type Profile } from '../compat/profile.ts'
import { mineOn, mineOrder, ONE_BLOCK } from '../wire/decodemine.ts'
import { minedBlockShape } from '../wire/encodeminedblock.ts'

/** A number of JSON. */
const plainNumber: Encoder<number> = {
  name: 'number',
  json: { type: 'number' },
  encode: (value) => value,
}

/** Gas limits of a block fit 63 bits, which clients count in. */
const MAX_GAS_LIMIT = 2n ** 63n - 1n

/** Bytes of a header that miners fill as they like (Yellow Paper, 4.4.3). */
const MAX_EXTRA_DATA = 32

/** Bytes as 0x hex, or else as UTF-8. */
const extraDataText: Decoder<Uint8Array> = {
  name: 'extra data',
  json: { type: 'string' },
  decode: (value, path) => {
    const given = text.decode(value, path)
    const bytes = given.startsWith('0x')
      ? data.decode(given, path)
      : new TextEncoder().encode(given)
    if (bytes.length <= MAX_EXTRA_DATA) return bytes
    const message = `${path}: expected at most ${MAX_EXTRA_DATA} bytes, got ${bytes.length}`
    throw new DevchainError('INVALID_PARAMS', message)
  },
}

const hardhatMine = method({
  name: 'hardhat_mine',
  summary:
    'Mines blocks, one unless told; the first when the clock says, the others {interval} seconds apart.',
  params: [optional('blocks', quantity, 1n), optional('interval', quantity)],
  result: ack,
  example: { params: ['0x3e8', '0x3c'], result: null },
  writes: 'chain',
  handle: async ({ chain, caller, profile }, blocks, interval) => {
    await mineBlocks(chain, { blocks, interval, isFirstSpaced: false }, caller.isWaiting)
    return profile.ack
  },
})

const anvilMine = method({
  name: 'anvil_mine',
  summary: 'Mines blocks, one unless told; all {interval} seconds apart, the first included.',
  params: [optional('blocks', quantity, 1n), optional('interval', quantity)],
  result: ack,
  example: { params: ['0x3e8', '0x3c'], result: null },
  writes: 'chain',
  handle: async ({ chain, caller, profile }, blocks, interval) => {
    await mineBlocks(chain, { blocks, interval, isFirstSpaced: true }, caller.isWaiting)
    return profile.ack
  },
})

const mineDetailed = method({
  name: 'anvil_mine_detailed',
  aliases: ['evm_mine_detailed', 'anvil_mineDetailed', 'hardhat_mineDetailed'],
  summary:
    'As evm_mine, but answers the blocks, each transaction with its output and why it failed.',
  params: [optional('order', mineOrder, ONE_BLOCK)],
  result: list(minedBlockShape),
  example: { params: [] },
  writes: 'chain',
  handle: async ({ chain, caller }, order) => {
    if (order.blocks > MAX_DETAILED) {
      const message = `order.blocks: expected at most ${MAX_DETAILED} blocks to be answered in full, got ${order.blocks}`
      throw new DevchainError('LIMIT_EXCEEDED', message)
    }
    return [...(await mineOn(chain, () => order, caller.isWaiting))]
  },
})

/** Blocks that one reply may hold in full. */
const MAX_DETAILED = 1_000n

const getAutomine = method({
  name: 'hardhat_getAutomine',
  aliases: ['anvil_getAutomine'],
  summary: 'Whether every transaction is mined at once.',
  params: [],
  result: boolean,
  example: { params: [], result: true },
  handle: ({ chain }) => isInstant(chain.state.mining),
})

const getIntervalMining = method({
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
})

const setBlockTimestampInterval = method({
  name: 'anvil_setBlockTimestampInterval',
  aliases: ['hardhat_setBlockTimestampInterval'],
  summary: 'Sets the seconds from each block to the next, in place of the clock.',
  params: [param('seconds', quantity)],
  result: ack,
  example: { params: ['0x3c'], result: null },
  writes: 'chain',
  tell: ([seconds]) => `blocks ${number(seconds)} s apart`,
  handle: async ({ chain, profile }, seconds) => {
    await chain.update((state) => setBlockInterval(state, seconds))
    return profile.ack
  },
})

const removeBlockTimestampInterval = method({
  name: 'anvil_removeBlockTimestampInterval',
  aliases: ['hardhat_removeBlockTimestampInterval'],
  summary: 'Lets the clock tell the time of blocks again; false when it did so already.',
  params: [],
  result: boolean,
  example: { params: [], result: false },
  writes: 'chain',
  tell: () => 'blocks at the time of the clock',
  handle: ({ chain }) =>
    chain.update((state) => {
      const isSet = state.clock.interval !== undefined
      return { ...setBlockInterval(state, undefined), value: isSet }
    }),
})

const setBlockGasLimit = method({
  name: 'evm_setBlockGasLimit',
  aliases: ['anvil_setBlockGasLimit', 'hardhat_setBlockGasLimit'],
  summary: 'Sets the gas limit of the blocks to come.',
  params: [param('gasLimit', quantity)],
  result: boolean,
  example: { params: ['0x1c9c380'], result: true },
  writes: 'chain',
  tell: ([gasLimit]) => `gas limit ${number(gasLimit)}`,
  handle: async ({ chain, profile }, blockGasLimit) => {
    const { leastGasLimit } = profile
    if (blockGasLimit < leastGasLimit || blockGasLimit > MAX_GAS_LIMIT) {
      const message = `gasLimit: expected ${leastGasLimit} to ${MAX_GAS_LIMIT}, got ${blockGasLimit}`
      throw new DevchainError('INVALID_PARAMS', message, undefined, { blockGasLimit })
    }
    await chain.update((state) => setGasLimit(state, blockGasLimit))
    return true
  },
})

const setCoinbase = method({
  name: 'hardhat_setCoinbase',
  aliases: ['anvil_setCoinbase'],
  summary: 'Sets who gets the fees of the blocks to come.',
  params: [param('account', address)],
  result: ack,
  example: { params: [STRANGER], result: null },
  writes: 'chain',
  tell: ([account]) => `coinbase ${account}`,
  handle: ({ chain, profile }, coinbase) => changed(chain, { coinbase }, profile),
})

const setNextBlockBaseFee = method({
  name: 'hardhat_setNextBlockBaseFeePerGas',
  aliases: ['anvil_setNextBlockBaseFeePerGas'],
  summary: 'Sets the base fee of the next block, in wei per gas; later blocks go on from it.',
  params: [param('baseFee', quantity)],
  result: ack,
  example: { params: ['0x3b9aca00'], result: null },
  writes: 'chain',
  tell: ([baseFee]) => `next base fee ${fee(baseFee)}`,
  handle: ({ chain, profile }, nextBaseFee) => {
    if (!profile.ignoresForks) requireFork(chain, 'london', 'a base fee')
    return changed(chain, { nextBaseFee }, profile)
  },
})

const setPrevRandao = method({
  name: 'hardhat_setPrevRandao',
  aliases: ['anvil_setPrevRandao', 'anvil_setNextBlockPrevRandao'],
  summary: 'Sets what PREVRANDAO gives in the next block.',
  params: [param('prevRandao', hash)],
  result: ack,
  example: { params: [`0x${'11'.repeat(32)}`], result: null },
  writes: 'chain',
  tell: ([prevRandao]) => `next PREVRANDAO ${prevRandao}`,
  handle: ({ chain, profile }, nextPrevRandao) => {
    if (!profile.ignoresForks) requireFork(chain, 'paris', 'PREVRANDAO')
    return changed(chain, { nextPrevRandao }, profile)
  },
})

const setMinGasPrice = method({
  name: 'hardhat_setMinGasPrice',
  aliases: ['anvil_setMinGasPrice'],
  summary: 'Sets the price per gas in wei that a transaction must offer to enter the pool.',
  params: [param('price', quantity)],
  result: ack,
  example: { params: ['0x1'], result: null },
  writes: 'chain',
  tell: ([price]) => `least gas price ${fee(price)}`,
  handle: ({ chain, profile }, minGasPrice) => {
    const { hardfork } = nextRules(chain.state, chain.environment.now())
    if (!profile.hasLeastPriceWithBaseFee && isAtLeast(hardfork, 'london')) {
      const message = 'under EIP-1559 the base fee is the least price of a block'
      throw new DevchainError('METHOD_NOT_SUPPORTED', message)
    }
    return changed(chain, { minGasPrice }, profile)
  },
})

const minerStart = method({
  name: 'miner_start',
  summary:
    'Resumes instant or interval mining, and mines what waits, on as many threads as there are: {threads} is read, and decides nothing, as in ganache.',
  params: [optional('threads', quantity)],
  result: boolean,
  example: { params: [], result: true },
  writes: 'chain',
  tell: (_values, _result, { chain }) => `mining ${describeMining(chain.state.mining)}`,
  handle: async ({ chain, caller }) => {
    await chain.update((state, executor) => startMining(executor, state, chain.environment.now()), {
      isAwaited: caller.isWaiting,
    })
    return true
  },
})

const minerStop = method({
  name: 'miner_stop',
  summary: 'Stops instant and interval mining.',
  params: [],
  result: boolean,
  example: { params: [], result: true },
  writes: 'chain',
  tell: () => 'mining stopped',
  handle: async ({ chain }) => {
    await chain.update(stopMining)
    return true
  },
})

const setEtherbase = method({
  name: 'miner_setEtherbase',
  summary: 'Sets who gets the fees of the blocks to come.',
  params: [param('account', address)],
  result: boolean,
  example: { params: [STRANGER], result: true },
  writes: 'chain',
  tell: ([account]) => `coinbase ${account}`,
  handle: async ({ chain }, coinbase) => {
    await change(chain, { coinbase })
    return true
  },
})

const setExtra = method({
  name: 'miner_setExtra',
  summary: 'Sets the extraData of the blocks to come: at most 32 bytes, as 0x hex or as text.',
  params: [param('extraData', extraDataText)],
  result: boolean,
  example: { params: ['0xd34db33f'], result: true },
  writes: 'chain',
  tell: ([extraData]) => `extra data ${hexFromBytes(extraData)}`,
  handle: async ({ chain }, extraData) => {
    await change(chain, { extraData })
    return true
  },
})

const setGasPrice = method({
  name: 'miner_setGasPrice',
  summary:
    'Sets the price per gas in wei that a transaction must offer, and offers where it names none.',
  params: [param('price', quantity)],
  result: boolean,
  example: { params: ['0x3b9aca00'], result: true },
  writes: 'chain',
  tell: ([price]) => `gas price ${fee(price)}`,
  handle: async ({ chain }, price) => {
    await change(chain, { minGasPrice: price, gasPrice: price })
    return true
  },
})

interface ManyBlocks {
  readonly blocks: bigint
  readonly interval: bigint | undefined
  /** True: the first block is an interval after the newest; else its time is the clock's. */
  readonly isFirstSpaced: boolean
}

async function mineBlocks(
  chain: Chain,
  { blocks, interval, isFirstSpaced }: ManyBlocks,
  isAwaited: IsAwaited,
): Promise<void> {
  // an interval of nothing leaves the first block to the clock, as no two blocks have one time
  const isExact = isFirstSpaced && interval !== undefined && interval > 0n
  const order = ({ tree }: ChainState): Omit<MineRequest, 'now'> => ({
    blocks,
    interval,
    timestamp: isExact ? headOf(tree).block.header.timestamp + interval : undefined,
  })
  await mineOn(chain, order, isAwaited)
}

async function change(chain: Chain, settings: Partial<Settings>): Promise<void> {
  await chain.update((state) => changeSettings(state, settings))
}

async function changed(
  chain: Chain,
  settings: Partial<Settings>,
  profile: Profile,
): Promise<true | null> {
  await change(chain, settings)
  return profile.ack
}

export const testingMiningMethods: readonly Method<MethodContext>[] = [
  hardhatMine,
  anvilMine,
  mineDetailed,
  getAutomine,
  getIntervalMining,
  setBlockTimestampInterval,
  removeBlockTimestampInterval,
  setBlockGasLimit,
  setCoinbase,
  setNextBlockBaseFee,
  setPrevRandao,
  setMinGasPrice,
  minerStart,
  minerStop,
  setEtherbase,
  setExtra,
  setGasPrice,
]
