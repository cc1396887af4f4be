// Which time the next block gets, under each source and after each jump.
import { describe, expect, it } from 'vitest'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import {
  increaseTime,
  setBlockInterval,
  setNextTimestamp,
  setTime,
} from '../../../../src/node/commands/time.ts'
import { FIXED_GENESIS_TIMESTAMP } from '../../../../src/node/create.ts'
import { clockShift } from '../../../../src/node/ledger/clock.ts'
import { gasPrice } from '../../../../src/node/sending/gasoracle.ts'
import { MAX_TIMESTAMP } from '../../../../src/protocol/timestamps.ts'
import { headTime, NOON, testChain, testEnvironment } from '../chains.ts'

const NOON_S = BigInt(NOON) / 1000n

function mineOne(chain: Chain, timestamp?: bigint): Promise<unknown> {
  const now = chain.environment.now()
  return chain.update((state) => mine(chain.executor, state, { now, timestamp }))
}

function increase(chain: Chain, seconds: bigint): Promise<bigint> {
  return chain.update((state) => increaseTime(state, seconds, chain.environment.now()))
}

describe('the clock', () => {
  it('follows the wall clock, and never stands still from block to block', async () => {
    const environment = testEnvironment()
    const chain = await testChain({ environment })
    expect(headTime(chain)).toBe(NOON_S)
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 1n)
    environment.ms += 60_000
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 60n)
  })

  it('stays ahead when time is increased, and sums up the increases', async () => {
    const chain = await testChain()
    expect(await increase(chain, 100n)).toBe(100n)
    expect(await increase(chain, 20n)).toBe(120n)
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 120n)
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 121n)
  })

  it('is increased from the newest block if blocks ran ahead of the wall clock', async () => {
    const chain = await testChain()
    for (let count = 0; count < 50; count += 1) await mineOne(chain)
    const before = headTime(chain)
    expect(await increase(chain, 10n)).toBe(10n)
    await mineOne(chain)
    expect(headTime(chain) - before).toBe(10n)
  })

  it('shows the time that it is set to, and goes on from there', async () => {
    const environment = testEnvironment()
    const chain = await testChain({ environment })
    const set = (time: bigint): Promise<bigint> =>
      chain.update((state) => setTime(state, time, environment.now()))
    await chain.update((state) => setNextTimestamp(state, NOON_S + 5n))
    expect(await set(NOON_S + 1_000n)).toBe(1_000n)
    environment.ms += 7_000
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 1_007n)
    environment.ms += 3_600_000
    expect(await set(NOON_S + 2_000n)).toBe(2_000n - 3_607n)
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 2_000n)
    await expect(set(NOON_S + 2_000n)).rejects.toThrow('block timestamps increase')
    expect(await increase(chain, 5n)).toBe(5n)
  })

  it('goes on from an exact timestamp', async () => {
    const environment = testEnvironment()
    const chain = await testChain({ environment })
    await chain.update((state) => setNextTimestamp(state, NOON_S + 1_000n))
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 1_000n)
    environment.ms += 5_000
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 1_005n)
    await mineOne(chain, NOON_S + 9_000n)
    environment.ms += 5_000
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 9_005n)
  })

  it('goes on from an exact timestamp before the wall clock, and still counts increases from zero', async () => {
    const chain = await testChain({ timestamp: 1_000n })
    expect(headTime(chain)).toBe(1_000n)
    await mineOne(chain, 1_500n)
    expect(await increase(chain, 7n)).toBe(7n)
    await mineOne(chain)
    expect(headTime(chain)).toBe(1_507n)
  })

  it.each([NOON_S, NOON_S - 1n, 0n])(
    'refuses timestamp %s, which is not after the newest',
    async (timestamp) => {
      const chain = await testChain()
      const words = `timestamp ${timestamp} is not after ${NOON_S}`
      await expect(mineOne(chain, timestamp)).rejects.toThrow(words)
      const setting = chain.update((state) => setNextTimestamp(state, timestamp))
      await expect(setting).rejects.toMatchObject({ word: 'INVALID_PARAMS' })
    },
  )

  it('refuses to go backwards', async () => {
    const chain = await testChain()
    await expect(increase(chain, -1n)).rejects.toThrow('got -1: time never goes back')
  })

  it('refuses a time that does not fit a header', async () => {
    const chain = await testChain()
    await expect(increase(chain, 2n ** 64n)).rejects.toMatchObject({ word: 'INVALID_PARAMS' })
    await expect(mineOne(chain, 2n ** 64n)).rejects.toMatchObject({ word: 'INVALID_PARAMS' })
  })

  it.each<[string, (chain: Chain) => Promise<unknown>]>([
    ['a timestamp of a block', (chain) => mineOne(chain, MAX_TIMESTAMP + 1n)],
    [
      'a timestamp of the next block',
      (chain) => chain.update((state) => setNextTimestamp(state, MAX_TIMESTAMP + 1n)),
    ],
    ['a time', (chain) => chain.update((state) => setTime(state, MAX_TIMESTAMP + 1n, NOON))],
    ['an increase', (chain) => increase(chain, MAX_TIMESTAMP - NOON_S + 1n)],
    [
      'an increase of a time that is set',
      async (chain) => {
        await chain.update((state) => setNextTimestamp(state, MAX_TIMESTAMP - 9n))
        await increase(chain, 10n)
      },
    ],
    [
      'an interval',
      (chain) => chain.update((state) => setBlockInterval(state, MAX_TIMESTAMP - NOON_S + 1n)),
    ],
    ...[2n, 3n, 100n].map((blocks): [string, (chain: Chain) => Promise<unknown>] => [
      `an interval of ${blocks} blocks`,
      (chain) =>
        chain.update((state) =>
          mine(chain.executor, state, { now: NOON, blocks, interval: MAX_TIMESTAMP - NOON_S }),
        ),
    ]),
  ])('refuses %s that adds up to more than 64 bits', async (_, command) => {
    const chain = await testChain()
    await expect(command(chain)).rejects.toMatchObject({
      word: 'INVALID_PARAMS',
      message: expect.stringContaining(`${MAX_TIMESTAMP}`),
    })
    await mineOne(chain)
    expect(headTime(chain)).toBeLessThanOrEqual(MAX_TIMESTAMP)
  })

  it.each([{ kind: 'wall' }, { kind: 'frozen' }, { kind: 'step', seconds: 7n }] as const)(
    'of the kind $kind stops where headers end, and reads go on',
    async (clock) => {
      const chain = await testChain({ clock, timestamp: MAX_TIMESTAMP - 1n })
      const first = clock.kind === 'step' ? mineOne(chain, MAX_TIMESTAMP) : mineOne(chain)
      await first
      expect(headTime(chain)).toBe(MAX_TIMESTAMP)
      const next = `the next block would be at ${MAX_TIMESTAMP + 1n} seconds`
      const message = clock.kind === 'step' ? 'the next block would be at' : next
      await expect(mineOne(chain)).rejects.toThrow(message)
      await expect(chain.pending()).rejects.toThrow(message)
      expect(headTime(chain)).toBe(MAX_TIMESTAMP)
      expect(gasPrice(chain.state)).toBe(0n)
    },
  )

  it('is exact even where numbers are not', async () => {
    const chain = await testChain()
    const start = 2n ** 60n + 1n
    await mineOne(chain, start)
    await chain.update((state) =>
      mine(chain.executor, state, { now: NOON, blocks: 100n, bulk: chain.execution.bulk }),
    )
    expect(headTime(chain)).toBe(start + 100n)
    const blocks = 50n
    await chain.update((state) =>
      mine(chain.executor, state, { now: NOON, blocks, interval: 3n, bulk: chain.execution.bulk }),
    )
    expect(headTime(chain)).toBe(start + 101n + 3n * (blocks - 1n))
  })

  it('returns to its state at a snapshot, with an exact timestamp that waited', async () => {
    const chain = await testChain()
    await chain.update((state) => setNextTimestamp(state, NOON_S + 77n))
    const id = await chain.update(takeSnapshot)
    await mineOne(chain)
    await increase(chain, 86_400n)
    const ahead = clockShift(chain.state.clock)
    await chain.update((state) => revertTo(state, id))
    expect(ahead - clockShift(chain.state.clock)).toBeGreaterThanOrEqual(86_400n)
    await mineOne(chain)
    expect(headTime(chain)).toBe(NOON_S + 77n)
  })
})

