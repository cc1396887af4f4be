// Mining many blocks at once: the same chain as mining them one by one, in other memory.
import { describe, expect, it } from 'vitest'
import {
  blockByHash,
  blockByNumber,
  hashByNumber,
  headOf,
  isCanonical,
} from '../../../src/node/blocktree.ts'
import type { Chain } from '../../../src/node/chain.ts'
import { mine, revertTo, setTime, takeSnapshot } from '../../../src/node/commands.ts'
import type { ChainOptions } from '../../../src/node/create.ts'
import { queryLogs } from '../../../src/node/logs.ts'
import { reorganize } from '../../../src/node/reorganize.ts'
import { hashHeader } from '../../../src/protocol/block.ts'
import { stateRoot } from '../../../src/state/world.ts'
import { NOON, testChain } from './chains.ts'

function mineBlocks(chain: Chain, blocks: number, interval?: bigint): Promise<unknown> {
  return chain.update((state) =>
    mine(chain.executor, state, { now: NOON, blocks: BigInt(blocks), interval }),
  )
}

/** All blocks, each mined by a command of its own. */
async function oneByOne(options: ChainOptions, blocks: number): Promise<Chain> {
  const chain = await testChain(options)
  for (let count = 0; count < blocks; count += 1) await mineBlocks(chain, 1)
  return chain
}

async function expectSame(fast: Chain, slow: Chain): Promise<void> {
  const [one, other] = [fast.state.tree, slow.state.tree]
  expect(headOf(one).block).toEqual(headOf(other).block)
  expect(fast.state.clock).toEqual(slow.state.clock)
  for (const record of other.canonical.values()) {
    const { hash, header } = record.block
    const twin = blockByNumber(one, header.number)
    expect(twin?.block).toEqual(record.block)
    expect(twin?.totalDifficulty).toBe(record.totalDifficulty)
    expect(blockByHash(one, hash)?.block.header.number).toBe(header.number)
    expect(stateRoot(twin!.world)).toBe(header.stateRoot)
  }
}

describe('blocks mined at once', () => {
  const cases: readonly (readonly [string, ChainOptions])[] = [
    ['on the newest fork', {}],
    ['on cancun, where only times are told', { hardfork: 'cancun' }],
    ['on london, where the world stays the same', { hardfork: 'london' }],
    ['under a fee market, until the base fee is still', { baseFee: 1_000_000n }],
    ['with a clock that steps', { clock: { kind: 'step', seconds: 7n } }],
  ]
  it.each(cases)('are the same as one by one %s', async (_, options) => {
    const fast = await testChain(options)
    await mineBlocks(fast, 300)
    await expectSame(fast, await oneByOne(options, 300))
  })
})

describe('more blocks than the rings of system contracts have slots', () => {
  const BLOCKS = 17_000

  it.each([1n, 12n])('have the roots and hashes of their own, %d s apart', async (interval) => {
    const chain = await testChain({})
    await mineBlocks(chain, BLOCKS, interval)
    const { tree } = chain.state
    const afterZero: number[] = []
    for (let number = 1; number <= BLOCKS; number++) {
      const record = blockByNumber(tree, BigInt(number))!
      const { header, hash } = record.block
      expect(hashHeader(header)).toBe(hash)
      expect(header.parentHash).toBe(hashByNumber(tree, BigInt(number - 1)))
      if (number > 8192 && header.parentHash.startsWith('0x00')) afterZero.push(number)
    }
    expect(afterZero.length).toBeGreaterThan(10)
    const turns = [8190, 8191, 8192, 8193, 8200, 16_383, 16_384, 16_385, BLOCKS]
    const sampled = [...turns, ...afterZero.slice(0, 5).flatMap((number) => [number, number + 1])]
    for (const number of sampled) {
      const { block, world } = blockByNumber(tree, BigInt(number))!
      // that world is made slot by slot
      expect(stateRoot(world), `block ${number}`).toBe(block.header.stateRoot)
    }
  })
})

