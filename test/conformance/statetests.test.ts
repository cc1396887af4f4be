// The official state tests. `npm test` runs a part of them, `npm run test:conformance` all; where the vectors are
// absent there is nothing to run.
import { describe, expect, test } from 'vitest'
import { keccakHash } from '../../src/core/crypto/crypto.ts'
import { DevchainError } from '../../src/core/errors.ts'
import { bytesFromHex, type Hash } from '../../src/core/hex.ts'
import { encodeRlp } from '../../src/core/rlp.ts'
import type { Jobs } from '../../src/evm/executor.ts'
import { OPTIONS } from '../../src/options/table.ts'
import type { Log } from '../../src/protocol/blocks/receipt.ts'
import { stateRoot } from '../../src/state/world.ts'
import { allEngines } from '../support/evm/engines.ts'
import { hearSteps } from '../support/evm/heard.ts'
import {
  type Expectation,
  jobOf,
  readStateTests,
  type StateTest,
  vectorFiles,
  vectorsFolder,
} from './vectors.ts'

const runsAll = process.env.CONFORMANCE === 'all'

/** Of the short run: tests of each file, spread over it evenly. */
const SHORT_COUNT = 8

/** Their tests take up to half a minute each on the reference engine. */
const LONG_FILES: ReadonlySet<string> = new Set([
  'static-stAttackTest.json',
  'cancun__eip1153_tstore.json',
])

const folder = vectorsFolder()

/** Words that may stand for each exception: the vectors name one of several when more than one would do. */
const WORDS: Readonly<Record<string, string | readonly string[]>> = {
  // older vectors have no other name for the floor
  INTRINSIC_GAS_TOO_LOW: ['INTRINSIC_GAS_TOO_LOW', 'GAS_BELOW_FLOOR'],
  INTRINSIC_GAS_BELOW_FLOOR_GAS_COST: 'GAS_BELOW_FLOOR',
  INSUFFICIENT_ACCOUNT_FUNDS: 'INSUFFICIENT_FUNDS',
  GASLIMIT_PRICE_PRODUCT_OVERFLOW: 'INSUFFICIENT_FUNDS',
  INSUFFICIENT_MAX_FEE_PER_GAS: 'FEE_CAP_TOO_LOW',
  PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS: 'TIP_ABOVE_FEE_CAP',
  GAS_ALLOWANCE_EXCEEDED: 'EXCEEDS_BLOCK_GAS_LIMIT',
  NONCE_IS_MAX: 'NONCE_TOO_HIGH',
  SENDER_NOT_EOA: 'INVALID_SENDER',
  TYPE_4_EMPTY_AUTHORIZATION_LIST: 'EMPTY_AUTHORIZATION_LIST',
  TYPE_4_TX_CONTRACT_CREATION: 'TYPE_NOT_SUPPORTED',
  TYPE_4_TX_PRE_FORK: 'TYPE_NOT_SUPPORTED',
  INSUFFICIENT_MAX_FEE_PER_BLOB_GAS: 'BLOB_FEE_CAP_TOO_LOW',
  TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH: 'INVALID_BLOBS',
  TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED: 'INVALID_BLOBS',
  TYPE_3_TX_BLOB_COUNT_EXCEEDED: 'INVALID_BLOBS',
  TYPE_3_TX_ZERO_BLOBS: 'INVALID_BLOBS',
  TYPE_3_TX_CONTRACT_CREATION: 'INVALID_BLOBS',
}

if (folder === undefined) {
  test.skip('official state tests: no vectors, DEVCHAIN_VECTORS names no folder with state/', () => {})
} else {
  conformance(folder)
}

