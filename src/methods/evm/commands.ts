// evm: snapshots, mining, block times, and impersonation.

import { DevchainError } from '../../core/errors.ts'
import { number, time } from '../../core/format.ts'
import { addKeyless, removeKeyless } from '../../node/accounts/accounts.ts'
import { setMiningMode } from '../../node/commands/miningmode.ts'
import { setGasLimit } from '../../node/commands/settings.ts'
import {
  RESET,
  reset,
  revertOptions,
  revertTo,
  takeSnapshot,
} from '../../node/commands/snapshots.ts'
import { setNextTimestamp, setTime } from '../../node/commands/time.ts'
import type { MiningMode } from '../../node/ledger/chainstate.ts'
import { describeMining, isInstant } from '../../node/ledger/miningmode.ts'
import { MAX_GAS_LIMIT } from '../../protocol/blocks/headerrules.ts'
import { optional, param, secret } from '../../rpc/method.ts'
import { address, boolean, nullable, quantity, quantityNumber, text } from '../../rpc/primitives.ts'
import type { Decoder, Encoder } from '../../rpc/schema.ts'
import { command, exchanged, increasedTime, nullCommand, trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { STRANGER } from '../common/examples.ts'
import { mineOn, resuming, stopping } from '../common/mine.ts'
import { requireUnlinked } from '../common/peers.ts'
import { mineParameters, ONE_BLOCK } from '../wire/decodemine.ts'
import { plainInteger, quantityResult } from '../wire/encodeobject.ts'

/** An interval, or the bounds of random ones (hardhat). */
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

/** A sum of seconds in the profile's form. */
const secondsAhead: Encoder<string | number> = {
  name: 'seconds',
  json: { anyOf: [quantity.json, { type: 'integer' }] },
  encode: (value) => value,
}

/** Larger times are JavaScript milliseconds: as seconds they would be after the year 33658. */
const MILLISECONDS_FROM = 10n ** 12n

export const evmMethods: Methods = [
  method({
    name: 'evm_snapshot',
    aliases: ['anvil_snapshot', 'hardhat_snapshot'],
    summary:
      'Remembers the chain as it is; evm_revert brings it back. Costs the same whatever its size.',
    params: [],
    result: quantityResult,
    example: { params: [], result: '0x1' },
    effects: 'chain',
    handle: async ({ chain }) => BigInt(await chain.update(takeSnapshot)),
  }),
  method({
    name: 'evm_revert',
    aliases: ['anvil_revert', 'hardhat_revert'],
    summary:
      'Brings back everything as it was at a snapshot, and drops later snapshots; false when the id is unknown.',
    params: [param('id', quantity)],
    result: { ...boolean, noun: 'snapshot' },
    example: { params: ['0x1'], result: false },
    effects: 'chain',
    handle: ({ chain, peers }, id) => {
      requireUnlinked({ peers }, 'revert to a snapshot')
      const options = revertOptions(chain.state, Number(id))
      return chain.update((state) => revertTo(state, Number(id)), options)
    },
  }),
  nullCommand({
    name: 'evm_reset',
    summary: 'Goes back to genesis; forgets snapshots, the pool and imported keys.',
    params: [],
    example: { params: [], result: null },
    handle: async ({ chain, peers }) => {
      requireUnlinked({ peers }, 'reset the chain')
      await chain.update(reset, RESET)
    },
  }),
  method({
    name: 'evm_mine',
    summary:
      'Mines a block, or {blocks}, the first at an exact {timestamp} in seconds if one is given.',
    params: [optional('order', mineParameters, ONE_BLOCK)],
    result: text,
    example: { params: [], result: '0x0' },
    effects: 'chain',
    handle: async ({ chain, caller, profile }, order) => {
      await mineOn(chain, () => order, caller.isWaiting)
      return profile.mined
    },
  }),
  nullCommand({
    name: 'evm_startMining',
    summary: 'Resumes instant or interval mining, and mines what waits.',
    params: [],
    example: { params: [], result: null },
    ...resuming,
  }),
  nullCommand({
    name: 'evm_stopMining',
    summary:
      'Stops instant and interval mining; transactions wait until evm_mine or evm_startMining.',
    params: [],
    example: { params: [], result: null },
    ...stopping,
  }),
  command({
    name: 'evm_setAutomine',
    aliases: ['anvil_setAutomine', 'hardhat_setAutomine'],
    summary: 'Mines every transaction at once (true), or only when told to (false).',
    params: [param('enabled', boolean)],
    example: { params: [true], result: null },
    tell: ([enabled]) => `automine ${enabled ? 'on' : 'off'}`,
    handle: async ({ chain, caller }, enabled) => {
      const mode: MiningMode = { kind: enabled ? 'instant' : 'manual' }
      await chain.update(
        (state, executor) => setMiningMode(executor, state, mode, chain.environment.now()),
        { isAwaited: caller.isWaiting },
      )
    },
  }),
  command({
    name: 'evm_setIntervalMining',
    aliases: ['anvil_setIntervalMining', 'hardhat_setIntervalMining'],
    summary:
      'Mines a block every so many seconds (as hardhat: milliseconds); 0 stops that, and then only evm_mine mines.',
    params: [param('interval', interval)],
    example: { params: ['0x0'], result: null },
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
    },
  }),
  trueCommand({
    name: 'evm_setBlockGasLimit',
    aliases: ['anvil_setBlockGasLimit', 'hardhat_setBlockGasLimit'],
    summary: 'Sets the gas limit of the blocks to come.',
    params: [param('gasLimit', quantity)],
    example: { params: ['0x1c9c380'], result: true },
    tell: ([gasLimit]) => `gas limit ${number(gasLimit)}`,
    handle: async ({ chain, profile }, blockGasLimit) => {
      const { leastGasLimit } = profile
      if (blockGasLimit < leastGasLimit || blockGasLimit > MAX_GAS_LIMIT) {
        const message = `gasLimit: expected ${leastGasLimit} to ${MAX_GAS_LIMIT}, got ${blockGasLimit}`
        throw new DevchainError('INVALID_PARAMS', message, undefined, { blockGasLimit })
      }
      await chain.update((state) => setGasLimit(state, blockGasLimit))
    },
  }),
  method({
    name: 'evm_increaseTime',
    aliases: ['hardhat_increaseTime'],
    summary: 'Moves the clock ahead for good, by seconds; answers by how much it is ahead in all.',
    params: [param('seconds', quantity)],
    result: secondsAhead,
    example: { params: ['0xe10'], result: '0xe10' },
    effects: 'chain',
    handle: async ({ chain, profile }, seconds) =>
      profile.secondsAhead(await increasedTime(chain, seconds)),
  }),
  method({
    name: 'evm_setNextBlockTimestamp',
    aliases: ['anvil_setNextBlockTimestamp', 'hardhat_setNextBlockTimestamp'],
    summary: 'Sets the exact time of the next block, in seconds; later blocks go on from there.',
    params: [param('timestamp', quantity)],
    result: nullable(text),
    example: { params: ['0x77359400'], result: null },
    effects: 'chain',
    tell: ([timestamp]) => `next block at ${time(timestamp)}`,
    handle: async ({ chain, profile }, timestamp) => {
      await chain.update((state) => setNextTimestamp(state, timestamp))
      return profile.nextTimestamp(timestamp)
    },
  }),
  /** Ganache and anvil return a JSON number, which may be negative. Ganache can go back in time; chains here cannot. */
  method({
    name: 'evm_setTime',
    aliases: ['anvil_setTime', 'hardhat_setTime'],
    summary:
      'Sets the clock, in seconds or milliseconds since 1970; answers by how many seconds it is ahead of its source.',
    params: [param('time', quantity)],
    result: plainInteger,
    example: { params: ['0x77359400'] },
    effects: 'chain',
    handle: ({ chain }, time) => {
      const seconds = time >= MILLISECONDS_FROM ? time / 1000n : time
      return chain.update((state) => setTime(state, seconds, chain.environment.now()))
    },
  }),
  method({
    name: 'evm_addAccount',
    summary:
      'Takes in an account without its key; personal_unlockAccount lets it send. False when it is there already.',
    params: [param('account', address), secret(param('passphrase', text))],
    result: boolean,
    example: { params: [STRANGER, 'secret'], result: true },
    effects: 'chain',
    tell: ([account]) => `account ${account} without its key`,
    handle: ({ chain }, account, passphrase) =>
      chain.update((state) => exchanged(state, addKeyless(state.accounts, account, passphrase))),
  }),
  method({
    name: 'evm_removeAccount',
    summary: 'Takes away what evm_addAccount took in; false when there is no such account.',
    params: [param('account', address), secret(param('passphrase', text))],
    result: boolean,
    example: { params: [STRANGER, 'secret'], result: false },
    effects: 'chain',
    tell: ([account]) => `account ${account} removed`,
    handle: ({ chain }, account, passphrase) =>
      chain.update((state) => exchanged(state, removeKeyless(state.accounts, account, passphrase))),
  }),
]
