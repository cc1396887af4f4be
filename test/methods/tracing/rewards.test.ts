// What the blocks of a network paid for work, as trace_block and trace_filter return it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { concatBytes, type Hash } from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { networkBlocks, networkGenesis } from '../../support/chain/networkchain.ts'

const MINER = `0x${'c0'.repeat(20)}`
const UNCLE_MINER = `0x${'c1'.repeat(20)}`
const ETHER = 10n ** 18n

interface Frame {
  readonly type: string
  readonly action: Readonly<Record<string, string>>
  readonly blockNumber: number
}

let devchain: Devchain
const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
  devchain.request({ method, params }) as Promise<T>

beforeAll(async () => {
  await using empty = await createDevchain({ genesis: networkGenesis, accounts: 0 })
  const { hash } = (await empty.request({
    method: 'eth_getBlockByNumber',
    params: ['earliest', false],
  })) as { hash: Hash }
  const file = concatBytes(...(await networkBlocks(hash)))
  devchain = await createDevchain({ genesis: networkGenesis, accounts: 0, import: file })
})
afterAll(() => devchain.close())

async function rewardsOf(block: number): Promise<Frame[]> {
  const frames = await ask<Frame[]>('trace_block', block)
  return frames.filter(({ type }) => type === 'reward')
}

const printed = (wei: bigint): string => `0x${wei.toString(16)}`

test('a block with an uncle pays its miner an extra part, and the uncle’s miner by its age', async () => {
  const { hash } = await ask<{ hash: string }>('eth_getBlockByNumber', 8, false)
  expect(await rewardsOf(8)).toEqual([
    {
      action: {
        author: MINER,
        rewardType: 'block',
        value: printed(5n * ETHER + (5n * ETHER) / 32n),
      },
      blockHash: hash,
      blockNumber: 8,
      result: null,
      subtraces: 0,
      traceAddress: [],
      type: 'reward',
    },
    {
      action: { author: UNCLE_MINER, rewardType: 'uncle', value: printed((5n * ETHER * 6n) / 8n) },
      blockHash: hash,
      blockNumber: 8,
      result: null,
      subtraces: 0,
      traceAddress: [],
      type: 'reward',
    },
  ])
})

test('trace_block lists rewards after the frames, without the fees', async () => {
  const frames = await ask<Frame[]>('trace_block', 9)
  expect(frames.length).toBeGreaterThan(1)
  expect(frames.map(({ type }) => type === 'reward').indexOf(true)).toBe(frames.length - 1)
  const receipts = await ask<{ gasUsed: string; effectiveGasPrice: string }[]>(
    'eth_getBlockReceipts',
    9,
  )
  const fees = receipts.reduce(
    (sum, { gasUsed, effectiveGasPrice }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPrice),
    0n,
  )
  const balanceAt = async (block: number): Promise<bigint> =>
    BigInt(await ask<string>('eth_getBalance', MINER, block))
  const [reward] = await rewardsOf(9)
  expect(BigInt(reward!.action.value!)).toBe((await balanceAt(9)) - (await balanceAt(8)) - fees)
})

test('trace_block has no rewards for the genesis and after the merge', async () => {
  expect(await rewardsOf(0)).toEqual([])
  expect(await rewardsOf(50)).toEqual([])
})

test('trace_filter finds rewards by their recipient', async () => {
  const found = (filter: object): Promise<Frame[]> =>
    ask('trace_filter', { fromBlock: 1, toBlock: 9, ...filter })
  const uncles = await found({ toAddress: UNCLE_MINER })
  expect(uncles.map(({ action, blockNumber }) => [action.rewardType, blockNumber])).toEqual([
    ['uncle', 5],
    ['uncle', 8],
  ])
  expect(
    (await found({ toAddress: MINER, after: 1, count: 2 })).map((each) => each.blockNumber),
  ).toEqual([2, 3])
  expect(await found({ fromAddress: MINER })).toEqual([])
})
