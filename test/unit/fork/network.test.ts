// What is kept of a network, and by what: answers of deep blocks serve forks at other blocks, those of shallow ones do not.
import { describe, expect, test } from 'vitest'
import type { Address, Hash } from '../../../src/core/hex.ts'
import { RefusedByUpstream } from '../../../src/fork/client/client.ts'
import { type BlockPoint, Network } from '../../../src/fork/network/network.ts'
import { memoryStore } from '../../../src/fork/store/memory.ts'
import type { Store } from '../../../src/fork/store/store.ts'
import type { Json } from '../../../src/rpc/schema.ts'

const NEWEST = 200n

const hashOf = (number: bigint, chain = 'ab'): Hash =>
  `0x${chain}${number.toString(16).padStart(62, '0')}` as Hash

const pointOf = (number: bigint): BlockPoint => ({
  number,
  hash: hashOf(number),
  stateRoot: hashOf(number, 'ef'),
})

/** A network whose blocks up to 100 no reorganization reaches, and what it was asked. */
function networkOf(
  store: Store,
  options: { readonly chainId?: bigint; readonly answer?: (method: string) => Json } = {},
): { readonly network: Network; readonly asked: string[] } {
  const { chainId = 1n, answer = () => '0x1' } = options
  const asked: string[] = []
  const request = async (method: string, params: readonly Json[]): Promise<Json> => {
    asked.push(method)
    if (method !== 'eth_getBlockByNumber') return answer(method)
    return { hash: hashOf(BigInt(String(params[0]))) }
  }
  const isShallow = (number: bigint): boolean => number + 100n > NEWEST
  const asker = { name: 'a network', request }
  return { network: new Network({ chainId, asker, store, isProven: false, isShallow }), asked }
}

describe('an answer that belongs to a block', () => {
  const METHOD = 'eth_getTransactionReceipt'

  test('that no reorganization reaches serves a fork at another block, of the same chain alone', async () => {
    const store = memoryStore()
    const first = networkOf(store)
    await first.network.askBelow(pointOf(90n), METHOD, ['0x12'], 50n)
    expect(first.asked).toEqual([METHOD])
    const second = networkOf(store)
    expect(await second.network.askBelow(pointOf(95n), METHOD, ['0x12'], 50n)).toBe('0x1')
    expect(second.asked).toEqual([])
    const other = networkOf(store, { chainId: 2n })
    await other.network.askBelow(pointOf(90n), METHOD, ['0x12'], 50n)
    expect(other.asked).toEqual([METHOD])
  })

  test('near the head serves no other fork, and goes with a look at the block', async () => {
    const store = memoryStore()
    const first = networkOf(store)
    await first.network.askBelow(pointOf(150n), METHOD, ['0x12'], 140n)
    expect(first.asked).toEqual([METHOD, 'eth_getBlockByNumber'])
    const second = networkOf(store)
    await second.network.askBelow(pointOf(151n), METHOD, ['0x12'], 140n)
    expect(second.asked).toEqual([METHOD, 'eth_getBlockByNumber'])
    const same = networkOf(store)
    await same.network.askBelow(pointOf(150n), METHOD, ['0x12'], 140n)
    expect(same.asked).toEqual([])
  })

  test('is not kept where there is none yet', async () => {
    const store = memoryStore()
    const none = networkOf(store, { answer: () => null })
    expect(await none.network.askBelow(pointOf(90n), METHOD, ['0x12'], 50n)).toBeNull()
    const later = networkOf(store)
    expect(await later.network.askBelow(pointOf(90n), METHOD, ['0x12'], 50n)).toBe('0x1')
  })
})

test('the same question is asked once at a time', async () => {
  const { network, asked } = networkOf(memoryStore())
  const ask = (): Promise<Json> =>
    network.askAt('eth_getBalance', ['0x12'], pointOf(50n), (answer) => answer)
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(['0x1', '0x1', '0x1'])
  expect(asked).toEqual(['eth_getBalance'])
})

test('what a reader refuses is not kept, and is read anew each time', async () => {
  const { network, asked } = networkOf(memoryStore())
  const ask = (read: (answer: Json) => unknown): Promise<unknown> =>
    network.askAt('eth_getBalance', ['0x12'], pointOf(50n), read)
  const refuse = (): never => {
    throw new Error('no')
  }
  await expect(ask(refuse)).rejects.toThrow('no')
  expect(await ask(() => 'read')).toBe('read')
  expect(await ask(() => 'read again')).toBe('read again')
  await expect(ask(refuse)).rejects.toThrow('no')
  expect(asked).toHaveLength(2)
})

test('a network that has refused to tell of many slots at once is not asked for that again', async () => {
  const { network, asked } = networkOf(memoryStore(), {
    answer: (method) => {
      const error = { code: -32601, message: 'no such method' }
      throw new RefusedByUpstream(error, { method, params: [] }, 'a network')
    },
  })
  const slots = [1n, 2n].map((slot) => ({ address: `0x${'12'.repeat(20)}` as Address, slot }))
  for (const _ of ['once', 'twice']) {
    expect(await network.storageValues(slots, pointOf(50n))).toBeUndefined()
  }
  expect(asked).toEqual(['eth_getStorageValues'])
})
