// evm: mining by hand, instantly or on an interval, and how much gas blocks have.

import { DevchainError } from '../../core/errors.ts'
import { number } from '../../core/format.ts'
import { setMiningMode } from '../../node/commands/miningmode.ts'
import { setGasLimit } from '../../node/commands/settings.ts'
import type { MiningMode } from '../../node/ledger/chainstate.ts'
import { describeMining, isInstant } from '../../node/ledger/miningmode.ts'
import { MAX_GAS_LIMIT } from '../../protocol/blocks/headerrules.ts'
import { optional, param } from '../../rpc/method.ts'
import { boolean, quantity, quantityNumber, text } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { command, nullCommand, trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { mineOn, resuming, stopping } from '../common/mine.ts'
import { mineParameters, ONE_BLOCK } from '../wire/decodemine.ts'

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

export const evmMiningMethods: Methods = [
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
]