function conformance(vectors: string): void {
  const engines = allEngines()
  const [reference, fastest] = [engines[0], engines.at(-1)].map((engine) =>
    engine?.jobsWithin(OPTIONS.memoryLimit.default),
  ) as [Jobs, Jobs]

  test.each(vectorFiles(vectors))(
    'tracers report the same for %s',
    { timeout: 300_000 },
    async (file) => {
      const tests = Object.entries(readStateTests(vectors, file))
      const differences: string[] = []
      for (const [name, test] of chosen(file, tests)) {
        for (const [fork, expectation] of casesOf(test)) {
          const found = await differenceOf([reference, fastest], test, fork, expectation)
          if (found !== undefined) differences.push(`${name} on ${fork}: ${found.slice(0, 500)}`)
        }
      }
      expect(differences).toEqual([])
    },
  )

  describe.each(engines)('the official state tests on the engine: $name', ({ jobsWithin }) => {
    const jobs = jobsWithin(OPTIONS.memoryLimit.default)

    test.each(vectorFiles(vectors))('%s', { timeout: 300_000 }, async (file) => {
      const tests = Object.entries(readStateTests(vectors, file))
      const failures: string[] = []
      for (const [name, test] of chosen(file, tests)) {
        for (const [fork, expectation] of casesOf(test)) {
          const problem = await problemOf(jobs, test, fork, expectation)
          if (problem !== undefined) failures.push(`${name} on ${fork}: ${problem}`)
        }
      }
      expect(failures).toEqual([])
    })
  })
}

function casesOf({ post }: StateTest): [fork: string, expectation: Expectation][] {
  return Object.entries(post).flatMap(([fork, list]) =>
    list.map((item) => [fork, item] as [string, Expectation]),
  )
}

/** All tests of a file, or a few from all over it. */
function chosen<T>(file: string, tests: readonly T[]): readonly T[] {
  if (runsAll) return tests
  if (LONG_FILES.has(file)) return []
  const stride = Math.max(1, Math.ceil(tests.length / SHORT_COUNT))
  return tests.filter((_, index) => index % stride === 0)
}

/** Steps of a test that are compared. */
const MOST_STEPS = 3_000

/** The first difference between the engines' traces; undefined if they are equal. */
async function differenceOf(
  [right, found]: readonly [Jobs, Jobs],
  test: StateTest,
  fork: string,
  expectation: Expectation,
): Promise<string | undefined> {
  const job = jobOf(test, fork, expectation)
  const traces: (readonly string[])[] = []
  for (const jobs of [right, found]) {
    const { tracer, steps = [] } = hearSteps(MOST_STEPS)
    try {
      await jobs.transact({ ...job, tracer })
    } catch (error) {
      if (!(error instanceof DevchainError)) throw error
    }
    traces.push(steps)
  }
  const [expected = [], lines = []] = traces
  const at = expected.findIndex((line, index) => line !== lines[index])
  if (at !== -1) return `expected ${expected[at]}, traced ${lines[at]}`
  return expected.length === lines.length ? undefined : `traced also ${lines[expected.length]}`
}

/** What is wrong with an engine's answer; undefined when nothing is. */
async function problemOf(
  jobs: Jobs,
  test: StateTest,
  fork: string,
  expectation: Expectation,
): Promise<string | undefined> {
  const job = jobOf(test, fork, expectation)
  const before = stateRoot(job.world)
  try {
    const outcome = await jobs.transact(job)
    const { expectException } = expectation
    if (expectException !== undefined) return `expected ${expectException}, and it ran`
    const root = stateRoot(outcome.world)
    if (root !== expectation.hash) return `state root ${root}, expected ${expectation.hash}`
    const logs = logsHash(outcome.logs)
    return logs === expectation.logs ? undefined : `logs ${logs}, expected ${expectation.logs}`
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    if (stateRoot(job.world) !== before) return 'a refused transaction changed the world'
    return exceptionProblem(error, expectation.expectException)
  }
}

function exceptionProblem(
  { word, message }: DevchainError,
  expected: string | undefined,
): string | undefined {
  if (expected === undefined) return `refused: ${message}`
  const words = expected
    .split('|')
    .flatMap((name) => WORDS[name.replace('TransactionException.', '')] ?? [])
  return words.includes(word) ? undefined : `refused with ${word}, expected ${expected}`
}

function logsHash(logs: readonly Log[]): Hash {
  return keccakHash(
    encodeRlp(
      logs.map(({ address, topics, data }) => [
        bytesFromHex(address),
        topics.map(bytesFromHex),
        data,
      ]),
    ),
  )
}
