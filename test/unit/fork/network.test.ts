// What is kept of a network, and by what: answers of deep blocks serve forks at other blocks, those of shallow ones do not.
import { describe, expect, test } from 'vitest'
import type { Address, Hash } from '../../../src/core/hex.ts'
import { RefusedByUpstream } from '../../../src/fork/client/client.ts'
import { something } from '../../../src/fork/network/answers.ts'
import { type BlockPoint, ForkedNetwork } from '../../../src/fork/network/network.ts'
import { memoryStore, type Store } from '../../../src/fork/store/store.ts'
import type { Json } from '../../../src/rpc/schema.ts'
import { nextTurn } from '../../support/waiting/turns.ts'

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
  options: {
    readonly chainId?: bigint
    readonly answer?: (method: string) => Json
    readonly block?: () => Json
    readonly recording?: Store
  } = {},
): { readonly network: ForkedNetwork; readonly asked: string[] } {
  const { chainId = 1n, answer = () => '0x1', block, recording } = options
  const asked: string[] = []
  const request = async (method: string, params: readonly Json[]): Promise<Json> => {
    asked.push(method)
    if (method !== 'eth_getBlockByNumber') return answer(method)
    return block === undefined ? { hash: hashOf(BigInt(String(params[0]))) } : block()
  }
  const isShallow = (number: bigint): boolean => number + 100n > NEWEST
  const asker = { name: 'a network', request }
  return {
    network: new ForkedNetwork({
      chainId,
      fork: '',
      asker,
      store,
      recording,
      isProven: false,
      isShallow,
    }),
    asked,
  }
}

describe('a response about a block', () => {
  const METHOD = 'eth_getTransactionReceipt'

  test('that no reorg reaches serves forks at other blocks of the same chain', async () => {
    const store = memoryStore()
    const first = networkOf(store)
    await first.network.askHistory(pointOf(90n), METHOD, ['0x12'], 50n, something)
    expect(first.asked).toEqual([METHOD])
    const second = networkOf(store)
    expect(await second.network.askHistory(pointOf(95n), METHOD, ['0x12'], 50n, something)).toBe(
      '0x1',
    )
    expect(second.asked).toEqual([])
    const other = networkOf(store, { chainId: 2n })
    await other.network.askHistory(pointOf(90n), METHOD, ['0x12'], 50n, something)
    expect(other.asked).toEqual([METHOD])
  })

  test('near the head serves no other fork, and is checked against the block', async () => {
    const store = memoryStore()
    const first = networkOf(store)
    await first.network.askHistory(pointOf(150n), METHOD, ['0x12'], 140n, something)
    expect(first.asked).toEqual([METHOD, 'eth_getBlockByNumber'])
    const second = networkOf(store)
    await second.network.askHistory(pointOf(151n), METHOD, ['0x12'], 140n, something)
    expect(second.asked).toEqual([METHOD, 'eth_getBlockByNumber'])
    const same = networkOf(store)
    await same.network.askHistory(pointOf(150n), METHOD, ['0x12'], 140n, something)
    expect(same.asked).toEqual([])
  })

  test('is not kept while there is no block', async () => {
    const store = memoryStore()
    const none = networkOf(store, { answer: () => null })
    await expect(
      none.network.askHistory(pointOf(90n), METHOD, ['0x12'], 50n, something),
    ).rejects.toThrow('answered null')
    const later = networkOf(store)
    expect(await later.network.askHistory(pointOf(90n), METHOD, ['0x12'], 50n, something)).toBe(
      '0x1',
    )
  })
})

test('a refusal about a deep block triggers a check that the network is the same', async () => {
  let chainId = '0x1'
  const answer = (method: string): Json => {
    if (method === 'eth_chainId') return chainId
    const error = { code: -32000, message: 'BlockOutOfRange' }
    throw new RefusedByUpstream(error, { method, params: [] }, 'a network')
  }
  let block: Json = { hash: hashOf(50n) }
  const { network, asked } = networkOf(memoryStore(), { answer, block: () => block })
  const ask = (): Promise<unknown> =>
    network.askAt('eth_getCode', ['0x12'], pointOf(50n), (each) => each)
  await expect(ask()).rejects.toThrow('a network refuses eth_getCode: BlockOutOfRange')
  expect(asked).toEqual(['eth_getCode', 'eth_getBlockByNumber'])
  // a look serves all that is asked in its turn
  await nextTurn()
  chainId = '0x5'
  block = null
  await expect(ask()).rejects.toThrow(
    'a network is another network now: its chain id is 5, expected 1',
  )
})

test('nothing is kept outside a recording without a store', async () => {
  const [store, recording] = [memoryStore(), memoryStore()]
  const { network } = networkOf(store, { answer: () => null, recording })
  expect(
    await network.askHistory(
      pointOf(50n),
      'eth_getTransactionByHash',
      ['0x12'],
      undefined,
      (any) => any,
    ),
  ).toBeNull()
  const key = {
    of: `1/${hashOf(50n)}`,
    method: 'eth_getTransactionByHash',
    params: ['0x12'],
  }
  expect([store.get(key), recording.get(key)]).toEqual([undefined, null])
})

test('parallel identical requests are sent once', async () => {
  const { network, asked } = networkOf(memoryStore())
  const ask = (): Promise<Json> =>
    network.askAt('eth_getBalance', ['0x12'], pointOf(50n), (answer) => answer)
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(['0x1', '0x1', '0x1'])
  expect(asked).toEqual(['eth_getBalance'])
})

test('a response that its reader refuses is not kept, and is requested anew each time', async () => {
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

test('many slots at once are not requested again after the network refuses them', async () => {
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
