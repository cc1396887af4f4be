// Mining many blocks at once: the same chain as mining them one by one, in other memory.
import { describe, expect, it } from 'vitest'
import { blockByHash, blockByNumber, headOf } from '../../../src/node/blocktree.ts'
import type { Chain } from '../../../src/node/chain.ts'
import { mine } from '../../../src/node/commands.ts'
import type { ChainOptions } from '../../../src/node/create.ts'
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
