// evm: the time of blocks.

import { time } from '../../core/format.ts'
import { setNextTimestamp, setTime } from '../../node/commands/time.ts'
import { param } from '../../rpc/method.ts'
import { nullable, quantity, text } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { increasedTime, secondsResult } from '../common/clock.ts'
import { type Methods, method } from '../common/context.ts'

/** A sum of seconds in the form of the node whose ways are taken. */
const secondsAhead: Encoder<string | number> = {
  name: 'seconds',
  json: { anyOf: [quantity.json, { type: 'integer' }] },
  encode: (value) => value,
}

/** Above this a time is one of JavaScript, in milliseconds: as seconds it would be in the year 33658. */
const MILLISECONDS_FROM = 10n ** 12n

export const evmClockMethods: Methods = [
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
  /** Ganache and anvil answer a JSON number, which may be negative. Ganache goes back in time, which no chain can. */
  method({
    name: 'evm_setTime',
    aliases: ['anvil_setTime', 'hardhat_setTime'],
    summary:
      'Sets the clock, in seconds or milliseconds since 1970; answers by how many seconds it is ahead of its source.',
    params: [param('time', quantity)],
    result: secondsResult,
    example: { params: ['0x77359400'] },
    effects: 'chain',
    handle: ({ chain }, time) => {
      const seconds = time >= MILLISECONDS_FROM ? time / 1000n : time
      return chain.update((state) => setTime(state, seconds, chain.environment.now()))
    },
  }),
]
