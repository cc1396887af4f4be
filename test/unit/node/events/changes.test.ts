// What listeners get of a change of the chain.
import { describe, expect, test } from 'vitest'
import { announcementsOf, entriesOf } from '../../../../src/node/events/changes.ts'
import { headChange, truncateTo } from '../../../../src/node/ledger/blocktree.ts'
import type { ChainState } from '../../../../src/node/ledger/chainstate.ts'
import type { StateChange } from '../../../../src/node/ledger/change.ts'
import { emptyPool, withoutTransaction, withTransaction } from '../../../../src/node/pool/pool.ts'
import { extend, logOf, stateOf, transactionOf, treeOf } from '../records.ts'

function changeOf(before: ChainState, after: ChainState): StateChange {
  return { before, after, head: headChange(before.tree, after.tree), dropped: [] }
}

/** The announcements of a change, as short words. */
function announced(before: ChainState, after: ChainState): Record<string, unknown[]> {
  const { pending, logs, heads } = announcementsOf(changeOf(before, after))
  const [removed, added] = [true, false].map((isRemoved) =>
    logs.filter((block) => block.removed === isRemoved).flatMap(entriesOf),
  )
  return {
    pending: pending.map(({ hash }) => hash),
    removed: removed!.map(({ block, logIndex, removed }) =>
      [block.header.number, logIndex, removed].join('/'),
    ),
    added: added!.map(({ block, logIndex, removed }) =>
      [block.header.number, logIndex, removed].join('/'),
    ),
    heads: [...heads].map(({ block }) => block.header.number),
  }
}

const nothing = { pending: [], removed: [], added: [], heads: [] }
const [first, second, third] = ['first', 'second', 'third'].map((seed) => transactionOf(seed))
const twoLogs = { transactions: [{ logs: [logOf(1), logOf(2)] }] }

describe('announcementsOf', () => {
  const base = treeOf(twoLogs, twoLogs)

  test('lists new blocks as heads and logs, oldest first', () => {
    const after = extend(base, twoLogs, twoLogs)
    expect(announced(stateOf(base), stateOf(after))).toMatchObject({
      removed: [],
      added: ['3/0/false', '3/1/false', '4/0/false', '4/1/false'],
      heads: [3n, 4n],
    })
  })

  test('lists logs of abandoned blocks as removed, newest first', () => {
    expect(announced(stateOf(base), stateOf(truncateTo(base, 0n)))).toEqual({
      ...nothing,
      removed: ['2/1/true', '2/0/true', '1/1/true', '1/0/true'],
    })
  })

  test('lists both for a reorg', () => {
    const other = extend(truncateTo(base, 1n), { ...twoLogs, salt: 1 })
    expect(announced(stateOf(base), stateOf(other))).toMatchObject({
      removed: ['2/1/true', '2/0/true'],
      added: ['2/0/false', '2/1/false'],
      heads: [2n],
    })
  })

  test('omits unchanged blocks', () => {
    expect(announced(stateOf(base), stateOf(base, { gasPrice: 7n }))).toEqual(nothing)
  })
})

describe('announcementsOf pending transactions', () => {
  const tree = treeOf()

  test('lists those that enter the pool in order of arrival', () => {
    const before = withTransaction(emptyPool, first!)
    const after = withTransaction(withTransaction(before, { ...second!, nonce: 9n }), {
      ...third!,
      nonce: 1n,
    })
    expect(announced(stateOf(tree, { pool: before }), stateOf(tree, { pool: after }))).toEqual({
      ...nothing,
      pending: [second!.hash, third!.hash],
    })
  })

  test('lists those that are mined at once without entering the pool', () => {
    const after = extend(tree, {}, { transactions: [{}] })
    const mined = after.canonical.at(2)?.block.transactions[0]
    const passed = withoutTransaction(withTransaction(emptyPool, mined!), mined!)
    expect(announced(stateOf(tree), stateOf(after, { pool: passed }))).toMatchObject({
      pending: [mined?.hash],
    })
  })

  test('omits those that waited before when they are mined', () => {
    const after = extend(tree, { transactions: [{}] })
    const mined = after.canonical.at(1)?.block.transactions[0]
    const waiting = withTransaction(emptyPool, mined!)
    const rest = withoutTransaction(waiting, mined!)
    expect(
      announced(stateOf(tree, { pool: waiting }), stateOf(after, { pool: rest })),
    ).toMatchObject({
      pending: [],
      heads: [1n],
    })
  })

  test('omits those of an abandoned block when they are mined again', () => {
    const before = extend(tree, { transactions: [{}] })
    const again = extend(tree, { transactions: [{}], header: { extraData: Uint8Array.of(1) } })
    expect(announced(stateOf(before), stateOf(again))).toMatchObject({ pending: [], heads: [1n] })
  })

  test('omits those that a revert returns to the pool', () => {
    const kept = withTransaction(emptyPool, first!)
    const later = withTransaction(withoutTransaction(kept, first!), second!)
    expect(announced(stateOf(tree, { pool: later }), stateOf(tree, { pool: kept }))).toEqual(
      nothing,
    )
  })
})
