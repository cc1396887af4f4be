// Whatever nodes do while they are cut off from each other and joined again, they end on the same chain.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mine } from '../../../src/node/commands/mine.ts'
import { headOf, transactionPlace } from '../../../src/node/ledger/blocktree.ts'
import { pooledByHash } from '../../../src/node/pool/pool.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { stateRoot } from '../../../src/state/world.ts'
import { headHash, LinkWorld, type TestNode } from '../../support/linkworld.ts'
import { signed } from '../node/chains.ts'

type Step =
  | { readonly kind: 'send' | 'mine'; readonly node: number }
  | { readonly kind: 'cut' | 'join'; readonly node: number; readonly other: number }
  | { readonly kind: 'wait' }

const NODES = 3

const node = fc.nat(NODES - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), node }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mine' as const), node }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('cut' as const, 'join' as const),
      node,
      other: node,
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'wait' as const }) },
)

async function mineOn({ chain }: TestNode): Promise<void> {
  await chain.update((state, executor) => mine(executor, state, { now: chain.environment.now() }))
}

/** All logs that were told of minus those that were taken back, by the hash of their block. */
function listen({ chain }: TestNode): () => void {
  const told = new Map<string, number>()
  chain.onChange(({ head }) => {
    for (const { block } of head.removed) told.set(block.hash, (told.get(block.hash) ?? 0) - 1)
    for (const { block } of head.added) told.set(block.hash, (told.get(block.hash) ?? 0) + 1)
  })
  return () => {
    // each block that is told of is there once, and no other is
    expect([...told.values()].filter((count) => count !== 0 && count !== 1)).toEqual([])
    const standing = [...told].filter(([, count]) => count === 1).map(([hash]) => hash)
    const canonical = [...chain.state.tree.canonical.values(1)].map(({ block }) => block.hash)
    expect(standing.sort()).toEqual(canonical.sort())
  }
}

async function play(steps: readonly Step[], instant: boolean): Promise<void> {
  await using world = new LinkWorld()
  const names = ['a', 'b', 'c']
  const nodes: TestNode[] = []
  for (const name of names) {
    nodes.push(await world.add(name, { peers: names.slice(0, nodes.length), noMining: !instant }))
  }
  const checks = nodes.map(listen)
  const sent: string[] = []
  const nonces = [0n, 0n, 0n]
  for (const each of steps) {
    const at = 'node' in each ? nodes[each.node]! : nodes[0]!
    if (each.kind === 'send') {
      // an account for each node: what one sends no other replaces
      const transaction = signed(at.chain, { index: each.node, nonce: nonces[each.node]!++ })
      sent.push(transaction.hash)
      await sendRawTransaction(at.chain, transaction.raw)
    } else if (each.kind === 'mine') await mineOn(at)
    else if (each.kind === 'wait') await world.settle(20)
    else if ('other' in each && each.node !== each.other) {
      at.network.partition(names[each.other], each.kind === 'cut')
    }
  }
  for (const { network } of nodes) network.partition(undefined, false)
  await world.settle()
  // a tie stays until somebody mines
  await mineOn(nodes[0]!)
  await world.settle()
  await mineOn(nodes[0]!)
  await world.settle()
  expect(new Set(nodes.map(headHash)).size).toBe(1)
  for (const { chain } of nodes) {
    const { tree, pool } = chain.state
    expect(stateRoot(headOf(tree).world)).toBe(headOf(tree).block.header.stateRoot)
    const lost = sent.filter(
      (hash) =>
        transactionPlace(tree, hash as never) === undefined &&
        pooledByHash(pool, hash as never) === undefined,
    )
    expect(lost).toEqual([])
  }
  for (const check of checks) check()
  for (const { events } of nodes) {
    expect(events.filter(({ kind }) => kind === 'rejected' || kind === 'banned')).toEqual([])
  }
}

/** Schedules that once ended otherwise. */
const FOUND: readonly (readonly Step[])[] = [
  // the peer left its branch while it was asked for it
  [
    { kind: 'cut', node: 0, other: 2 },
    { kind: 'cut', node: 1, other: 2 },
    { kind: 'send', node: 0 },
    { kind: 'send', node: 1 },
    { kind: 'send', node: 0 },
    { kind: 'cut', node: 0, other: 1 },
  ],
  // a transaction was asked for while it was in a block that was abandoned later
  [
    { kind: 'cut', node: 2, other: 0 },
    { kind: 'send', node: 2 },
    { kind: 'wait' },
    { kind: 'send', node: 0 },
    { kind: 'mine', node: 1 },
    { kind: 'mine', node: 0 },
  ],
]

test.each([true, false])(
  '100 schedules of partitions, sends, mines and heals, of nodes that mine at once: %s',
  async (instant) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) =>
        play(steps, instant),
      ),
      { seed: 17, numRuns: 50 + FOUND.length, examples: FOUND.map((steps) => [[...steps]]) },
    )
  },
  120_000,
)
