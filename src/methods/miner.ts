// miner: geth’s settings of mining.

import { DevchainError } from '../core/errors.ts'
import { fee } from '../core/format.ts'
import { hexFromBytes } from '../core/hex.ts'
import { startMining, stopMining } from '../node/commands/miningmode.ts'
import { describeMining } from '../node/ledger/miningmode.ts'
import { type Method, optional, param } from '../rpc/method.ts'
import { address, boolean, data, quantity, text } from '../rpc/primitives.ts'
import type { Decoder } from '../rpc/schema.ts'
import { type MethodContext, method } from './common/context.ts'
import { STRANGER } from './common/examples.ts'
import { change } from './common/settings.ts'

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

const minerStart = method({
  name: 'miner_start',
  summary:
    'Resumes instant or interval mining, and mines what waits, on as many threads as there are: {threads} is read, and decides nothing, as in ganache.',
  params: [optional('threads', quantity)],
  result: boolean,
  example: { params: [], result: true },
  effects: 'chain',
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
  effects: 'chain',
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
  effects: 'chain',
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
  effects: 'chain',
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
  effects: 'chain',
  tell: ([price]) => `gas price ${fee(price)}`,
  handle: async ({ chain }, price) => {
    await change(chain, { minGasPrice: price, gasPrice: price })
    return true
  },
})

export const minerMethods: readonly Method<MethodContext>[] = [
  minerStart,
  minerStop,
  setEtherbase,
  setExtra,
  setGasPrice,
]