describe('the clock source', () => {
  it('frozen advances only by blocks and callers', async () => {
    const environment = testEnvironment()
    const chain = await testChain({ environment, clock: { kind: 'frozen' } })
    environment.ms += 3_600_000
    await mineOne(chain)
    expect(headTime(chain)).toBe(FIXED_GENESIS_TIMESTAMP + 1n)
    await increase(chain, 100n)
    await mineOne(chain)
    expect(headTime(chain)).toBe(FIXED_GENESIS_TIMESTAMP + 101n)
  })

  it('step advances by the same number of seconds per block, also after a jump', async () => {
    const chain = await testChain({ clock: { kind: 'step', seconds: 12n }, timestamp: 1_000n })
    await mineOne(chain)
    await mineOne(chain)
    expect(headTime(chain)).toBe(1_024n)
    await mineOne(chain, 2_000n)
    await mineOne(chain)
    expect(headTime(chain)).toBe(2_012n)
  })

  it('wall spaces the blocks of one command as requested', async () => {
    const chain = await testChain()
    await chain.update((state) =>
      mine(chain.executor, state, {
        now: NOON,
        blocks: 4n,
        timestamp: NOON_S + 10n,
        interval: 60n,
      }),
    )
    expect(headTime(chain)).toBe(NOON_S + 10n + 180n)
  })
})
