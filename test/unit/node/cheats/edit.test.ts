// Changes from outside: balances, code and slots set without a transaction.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../../../src/core/hex.ts'
import { directChanges } from '../../../../src/node/cheats/directchanges.ts'
import { editAccount, editAccounts, editWorld } from '../../../../src/node/cheats/edit.ts'
import { mine } from '../../../../src/node/commands/mine.ts'
import { revertTo, takeSnapshot } from '../../../../src/node/commands/snapshots.ts'
import { announcementsOf } from '../../../../src/node/events/changes.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import type { StateChange } from '../../../../src/node/ledger/change.ts'
import { latest } from '../../../../src/node/ledger/references.ts'
import { sendTransaction } from '../../../../src/node/sending/send.ts'
import { accountAt, balanceAt } from '../../../../src/state/world.ts'
import { account, NOON, testChain } from '../chains.ts'

const STRANGER = '0x00000000000000000000000000000000000a11ce' as Address

const rich = (balance: bigint) => (before: { readonly balance: bigint }) =>
  ({ ...before, balance }) as never

describe('an edited account', () => {
  it('is visible at once, is kept by later blocks, and announces no block', async () => {
    const chain = await testChain({})
    const from = account(chain, 0)
    await sendTransaction(chain, { from, to: from })
    const changes: StateChange[] = []
    chain.onChange((change) => changes.push(change))
    const before = headOf(chain.state.tree).block
    await chain.update((state) => editAccount(state, STRANGER, rich(7n)))
    expect(headOf(chain.state.tree).block).toBe(before)
    const { heads, logs } = announcementsOf(changes[0]!)
    expect([...heads, ...logs]).toEqual([])
    await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 20n }))
    expect(balanceAt(headOf(chain.state.tree).world, STRANGER)).toBe(7n)
    expect(changes[1]!.head.removed.length).toBe(0)
    expect(changes[1]!.head.added.length).toBe(20)
  })

  it('is undone by a revert', async () => {
    const chain = await testChain({})
    const id = await chain.update(takeSnapshot)
    await chain.update((state) => editAccount(state, STRANGER, rich(7n)))
    await chain.update((state) => revertTo(state, id))
    expect(accountAt(headOf(chain.state.tree).world, STRANGER)).toBeUndefined()
  })

  it('does not exist if it is empty, except before EIP-161', async () => {
    for (const [hardfork, exists] of [
      ['homestead', true],
      ['osaka', false],
    ] as const) {
      const chain = await testChain({ hardfork })
      await chain.update((state) => editAccount(state, STRANGER, rich(7n)))
      await chain.update((state) => editAccount(state, STRANGER, rich(0n)))
      const after = accountAt(headOf(chain.state.tree).world, STRANGER)
      expect(after !== undefined, hardfork).toBe(exists)
    }
  })

  it('changes together with others in one step, each after the one before', async () => {
    const chain = await testChain({})
    const more = (each: { readonly balance: bigint }) => rich(each.balance + 1n)(each)
    const first = account(chain, 0)
    const before = balanceAt(headOf(chain.state.tree).world, first)
    await chain.update((state) => editAccounts(state, [first, STRANGER, first], more))
    const { world } = headOf(chain.state.tree)
    expect([balanceAt(world, first), balanceAt(world, STRANGER)]).toEqual([before + 2n, 1n])
  })

  it('without a difference changes nothing', async () => {
    const chain = await testChain({})
    const before = chain.state
    await chain.update((state) => editWorld(state, (world) => world))
    expect(chain.state).toBe(before)
  })
})

describe('directChanges', () => {
  it('are what was set after each block, whatever transactions did before and after', async () => {
    const act = fc.oneof(
      fc.constant('mine' as const),
      fc.constant('pay' as const),
      fc.bigInt({ min: 1n, max: 5n }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
        const chain = await testChain({})
        const from = account(chain, 0)
        const balance = () => balanceAt(headOf(chain.state.tree).world, STRANGER)
        const set = new Map<bigint, { before: bigint; after: bigint }>()
        for (const each of acts) {
          const { number } = headOf(chain.state.tree).block.header
          if (each === 'mine')
            await chain.update((state) => mine(chain.executor, state, { now: NOON, blocks: 2n }))
          else if (each === 'pay') await sendTransaction(chain, { from, to: STRANGER, value: 1n })
          else {
            const before = set.get(number)?.before ?? balance()
            await chain.update((state) => editAccount(state, STRANGER, rich(each)))
            set.set(number, { before, after: each })
          }
        }
        const found = await directChanges(chain, STRANGER, latest, 100)
        expect(
          found.map(({ record, before, after }) => [
            record.block.header.number,
            { before: before?.balance ?? 0n, after: after?.balance ?? 0n },
          ]),
        ).toEqual([...set].filter(([, { before, after }]) => before !== after).reverse())
      }),
      { numRuns: 20, seed: 7 },
    )
  })
})
