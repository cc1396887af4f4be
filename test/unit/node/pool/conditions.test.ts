// Transactions with conditions: refused where the next block does not keep them, dropped where a later one does not.
import { describe, expect, test } from 'vitest'
import type { Hash } from '../../../../src/core/hex.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { recordAt } from '../../../../src/node/chain/lookup.ts'
import { editAccount } from '../../../../src/node/cheats/edit.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { setMiningMode } from '../../../../src/node/commands/miningmode.ts'
import { changeSettings } from '../../../../src/node/commands/settings.ts'
import { pendingReference } from '../../../../src/node/ledger/references.ts'
import { reorganize } from '../../../../src/node/mining/reorganize.ts'
import type { Conditions } from '../../../../src/node/pool/conditions.ts'
import { pooledByHash } from '../../../../src/node/pool/pool.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { withSlots } from '../../../../src/state/world.ts'
import { account, height, signed, testChain } from '../chains.ts'

/** A chain on which transactions wait. */
async function waiting(): Promise<Chain> {
  const chain = await testChain()
  const now = chain.environment.now()
  await chain.update((state) => setMiningMode(chain.executor, state, { kind: 'manual' }, now))
  return chain
}

function send(chain: Chain, conditions: Conditions, nonce = 0n): Promise<Hash> {
  return sendRawTransaction(chain, signed(chain, { nonce }).raw, undefined, conditions)
}

const mineOne = (chain: Chain): Promise<unknown> =>
  chain.update((state) => mine(chain.executor, state, { now: chain.environment.now() }))

const isWaiting = (chain: Chain, hash: Hash): boolean =>
  pooledByHash(chain.state.pool, hash) !== undefined

describe('a conditional transaction', () => {
  test('is mined in a block that meets its conditions', async () => {
    const chain = await waiting()
    const hash = await send(chain, { blockNumberMin: 1n, blockNumberMax: 1n })
    await mineOne(chain)
    const { block } = await recordAt(chain, { kind: 'number', number: 1n })
    expect(block.transactions.map((each) => each.hash)).toEqual([hash])
  })

  test('leaves the pool when the only allowed block is full', async () => {
    const chain = await waiting()
    await chain.update((state) => changeSettings(state, { blockGasLimit: 30_000n }))
    await sendRawTransaction(chain, signed(chain, { index: 1 }).raw)
    const hash = await send(chain, { blockNumberMax: 1n })
    await mineOne(chain)
    expect(isWaiting(chain, hash)).toBe(true)
    const dropped: string[] = []
    chain.onChange((change) => dropped.push(...change.dropped.map(({ error }) => error.word)))
    await mineOne(chain)
    expect([isWaiting(chain, hash), dropped]).toEqual([false, ['CONDITIONS_NOT_MET']])
  })

  test('leaves the pool when storage differs, and is not in the pending block', async () => {
    const chain = await waiting()
    const holder = account(chain, 3)
    const accounts = new Map([[holder, new Map([[7n, 0n]])]])
    const hash = await send(chain, { accounts })
    expect((await recordAt(chain, pendingReference)).block.transactions).toHaveLength(1)
    await chain.update((state) =>
      editAccount(state, holder, (before) => ({
        ...before,
        storage: withSlots(before.storage, new Map([[7n, 1n]])),
      })),
    )
    expect((await recordAt(chain, pendingReference)).block.transactions).toEqual([])
    expect(isWaiting(chain, hash)).toBe(true)
    await mineOne(chain)
    expect(isWaiting(chain, hash)).toBe(false)
  })

  test('has no conditions any more when a reorg returns it to the pool', async () => {
    const chain = await waiting()
    const hash = await send(chain, { blockNumberMax: 1n })
    await mineOne(chain)
    const now = chain.environment.now()
    await chain.update((state) =>
      reorganize(chain.executor, state, { depth: 1n, blocks: [], requeue: true, now }),
    )
    expect([height(chain), isWaiting(chain, hash)]).toEqual([0n, true])
    expect(pooledByHash(chain.state.pool, hash)?.conditions).toBeUndefined()
  })

  test('may name at most 1,000 roots and slots', async () => {
    const chain = await waiting()
    const slots = (count: number): ReadonlyMap<bigint, bigint> =>
      new Map(Array.from({ length: count }, (_, i) => [BigInt(i), 0n]))
    const of = (count: number): Conditions => ({
      accounts: new Map([[account(chain, 3), slots(count)]]),
    })
    await expect(send(chain, of(1_001))).rejects.toMatchObject({ word: 'LIMIT_EXCEEDED' })
    await send(chain, of(1_000))
  })
})
