// miner: geth's mining settings.
import { fee } from '../core/format.ts'
import { hexFromBytes } from '../core/hex.ts'
import { optional, param } from '../rpc/method.ts'
import { address, data, quantity, text } from '../rpc/primitives.ts'
import { type Decoder, invalid } from '../rpc/schema.ts'
import { change, trueCommand } from './common/command.ts'
import type { Methods } from './common/context.ts'
import { resuming, stopping } from './common/mine.ts'
import { STRANGER } from './wire/examples.ts'

/** Bytes of a header that miners may choose (Yellow Paper, 4.4.3). */
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
    throw invalid(path, `at most ${MAX_EXTRA_DATA} bytes`, bytes.length)
  },
}

export const minerMethods: Methods = [
  trueCommand('miner_start', {
    summary: 'Resumes instant or interval mining; {threads} has no effect.',
    params: [optional('threads', quantity)],
    ...resuming,
  }),
  trueCommand('miner_stop', {
    summary: 'Stops instant and interval mining.',
    ...stopping,
  }),
  trueCommand('miner_setEtherbase', {
    summary: 'Sets the address that gets the fees of later blocks.',
    params: [param('account', address)],
    example: { params: [STRANGER], result: true },
    describe: ([account]) => `coinbase ${account}`,
    handle: ({ chain }, coinbase) => change(chain, { coinbase }),
  }),
  trueCommand('miner_setExtra', {
    summary: 'Sets the extraData of later blocks: at most 32 bytes, as 0x hex or text.',
    params: [param('extraData', extraDataText)],
    example: { params: ['0xd34db33f'], result: true },
    describe: ([extraData]) => `extra data ${hexFromBytes(extraData)}`,
    handle: ({ chain }, extraData) => change(chain, { extraData }),
  }),
  trueCommand('miner_setGasPrice', {
    summary: "Sets the pool's lowest gas price and the default of sends, in wei.",
    params: [param('price', quantity)],
    example: { params: ['0x3b9aca00'], result: true },
    describe: ([price]) => `gas price ${fee(price)}`,
    handle: ({ chain }, price) => change(chain, { minGasPrice: price, gasPrice: price }),
  }),
]
