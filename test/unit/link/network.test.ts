// Chains that talk: links, synchronization, competing blocks, transactions that travel.
import { describe, expect, test } from 'vitest'
import { mine } from '../../../src/node/commands/mine.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { headHash, LinkWorld, type TestNode } from '../../support/linkworld.ts'
import { height, signed } from '../node/chains.ts'

/** Mines blocks, and nothing is told of it yet. */
async function mineOn({ chain }: TestNode, blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await chain.update((state, executor) => mine(executor, state, { now: chain.environment.now() }))
  }
}

describe('linked chains', () => {
  test('a block that one mines is the newest of the other', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    expect(a.network.list().map(({ name }) => name)).toEqual(['b'])
    expect(b.network.list().map(({ name }) => name)).toEqual(['a'])
    await mineOn(a, 3)
    await world.settle()
    expect(height(b.chain)).toBe(3n)
    expect(headHash(b)).toBe(headHash(a))
    await sendRawTransaction(b.chain, signed(b.chain).raw)
    await world.settle()
    expect(height(a.chain)).toBe(4n)
    expect(headHash(a)).toBe(headHash(b))
    expect([...a.events, ...b.events].map(({ kind }) => kind)).toEqual(['linked', 'linked'])
  })

  test('one that comes late fetches what there is', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    await mineOn(a, 700)
    const b = await world.add('b', { peers: ['a'] })
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
    expect(b.network.syncing()).toBeUndefined()
  })

  test('cut off and joined again, the heavier branch wins on both', async () => {
    await using world = new LinkWorld()
    const a = await world.add('a')
    const b = await world.add('b', { peers: ['a'] })
    a.network.partition('b', true)
    await world.settle()
    expect([a.network.list(), b.network.list()]).toEqual([[], []])
    await mineOn(a, 3)
    await sendRawTransaction(b.chain, signed(b.chain).raw)
    await world.settle()
    expect([height(a.chain), height(b.chain)]).toEqual([3n, 1n])
    a.network.partition('b', false)
    await world.settle()
    expect(headHash(b)).toBe(headHash(a))
    expect(height(b.chain)).toBe(3n)
    // the transaction of the abandoned block waits on both
    expect([a.chain.state.pool.size, b.chain.state.pool.size]).toEqual([1, 1])
    await mineOn(a, 1)
    await world.settle()
    expect([a.chain.state.pool.size, b.chain.state.pool.size]).toEqual([0, 0])
    expect(headHash(b)).toBe(headHash(a))
    expect(headOf(b.chain.state.tree).block.transactions.length).toBe(1)
  })
})
