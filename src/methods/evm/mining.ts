// evm: what test suites do to a chain: snapshots, time, mining.
import { time } from '../../core/format.ts'
import type { Chain } from '../../node/chain/chain.ts'
import {
  increaseTime,
  RESET,
  reset,
  revertOrder,
  revertTo,
  setMiningMode,
  setNextTimestamp,
  setTime,
  startMining,
  stopMining,
  takeSnapshot,
} from '../../node/commands/commands.ts'
import type { MiningMode } from '../../node/ledger/chainstate.ts'
import { describeMining, isInstant } from '../../node/ledger/miningmode.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { boolean, nothing, nullable, quantity, quantityNumber, text } from '../../rpc/primitives.ts'
import type { Decoder, Encoder } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { ack } from '../compat/profile.ts'
import { mineOn, mineOrder, ONE_BLOCK } from '../wire/decodemine.ts'
import { quantityResult } from '../wire/encodeobject.ts'

const snapshot = method({
  name: 'evm_snapshot',
  aliases: ['anvil_snapshot', 'hardhat_snapshot'],
  summary:
    'Remembers the chain as it is; evm_revert brings it back. Costs the same whatever its size.',
  params: [],
  result: quantityResult,
  example: { params: [], result: '0x1' },
  writes: 'chain',
  handle: async ({ chain }) => BigInt(await chain.update(takeSnapshot)),
})

const revert = method({
  name: 'evm_revert',
  aliases: ['anvil_revert', 'hardhat_revert'],
  summary:
    'Brings back everything as it was at a snapshot, and drops later snapshots; false when the id is unknown.',
  params: [param('id', quantity)],
  result: boolean,
  example: { params: ['0x1'], result: false },
  writes: 'chain',
  handle: ({ chain }, id) =>
    chain.update((state) => revertTo(state, Number(id)), revertOrder(chain.state, Number(id))),
})

const resetChain = method({
  name: 'evm_reset',
  summary: 'Goes back to genesis; forgets snapshots and the pool.',
  params: [],
  result: nothing,
  example: { params: [], result: null },
  writes: 'chain',
  handle: async ({ chain }) => {
    await chain.update(reset, RESET)
    return null
  },
})

const mineBlocks = method({
  name: 'evm_mine',
  summary:
    'Mines a block, or {blocks}, the first at an exact {timestamp} in seconds if one is given.',
  params: [optional('order', mineOrder, ONE_BLOCK)],
  result: text,
  example: { params: [], result: '0x0' },
  writes: 'chain',
  handle: async ({ chain, caller, profile }, order) => {
    await mineOn(chain, () => order, caller.isWaiting)
    return profile.mined
  },
})

/** A sum of seconds in the form of the node whose ways are taken. */
const secondsAhead: Encoder<string | number> = {
  name: 'seconds',
  json: { anyOf: [quantity.json, { type: 'integer' }] },
  encode: (value) => value,
}

const secondsResult: Encoder<bigint> = {
  name: 'seconds',
  json: { title: 'seconds', type: 'integer' },
  encode: Number,
}

const increase = method({
  name: 'evm_increaseTime',
  aliases: ['hardhat_increaseTime'],
  summary: 'Moves the clock ahead for good, by seconds; answers by how much it is ahead in all.',
  params: [param('seconds', quantity)],
  result: secondsAhead,
  example: { params: ['0xe10'], result: '0xe10' },
  writes: 'chain',
  handle: async ({ chain, profile }, seconds) =>
    profile.secondsAhead(await increasedTime(chain, seconds)),
})

/** Anvil's clients read a JSON number and nothing else. */
const anvilIncrease = method({
  name: 'anvil_increaseTime',
  summary: 'As evm_increaseTime, but answers a JSON number.',
  params: [param('seconds', quantity)],
  result: secondsResult,
  example: { params: ['0xe10'], result: 3600 },
  writes: 'chain',
  handle: ({ chain }, seconds) => increasedTime(chain, seconds),
})

function increasedTime(chain: Chain, seconds: bigint): Promise<bigint> {
  return chain.update((state) => increaseTime(state, seconds, chain.environment.now()))
}

const start = method({
  name: 'evm_startMining',
  summary: 'Resumes instant or interval mining, and mines what waits.',
  params: [],
  result: nothing,
  example: { params: [], result: null },
  writes: 'chain',
  tell: (_values, _result, { chain }) => `mining ${describeMining(chain.state.mining)}`,
  handle: async ({ chain, caller }) => {
    await chain.update((state, executor) => startMining(executor, state, chain.environment.now()), {
      isAwaited: caller.isWaiting,
    })
    return null
  },
})

