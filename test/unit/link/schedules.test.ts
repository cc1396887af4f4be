// Whatever nodes do while they are cut off from each other and joined again, they end on the same chain.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address, Hash } from '../../../src/core/hex.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { headOf, transactionPlace } from '../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction, sendTransaction } from '../../../src/node/sending/send.ts'
import { blobHash, encodeSent } from '../../../src/protocol/transactions/sidecar.ts'
import { stateRoot } from '../../../src/state/world.ts'
import { sidecarOf } from '../../support/evm/blobs.ts'
import { headHash, LinkWorld, type TestNode } from '../../support/link/linkworld.ts'
import { signed } from '../node/chains.ts'

/** What is sent: a signed transaction, one of an impersonated sender, one with a blob. */
type Sort = 'signed' | 'impersonated' | 'blob'

type Step =
  | { readonly kind: 'send'; readonly node: number; readonly sort?: Sort }
  | { readonly kind: 'mine'; readonly node: number }
  | { readonly kind: 'cut' | 'join'; readonly node: number; readonly other: number }
  | { readonly kind: 'wait' }

const NODES = 3

const node = fc.nat(NODES - 1)
const sort: fc.Arbitrary<Sort> = fc.oneof(
  { weight: 6, arbitrary: fc.constant('signed' as const) },
  { weight: 3, arbitrary: fc.constant('impersonated' as const) },
  { weight: 1, arbitrary: fc.constant('blob' as const) },
)

const SIDECAR = sidecarOf(0, [1])
const HASHES = SIDECAR.commitments.map(blobHash)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('send' as const), node, sort }),
  },
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

/** All logs that were announced minus those that were taken back, by the hash of their block. */
function listen({ chain }: TestNode): () => void {
  const reported = new Map<string, number>()
  chain.onChange(({ head }) => {
    for (const { block } of head.removed)
      reported.set(block.hash, (reported.get(block.hash) ?? 0) - 1)
    for (const { block } of head.added)
      reported.set(block.hash, (reported.get(block.hash) ?? 0) + 1)
  })
  return () => {
    // each announced block is there once, and no other is
    expect([...reported.values()].filter((count) => count !== 0 && count !== 1)).toEqual([])
    const standing = [...reported].filter(([, count]) => count === 1).map(([hash]) => hash)
    const canonical = [...chain.state.tree.canonical.values(1)].map(({ block }) => block.hash)
    expect(standing.sort()).toEqual(canonical.sort())
  }
}

/** Sends a transaction of an account that the node has for that sort alone: what one sends no other replaces. */
async function send({ chain }: TestNode, at: number, sort: Sort, nonce: bigint): Promise<Hash> {
  if (sort === 'impersonated') {
    const from = `0x${(at + 1).toString(16).padStart(40, 'd')}` as Address
    return sendTransaction(chain, { from, to: from, nonce, gas: 21_000n }, undefined, 'nobody')
  }
  if (sort === 'signed') {
    return sendRawTransaction(chain, signed(chain, { index: at, nonce }).raw)
  }
  const blobs = { maxFeePerBlobGas: 1_000n, versionedHashes: HASHES }
  const transaction = signed(chain, { type: 3, index: NODES + at, nonce, blobs })
  return sendRawTransaction(chain, encodeSent(transaction, SIDECAR))
}

async function play(steps: readonly Step[], instant: boolean): Promise<void> {
  await using world = new LinkWorld()
  const names = ['a', 'b', 'c']
  const nodes: TestNode[] = []
  for (const name of names) {
    nodes.push(await world.add(name, { peers: names.slice(0, nodes.length), noMining: !instant }))
  }
  const checks = nodes.map(listen)
  const sent: Hash[] = []
  const nonces = new Map<string, bigint>()
  for (const each of steps) {
    const at = 'node' in each ? nodes[each.node]! : nodes[0]!
    if (each.kind === 'send') {
      const { sort = 'signed' } = each
      const nonce = nonces.get(`${each.node} ${sort}`) ?? 0n
      nonces.set(`${each.node} ${sort}`, nonce + 1n)
      sent.push(await send(at, each.node, sort, nonce))
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
  // whatever waits anywhere waits at all, so that any of them mines it
  const miner = nodes[sent.length % NODES]!
  do {
    await mineOn(miner)
    await world.settle()
  } while (miner.chain.state.pool.size > 0)
  expect(new Set(nodes.map(headHash)).size).toBe(1)
  for (const { chain } of nodes) {
    const { tree } = chain.state
    expect(stateRoot(headOf(tree).world)).toBe(headOf(tree).block.header.stateRoot)
    expect(sent.filter((hash) => transactionPlace(tree, hash) === undefined)).toEqual([])
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
  'random schedules of partitions, sends, blocks and heals end in one head, with concurrent mining: %s',
  async (instant) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) =>
        play(steps, instant),
      ),
      { seed: 17, numRuns: 40 + FOUND.length, examples: FOUND.map((steps) => [[...steps]]) },
    )
  },
)
