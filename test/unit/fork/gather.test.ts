// How what is missing is gathered: work begins anew until nothing is, unless it has had an effect.
import { expect, onTestFinished, test, vi } from 'vitest'
import { RefusedByUpstream } from '../../../src/fork/client/client.ts'
import {
  complete,
  completeCommand,
  Gathering,
  gathering,
  missed,
} from '../../../src/fork/network/gather.ts'
import { type Miss, MissingState, type MissSource } from '../../../src/state/misses.ts'
import { deployKeeper, forkOf, startUpstream } from '../../support/fork/upstream.ts'

const slot = (number: bigint): Miss => ({
  kind: 'slot',
  address: `0x${'12'.repeat(20)}` as never,
  slot: number,
})

/** Has what it was asked to fetch. */
function source(): MissSource & {
  readonly rounds: (readonly Miss[])[]
  has: (number: bigint) => boolean
} {
  const known = new Set<bigint>()
  const rounds: (readonly Miss[])[] = []
  return {
    rounds,
    has: (number) => known.has(number),
    fetch: async (misses) => {
      rounds.push(misses)
      for (const miss of misses) if (miss.kind === 'slot') known.add(miss.slot)
    },
  }
}

test('complete fetches all that one attempt misses in one round, each item once', async () => {
  const from = source()
  let attempts = 0
  const sum = await complete(
    () => {
      attempts += 1
      for (const number of [1n, 2n, 3n, 2n]) if (!from.has(number)) missed(slot(number), from)
      return attempts
    },
    { guesses: true },
  )
  expect([sum, attempts]).toEqual([2, 2])
  expect(from.rounds).toEqual([[slot(1n), slot(2n), slot(3n)]])
})

test('complete hides values and errors that a guess leads to', async () => {
  const from = source()
  const work = (): string => {
    if (from.has(1n)) return 'known'
    missed(slot(1n), from)
    throw new Error('made of a guess')
  }
  expect(await complete(work, { guesses: true })).toBe('known')
  expect(await complete(async () => work(), { guesses: true })).toBe('known')
})

test('complete does not repeat work that had an effect', async () => {
  const from = source()
  let mined = 0
  const work = async (): Promise<void> => {
    await completeCommand(() => {
      if (!from.has(1n)) missed(slot(1n), from)
      mined += from.has(1n) ? 1 : 0
    })
    throw new MissingState(slot(2n), from)
  }
  await expect(Promise.resolve(complete(work, { guesses: false }))).rejects.toThrow(MissingState)
  expect(mined).toBe(1)
  expect(from.rounds).toEqual([[slot(1n)]])
})

test('an attempt is astray some time after its first guess', () => {
  const now = vi.spyOn(performance, 'now')
  onTestFinished(() => now.mockRestore())
  const attempt = new Gathering(true)
  now.mockReturnValue(1_000)
  expect(attempt.isAstray).toBe(false)
  attempt.add(slot(1n), source())
  expect(attempt.isAstray).toBe(false)
  now.mockReturnValue(1_030)
  expect(attempt.isAstray).toBe(true)
})

test('nothing is guessed without complete', () => {
  expect(gathering()).toBeUndefined()
  expect(() => missed(slot(1n), source())).toThrow(MissingState)
})

test('a refusal after a guess is ignored if the work does not need it, and reported if it does', async () => {
  const from = source()
  const refusing = (refused: bigint): MissSource => ({
    fetch: async (misses) => {
      if (misses.some((miss) => miss.kind === 'slot' && miss.slot === refused)) {
        const ask = { method: 'eth_getStorageAt', params: [] }
        throw new RefusedByUpstream({ code: -32_000, message: `not ${refused}` }, ask, 'a network')
      }
      await from.fetch(misses)
    },
  })
  const work = (source: MissSource) => (): string => {
    if (from.has(1n)) return 'known'
    missed(slot(1n), source)
    missed(slot(2n), source)
    return 'guessed'
  }
  await expect(Promise.resolve(complete(work(refusing(1n)), { guesses: true }))).rejects.toThrow(
    'not 1',
  )
  expect(await complete(work(refusing(2n)), { guesses: true })).toBe('known')
})

test('consecutive reads of a batch are fetched together, and answered in order', async () => {
  await using upstream = await startUpstream()
  const keeper = await deployKeeper(upstream)
  await using fork = await forkOf(upstream)
  const { url } = await fork.devchain.listen()
  const balances = Array.from({ length: 60 }, (_, index) => ({
    method: 'eth_getBalance',
    params: [`0x${(0x9000 + index).toString(16).padStart(40, '0')}`, 'latest'],
  }))
  const set = {
    method: 'hardhat_setBalance',
    params: [balances[3]!.params[0], '0x7'],
  }
  const call = { method: 'eth_call', params: [{ to: keeper }] }
  const entries = [...balances, call, set, balances[3], { method: 'eth_nothing' }, call]
  const begun = upstream.requests.length
  const body = entries.map((entry, id) => ({ jsonrpc: '2.0', id, ...entry }))
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const replies = (await answer.json()) as { id: number; result?: string; error?: object }[]
  expect(replies.map(({ id }) => id)).toEqual(entries.map((_, id) => id))
  const sum = replies[60]!.result
  expect(sum).toBe(await upstream.ask('eth_call', { to: keeper }))
  expect(replies.slice(61).map(({ result }) => result)).toEqual([null, '0x7', undefined, sum])
  expect(upstream.requests.length - begun).toBeLessThan(10)
})

test('the system calls of the first block are prefetched in one request', async () => {
  await using upstream = await startUpstream()
  await using fork = await forkOf(upstream)
  const begun = upstream.requests.length
  await fork.ask('evm_mine')
  expect(upstream.requests.length - begun).toBe(1)
  await fork.ask('evm_mine')
  expect(upstream.requests.length - begun).toBe(1)
})