describe('more blocks than are sealed', () => {
  const MANY = 1_100_000

  /** Whether a block is where it should be, seen from all sides. */
  function expectLinked({ state: { tree } }: Chain, number: bigint): void {
    const record = blockByNumber(tree, number)!
    const parent = blockByNumber(tree, number - 1n)!
    expect(record.block.header.number).toBe(number)
    expect(record.block.header.parentHash).toBe(parent.block.hash)
    expect(record.block.header.timestamp).toBe(parent.block.header.timestamp + 1n)
    expect(record.totalDifficulty).toBe(parent.totalDifficulty + 1n)
    expect(stateRoot(record.world)).toBe(record.block.header.stateRoot)
    expect(hashByNumber(tree, number)).toBe(record.block.hash)
    expect(blockByHash(tree, record.block.hash)?.block).toEqual(record.block)
    expect(isCanonical(tree, record)).toBe(true)
  }

  function expectLinkedAll(chain: Chain): void {
    const height = BigInt(chain.state.tree.canonical.length - 1)
    const places = [1n, 2n, 1000n, height / 2n, height - 8193n, height - 8192n, height - 1n, height]
    for (const number of places) expectLinked(chain, number)
  }

  async function longChain(): Promise<Chain> {
    const chain = await testChain({})
    await mineBlocks(chain, MANY)
    return chain
  }

  function reorganized(chain: Chain, depth: number, blocks: number): Promise<unknown> {
    const request = { depth: BigInt(depth), requeue: false, now: NOON }
    const makers = Array.from({ length: blocks }, () => [])
    return chain.update((state) =>
      reorganize(chain.executor, state, { ...request, blocks: makers }),
    )
  }

  it('are linked by number, hash, time and state', async () => {
    const chain = await longChain()
    expect(chain.state.tree.canonical.length).toBe(MANY + 1)
    expectLinkedAll(chain)
    expect(blockByHash(chain.state.tree, headOf(chain.state.tree).block.header.mixHash)).toBe(
      undefined,
    )
  })

  it.each([
    ['among the sealed ones at the end', 100],
    ['where the sealed ones begin', 8192],
    ['among the derived ones', 500_000],
    ['at the first block', MANY],
  ])('end at an older one when the head is set back %s, and go on from there', async (_, depth) => {
    const chain = await longChain()
    const abandoned = headOf(chain.state.tree)
    await chain.update(takeSnapshot)
    const kept = chain.state.tree
    await reorganized(chain, depth, 0)
    expect(chain.state.tree.canonical.length).toBe(MANY + 1 - depth)
    expect(isCanonical(chain.state.tree, abandoned)).toBe(false)
    await chain.update((state) =>
      setTime(state, headOf(state.tree).block.header.timestamp + 1n, NOON),
    )
    await mineBlocks(chain, 300, 1n)
    expect(chain.state.tree.canonical.length).toBe(MANY + 301 - depth)
    expectLinked(chain, BigInt(MANY + 300 - depth))
    expectLinked(chain, BigInt(MANY + 1 - depth))
    await chain.update((state) => revertTo(state, 1))
    expect(chain.state.tree).toBe(kept)
    expectLinkedAll(chain)
  })

  it('are replaced by a heavier branch that forks among the derived ones', async () => {
    const chain = await longChain()
    await reorganized(chain, 9000, 3)
    const { tree } = chain.state
    expect(tree.canonical.length).toBe(MANY + 1 - 9000 + 3)
    expect(headOf(tree).totalDifficulty).toBe(BigInt(MANY + 2))
    expect(headOf(tree).block.header.parentHash).toBe(hashByNumber(tree, BigInt(MANY - 9000 + 2)))
  })

  it('have their logs searched at once', async () => {
    const chain = await longChain()
    const query = { addresses: [], topics: [], from: { kind: 'number', number: 0n } } as const
    expect(queryLogs(chain.state, query)).toEqual([])
  })
})
