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
import {
  address,
  asJson,
  boolean,
  nullable,
  quantity,
  quantityNumber,
  text,
} from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { command, exchange, increasedTime, nullCommand, trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { mineOn, mineParameters, ONE_BLOCK, resuming, stopping } from '../common/mine.ts'
import { requireUnlinked } from '../common/require.ts'
import { either, pair, refined } from '../wire/decodeobject.ts'
import { plainInteger, quantityResult } from '../wire/encodeobject.ts'
import { STRANGER } from '../wire/examples.ts'

/** An interval, or the bounds of random ones (hardhat). */
const interval: Decoder<readonly [shortest: number, longest: number]> = either(
  'interval or [shortest, longest]',
  (value) => Array.isArray(value) && value.length === 2,
  pair('[shortest, longest]', quantityNumber, quantityNumber),
  refined(quantityNumber, (always) => [always, always] as const),
)

/** Larger times are JavaScript milliseconds: as seconds they would be after the year 33658. */
const MILLISECONDS_FROM = 10n ** 12n

/** Of methods about accounts without keys. */
const keyless = {
  params: [param('account', address), secret(param('passphrase', text))],
  result: boolean,
  effects: 'chain',
} as const

export const evmMethods: Methods = [
  method('evm_snapshot', {
    aliases: ['anvil_snapshot', 'hardhat_snapshot'],
    summary: 'Takes a snapshot in constant time and returns its id for evm_revert.',
    result: quantityResult,
    example: { result: '0x1' },
    effects: 'chain',
    handle: async ({ chain }) => BigInt(await chain.update(takeSnapshot)),
  }),
  method('evm_revert', {
    aliases: ['anvil_revert', 'hardhat_revert'],
    summary: 'Restores a snapshot and drops later unnamed ones; false if unknown.',
    params: [param('id', quantity)],
    result: { ...boolean, noun: 'snapshot' },
    example: { params: ['0x1'], result: false },
    effects: 'revert',
    handle: ({ chain, peers }, id) => {
      requireUnlinked({ peers }, 'revert to a snapshot')
      const options = revertOptions(chain.state, Number(id))
      return chain.update((state) => revertTo(state, Number(id)), options)
    },
  }),
  nullCommand('evm_reset', {
    summary: 'Goes back to genesis; forgets snapshots, pool and imported keys.',
    effects: 'reset',
    handle: async ({ chain, peers }) => {
      requireUnlinked({ peers }, 'reset the chain')
      await chain.update(reset, RESET)
    },
  }),
  method('evm_mine', {
    summary: 'Mines one block or {blocks} blocks; {timestamp}, in seconds, is that of the first.',
    params: [optional('order', mineParameters, ONE_BLOCK)],
    result: text,
    example: { result: '0x0' },
    effects: 'chain',
    handle: async ({ chain, caller, profile }, order) => {
      await mineOn(chain, () => order, caller)
      return profile.mined
    },
  }),
  nullCommand('evm_startMining', {
    summary: 'Resumes instant or interval mining and mines pending transactions.',
    ...resuming,
  }),
  nullCommand('evm_stopMining', {
    summary: 'Stops instant and interval mining until evm_startMining; evm_mine still works.',
    ...stopping,
  }),
  command('evm_setAutomine', {
    aliases: ['anvil_setAutomine', 'hardhat_setAutomine'],
    summary: 'Turns instant mining on or off.',
    params: [param('enabled', boolean)],
    example: { params: [true], result: null },
    describe: ([enabled]) => `automine ${enabled ? 'on' : 'off'}`,
    handle: ({ chain, caller: cancellation, profile }, enabled) =>
      chain.update(
        (state, executor) => {
          const { mode } = state.mining
          const keepsInterval = profile.intervalsKeepAutomine && mode.kind === 'interval'
          const next: MiningMode = keepsInterval
            ? { ...mode, instant: enabled }
            : { kind: enabled ? 'instant' : 'manual' }
          return setMiningMode(executor, state, next, chain.environment.now())
        },
        { cancellation },
      ),
  }),
  command('evm_setIntervalMining', {
    aliases: ['anvil_setIntervalMining', 'hardhat_setIntervalMining'],
    summary:
      'Mines a block every {interval} seconds (--compat hardhat: milliseconds); 0 turns it off.',
    params: [param('interval', interval)],
    example: { params: ['0x0'], result: null },
    describe: (_values, _result, { chain }) => `mining ${describeMining(chain.state.mining)}`,
    handle: ({ chain, profile }, [shortest, longest]) =>
      chain.update<unknown>((state, executor) => {
        const unit = profile.intervalUnitMs
        const instant = isInstant(state.mining)
        const wasOff = state.mining.mode.kind !== 'interval'
        if (longest === 0 && instant && wasOff) return { state, value: undefined }
        const interval = { intervalMs: shortest * unit, longestMs: longest * unit }
        const mode: MiningMode =
          longest === 0
            ? { kind: instant ? 'instant' : 'manual' }
            : { kind: 'interval', ...interval, instant: instant && profile.intervalsKeepAutomine }
        return setMiningMode(executor, state, mode, chain.environment.now())
      }),
  }),
  trueCommand('evm_setBlockGasLimit', {
    aliases: ['anvil_setBlockGasLimit', 'hardhat_setBlockGasLimit'],
    summary: 'Sets the gas limit of later blocks.',
    params: [param('gasLimit', quantity)],
    example: { params: ['0x1c9c380'], result: true },
    describe: ([gasLimit]) => `gas limit ${number(gasLimit)}`,
    handle: async ({ chain, profile }, blockGasLimit) => {
      const { leastGasLimit } = profile
      if (blockGasLimit < leastGasLimit || blockGasLimit > MAX_GAS_LIMIT) {
        const message = `gasLimit: expected ${leastGasLimit} to ${MAX_GAS_LIMIT}, got ${blockGasLimit}`
        throw new DevchainError('INVALID_PARAMS', message, undefined, { blockGasLimit })
      }
      await chain.update((state) => setGasLimit(state, blockGasLimit))
    },
  }),
  method('evm_increaseTime', {
    aliases: ['hardhat_increaseTime'],
    summary: 'Moves the clock ahead by seconds; returns the total offset.',
    params: [param('seconds', quantity)],
    result: asJson<string | number>('seconds', { anyOf: [quantity.json, { type: 'integer' }] }),
    example: { params: ['0xe10'], result: '0xe10' },
    effects: 'chain',
    handle: async ({ chain, profile }, seconds) =>
      profile.secondsAhead(await increasedTime(chain, seconds)),
  }),
  method('evm_setNextBlockTimestamp', {
    aliases: ['anvil_setNextBlockTimestamp', 'hardhat_setNextBlockTimestamp'],
    summary: 'Sets the timestamp of the next block, in seconds; later blocks go on from there.',
    params: [param('timestamp', quantity)],
    result: nullable(text),
    example: { params: ['0x77359400'], result: null },
    effects: 'chain',
    describe: ([timestamp]) => `next block at ${time(timestamp)}`,
    handle: async ({ chain, profile }, timestamp) => {
      await chain.update((state) => setNextTimestamp(state, timestamp))
      return profile.nextTimestamp(timestamp)
    },
  }),
  /** Ganache and anvil return a JSON number, which may be negative. Ganache can go back in time; chains here cannot. */
  method('evm_setTime', {
    aliases: ['anvil_setTime', 'hardhat_setTime'],
    summary:
      'Sets the clock, in seconds or milliseconds since 1970; returns the offset in seconds.',
    params: [param('time', quantity)],
    result: plainInteger,
    example: { params: ['0x77359400'] },
    effects: 'chain',
    handle: ({ chain }, time) => {
      const seconds = time >= MILLISECONDS_FROM ? time / 1000n : time
      return chain.update((state) => setTime(state, seconds, chain.environment.now()))
    },
  }),
  method('evm_addAccount', {
    ...keyless,
    summary: 'Adds an account without its key, for personal_unlockAccount; false if it exists.',
    example: { params: [STRANGER, 'secret'], result: true },
    describe: ([account]) => `account ${account} without its key`,
    handle: ({ chain }, account, passphrase) =>
      exchange(chain, (book) => addKeyless(book, account, passphrase)),
  }),
  method('evm_removeAccount', {
    ...keyless,
    summary: 'Removes an account that evm_addAccount added; false if there is none.',
    example: { params: [STRANGER, 'secret'], result: false },
    describe: ([account]) => `account ${account} removed`,
    handle: ({ chain }, account, passphrase) =>
      exchange(chain, (book) => removeKeyless(book, account, passphrase)),
  }),
]