const stop = method({
  name: 'evm_stopMining',
  summary:
    'Stops instant and interval mining; transactions wait until evm_mine or evm_startMining.',
  params: [],
  result: nothing,
  example: { params: [], result: null },
  writes: 'chain',
  tell: () => 'mining stopped',
  handle: async ({ chain }) => {
    await chain.update(stopMining)
    return null
  },
})

const setNextBlockTimestamp = method({
  name: 'evm_setNextBlockTimestamp',
  aliases: ['anvil_setNextBlockTimestamp', 'hardhat_setNextBlockTimestamp'],
  summary: 'Sets the exact time of the next block, in seconds; later blocks go on from there.',
  params: [param('timestamp', quantity)],
  result: nullable(text),
  example: { params: ['0x77359400'], result: null },
  writes: 'chain',
  tell: ([timestamp]) => `next block at ${time(timestamp)}`,
  handle: async ({ chain, profile }, timestamp) => {
    await chain.update((state) => setNextTimestamp(state, timestamp))
    return profile.nextTimestamp(timestamp)
  },
})

/** Above this a time is one of JavaScript, in milliseconds: as seconds it would be in the year 33658. */
const MILLISECONDS_FROM = 10n ** 12n

/** Ganache and anvil answer a JSON number, which may be negative. Ganache goes back in time, which no chain can. */
const setClock = method({
  name: 'evm_setTime',
  aliases: ['anvil_setTime', 'hardhat_setTime'],
  summary:
    'Sets the clock, in seconds or milliseconds since 1970; answers by how many seconds it is ahead of its source.',
  params: [param('time', quantity)],
  result: secondsResult,
  example: { params: ['0x77359400'] },
  writes: 'chain',
  handle: ({ chain }, time) => {
    const seconds = time >= MILLISECONDS_FROM ? time / 1000n : time
    return chain.update((state) => setTime(state, seconds, chain.environment.now()))
  },
})

const setAutomine = method({
  name: 'evm_setAutomine',
  aliases: ['anvil_setAutomine', 'hardhat_setAutomine'],
  summary: 'Mines every transaction at once (true), or only when told to (false).',
  params: [param('enabled', boolean)],
  result: ack,
  example: { params: [true], result: null },
  writes: 'chain',
  tell: ([enabled]) => `automine ${enabled ? 'on' : 'off'}`,
  handle: async ({ chain, caller, profile }, enabled) => {
    const mode: MiningMode = { kind: enabled ? 'instant' : 'manual' }
    await chain.update(
      (state, executor) => setMiningMode(executor, state, mode, chain.environment.now()),
      { isAwaited: caller.isWaiting },
    )
    return profile.ack
  },
})

/** An interval, or the shortest and the longest of random ones (hardhat). */
const interval: Decoder<{ readonly shortest: number; readonly longest: number }> = {
  name: 'interval or [shortest, longest]',
  json: {
    anyOf: [
      quantityNumber.json,
      { type: 'array', items: quantityNumber.json, minItems: 2, maxItems: 2 },
    ],
  },
  decode: (value, path) => {
    if (Array.isArray(value) && value.length === 2) {
      const [shortest, longest] = value.map((each, i) =>
        quantityNumber.decode(each, `${path}[${i}]`),
      )
      return { shortest: shortest ?? 0, longest: longest ?? 0 }
    }
    const always = quantityNumber.decode(value, path)
    return { shortest: always, longest: always }
  },
}

const setIntervalMining = method({
  name: 'evm_setIntervalMining',
  aliases: ['anvil_setIntervalMining', 'hardhat_setIntervalMining'],
  summary:
    'Mines a block every so many seconds (as hardhat: milliseconds); 0 stops that, and then only evm_mine mines.',
  params: [param('interval', interval)],
  result: ack,
  example: { params: ['0x0'], result: null },
  writes: 'chain',
  tell: (_values, _result, { chain }) => `mining ${describeMining(chain.state.mining)}`,
  handle: async ({ chain, profile }, { shortest, longest }) => {
    const unit = profile.intervalUnitMs
    const mode: MiningMode =
      longest === 0
        ? { kind: 'manual' }
        : { kind: 'interval', intervalMs: shortest * unit, longestMs: longest * unit }
    await chain.update((state, executor) =>
      longest === 0 && isInstant(state.mining)
        ? { state, value: undefined }
        : setMiningMode(executor, state, mode, chain.environment.now()),
    )
    return profile.ack
  },
})

export const evmMethods: readonly Method<MethodContext>[] = [
  snapshot,
  revert,
  resetChain,
  mineBlocks,
  increase,
  anvilIncrease,
  start,
  stop,
  setNextBlockTimestamp,
  setClock,
  setAutomine,
  setIntervalMining,
]
