// The clock of a fork: it goes on from the block that is forked, by whatever source.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DevchainOptions } from '../../../src/devchain.ts'
import { type Fork, forkOf, startUpstream, type Upstream } from '../../support/fork/upstream.ts'

/** Blocks below the fork, a second apart: its genesis is much older than so many steps of 12 seconds. */
const HEIGHT = 45

const BEGINNING = 1_700_000_000

/** A network whose newest block came long after its genesis, or long before what 12 seconds a block would make of it. */
async function networkAt(seconds: number): Promise<Upstream> {
  const upstream = await startUpstream({ timestamp: BEGINNING, clock: 'frozen' })
  onTestFinished(upstream.close)
  await upstream.ask('hardhat_mine', '0x2c', '0x1')
  await upstream.ask('evm_mine', { timestamp: seconds })
  expect(await upstream.ask('eth_blockNumber')).toBe(`0x${HEIGHT.toString(16)}`)
  return upstream
}

async function forkAt(upstream: Upstream, options: DevchainOptions): Promise<Fork> {
  const fork = await forkOf(upstream, options)
  onTestFinished(() => fork[Symbol.asyncDispose]())
  return fork
}

async function timeOf({ ask }: Pick<Fork, 'ask'>, block: string): Promise<number> {
  const { timestamp } = (await ask('eth_getBlockByNumber', block, false)) as { timestamp: string }
  return Number(timestamp)
}

/** Times of the next blocks, seconds after `since`. */
async function mined(fork: Fork, count: number, since: number): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < count; index += 1) {
    await fork.ask('evm_mine')
    times.push((await timeOf(fork, 'latest')) - since)
  }
  return times
}

describe.each([
  ['a network that is slower than the clock', BEGINNING + 1_000_000],
  ['a network that is faster than the clock', BEGINNING + HEIGHT],
])('the clock of a fork of %s', (_, head) => {
  test('with --clock step continues from the fork block', async () => {
    const fork = await forkAt(await networkAt(head), { clock: 'step:12' })
    expect((await timeOf(fork, 'pending')) - head).toBe(12)
    expect(await mined(fork, 3, head)).toEqual([12, 24, 36])
    await fork.ask('hardhat_mine', '0x5')
    expect((await timeOf(fork, 'latest')) - head).toBe(96)
    await fork.ask('evm_increaseTime', 100)
    expect(await mined(fork, 2, head)).toEqual([208, 220])
  })

  test('with --clock frozen has the time of the fork block', async () => {
    const fork = await forkAt(await networkAt(head), { clock: 'frozen' })
    expect(await mined(fork, 3, head)).toEqual([1, 2, 3])
    await fork.ask('evm_increaseTime', 100)
    expect(await mined(fork, 1, head)).toEqual([103])
  })

  test('starts at --timestamp with any source', async () => {
    const upstream = await networkAt(head)
    const timestamp = head + 5_000
    const stepping = await forkAt(upstream, { clock: 'step:12', timestamp })
    expect(await mined(stepping, 2, timestamp)).toEqual([12, 24])
    const frozen = await forkAt(upstream, { clock: 'frozen', timestamp })
    expect(await mined(frozen, 2, timestamp)).toEqual([0, 1])
    const running = await forkAt(upstream, { clock: 'wall', timestamp })
    const [first] = await mined(running, 1, timestamp)
    expect(first).toBeGreaterThanOrEqual(0)
    expect(first).toBeLessThan(60)
  })
})

test('evm_reset of a fork starts the clock at the new fork block', async () => {
  const head = BEGINNING + 1_000_000
  const upstream = await networkAt(head)
  const fork = await forkAt(upstream, { clock: 'step:12' })
  await fork.ask('evm_increaseTime', 100)
  expect(await mined(fork, 1, head)).toEqual([112])
  await fork.ask('evm_reset')
  expect(await mined(fork, 1, head)).toEqual([12])
  await fork.ask('hardhat_reset', { forking: { blockNumber: HEIGHT - 1 } })
  expect(await mined(fork, 2, await timeOf(upstream, '0x2c'))).toEqual([12, 24])
})

test('evm_reset to a block after --timestamp continues from that block', async () => {
  const upstream = await networkAt(BEGINNING + 1_000)
  const [older, newer] = [BEGINNING + 2_000, BEGINNING + 4_000]
  const fork = await forkAt(upstream, { clock: 'step:12', timestamp: older })
  await upstream.ask('evm_mine', { timestamp: newer })
  await fork.ask('hardhat_reset', { forking: { blockNumber: HEIGHT + 1 } })
  expect(await mined(fork, 2, newer)).toEqual([12, 24])
})

test.each(['step:12', 'frozen'] as const)(
  '--clock %s does not read block 0 of the network',
  async (clock) => {
    const upstream = await networkAt(BEGINNING + 1_000)
    upstream.faults.lie = ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x0' ? null : result
    const fork = await forkAt(upstream, { clock })
    expect(await mined(fork, 1, BEGINNING + 1_000)).toEqual([clock === 'frozen' ? 1 : 12])
    expect(upstream.requests.flat().filter(({ params }) => params[0] === '0x0')).toEqual([])
  },
)
