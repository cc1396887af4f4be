// The search for logs, which leaves out blocks in pieces, against one that looks at every log.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LogQuery, logsOf, matches, queryLogs } from '../../../../src/node/events/logs.ts'
import {
  appendRun,
  type BlockTree,
  headOf,
  treeFrom,
  truncateTo,
} from '../../../../src/node/ledger/blocktree.ts'
import { DerivedRun } from '../../../../src/node/mining/derivedrun.ts'
import { addressOf, type BlockSketch, extend, logOf, recordOf, stateOf, word } from '../records.ts'

/** What happens to a chain: blocks with a log here and there, blocks in runs, blocks taken away. */
type Step =
  | { readonly kind: 'blocks'; readonly logs: readonly (readonly [number, number] | undefined)[] }
  | { readonly kind: 'run'; readonly count: number }
  | { readonly kind: 'cut'; readonly share: number }

// rare values, so that most pieces of 32 blocks have none of them
const log = fc.tuple(fc.nat(60), fc.nat(60))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.option(log, { nil: undefined }), { maxLength: 90, size: 'max' })
      .map((logs) => ({ kind: 'blocks' as const, logs })),
  },
  {
    weight: 2,
    arbitrary: fc.integer({ min: 1, max: 100 }).map((count) => ({ kind: 'run' as const, count })),
  },
  {
    weight: 1,
    arbitrary: fc
      .double({ min: 0, max: 1, noNaN: true })
      .map((share) => ({ kind: 'cut' as const, share })),
  },
)

function taken(tree: BlockTree, step: Step, salt: number): BlockTree {
  const head = headOf(tree)
  if (step.kind === 'blocks') {
    const sketches = step.logs.map(
      (each): BlockSketch => ({ salt, transactions: each ? [{ logs: [logOf(...each)] }] : [] }),
    )
    return extend(tree, ...sketches)
  }
  if (step.kind === 'cut')
    return truncateTo(tree, BigInt(Math.floor(step.share * (tree.canonical.length - 1))))
  // runs follow blocks without logs
  const parented = head.executed.length === 0 ? tree : extend(tree, { salt })
  const run = new DerivedRun({
    parent: headOf(parented),
    count: step.count,
    times: { first: 0n, step: 1n, least: 0n, leastStep: 1n },
    abandoned: salt,
  })
  return appendRun(parented, run, run.recordAt(step.count - 1))
}

/** Every log of every block, held against the query. */
function searched(tree: BlockTree, query: LogQuery, from: number, to: number): string[] {
  return [...tree.canonical.values(from, Math.min(to + 1, tree.canonical.length))]
    .flatMap(logsOf)
    .filter((entry) => matches(query, entry.log))
    .map(({ block, logIndex }) => `${block.hash}/${logIndex}`)
}

test('queryLogs finds the same logs as a scan of any chain', async () => {
  const wanted = fc.record({
    address: fc.option(fc.nat(60), { nil: undefined }),
    topic: fc.option(fc.nat(60), { nil: undefined }),
    from: fc.nat(400),
    length: fc.nat(600),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(wanted),
      async (steps, queries) => {
        let tree = treeFrom(recordOf(0n, word(0)))
        for (const [salt, each] of steps.entries()) {
          tree = taken(tree, each, salt)
          for (const { address, topic, from, length } of queries) {
            const first = Math.min(from, tree.canonical.length - 1)
            const query: LogQuery = {
              addresses: address === undefined ? [] : [addressOf(address)],
              topics: topic === undefined ? [] : [[word(topic)]],
              from: { kind: 'number', number: BigInt(first) },
              to: { kind: 'number', number: BigInt(first + length) },
            }
            const found = await queryLogs(stateOf(tree), query)
            expect(found.map(({ block, logIndex }) => `${block.hash}/${logIndex}`)).toEqual(
              searched(tree, query, first, first + length),
            )
          }
        }
      },
    ),
    { seed: 11, numRuns: 60 },
  )
})
