// Running mined transactions again: those before them only where the world between is not kept.
import { describe, expect, test } from 'vitest'
import { replay, replayOne } from '../../../../src/node/calls/replay.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { WorldsBetween } from '../../../../src/node/chain/worldsbetween.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import type { BlockRecord } from '../../../../src/node/ledger/blockrecord.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { balanceAt } from '../../../../src/state/world.ts'
import { account, NOON, signed, testChain } from '../chains.ts'

/** A chain whose newest block has so many transfers of a wei to the second account. */
async function chainWith(transfers: number): Promise<{ chain: Chain; record: BlockRecord }> {
  const chain = await testChain({ noMining: true })
  for (let nonce = 0; nonce < transfers; nonce++) {
    const to = account(chain, 1)
    await sendRawTransaction(chain, signed(chain, { nonce: BigInt(nonce), to }).raw)
  }
  await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 1n }))
  return { chain, record: headOf(chain.state.tree) }
}

describe('replay of a mined transaction', () => {
  test('runs the transactions before it once, however often any of them are replayed', async () => {
    const { chain, record } = await chainWith(6)
    const begun = balanceAt(chain.state.tree.canonical.at(0)!.world, account(chain, 1))
    let runs = 0
    const executor: Chain['executor'] = {
      ...chain.executor,
      transact: (job) => {
        runs += 1
        return chain.executor.transact(job)
      },
    }
    const counting = { state: chain.state, executor, worldsBetween: new WorldsBetween() }
    const foundBy = async (index: number): Promise<bigint> => {
      const { before } = await replayOne(counting, { record, index }, () => undefined)
      return balanceAt(before, account(chain, 1)) - begun
    }
    expect(await foundBy(4)).toBe(4n)
    expect(runs).toBe(5)
    expect(await foundBy(4)).toBe(4n)
    expect(await foundBy(2)).toBe(2n)
    expect(await foundBy(5)).toBe(5n)
    expect(await foundBy(0)).toBe(0n)
    // each of them, and the one before the last that had not been gone through
    expect(runs).toBe(5 + 1 + 1 + 2 + 1)
    // a block as a whole begins at its beginning
    const found: bigint[] = []
    for await (const { before } of replay(counting, record, () => undefined)) {
      found.push(balanceAt(before, account(chain, 1)) - begun)
    }
    expect(found).toEqual([0n, 1n, 2n, 3n, 4n, 5n])
  })
})

describe('WorldsBetween', () => {
  test('keeps the worlds of the last requested blocks, within bounds', async () => {
    const { record } = await chainWith(2)
    const between = new WorldsBetween()
    const heavy = (salt: number): BlockRecord => {
      const executed = record.executed.map((each) => ({
        ...each,
        receipt: { ...each.receipt, gasUsed: 30_000_000n },
      }))
      return { ...record, executed, block: { ...record.block, hash: `0x${salt}` as never } }
    }
    for (let salt = 0; salt < 5; salt++) {
      between.keep(heavy(salt), 0, record.world)
      between.keep(heavy(salt), 1, record.world)
    }
    const known = [0, 1, 2, 3, 4].filter((salt) => between.nearest(heavy(salt), 1) !== undefined)
    expect(known).toEqual([2, 3, 4])
    expect(between.nearest(heavy(4), 7)?.index).toBe(1)
    // out of order there is nothing to keep
    between.keep(heavy(4), 5, record.world)
    expect(between.nearest(heavy(4), 7)?.index).toBe(1)
  })
})
