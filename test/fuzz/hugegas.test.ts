// The engines against each other with gas near the most that 64 bits with a sign hold: what is passed on, what memory
// costs and the result of GAS are as exact there as with little. Only programs that end by themselves are run so.
// HUGE_CASES=6000 runs more of them than a suite has time for.
import { describe, expect, test } from 'vitest'
import { OPTIONS } from '../../src/options/table.ts'
import { allEngines, type Engine } from '../support/evm/engines.ts'
import { type Case, type CaseMessage, caseOf, worldOf } from './cases.ts'
import { callOf, difference } from './compare.ts'
import { loopCaseOf } from './loops.ts'
import { Random } from './random.ts'

/** Cases, in as many tests as share them; every fourth is a loop that becomes hot. */
const CASES = Number(process.env.HUGE_CASES ?? 81)
const TESTS = 3
const LOOP_EVERY = 4

/** Gas of which a program that ends by itself leaves at least half. */
const PLENTY = 2_000_000

const EDGES = [2n ** 61n, 2n ** 62n, 2n ** 63n - 1n, 2n ** 63n - 1_000_000n]

/** The messages of a case that end by themselves, each with gas about an edge. */
async function hugeCaseOf(seed: number, fast: Engine): Promise<Case> {
  const random = new Random(seed)
  const subject = seed % LOOP_EVERY === 0 ? loopCaseOf(seed) : caseOf(seed)
  const messages: CaseMessage[] = []
  for (const message of subject.messages) {
    const call: CaseMessage = { ...message, kind: 'call', gas: PLENTY }
    if (!(await endsByItself(subject, call, fast))) continue
    const edge = random.pick(EDGES)
    const gas = edge - BigInt(random.below(100_000))
    messages.push({ ...call, gas: String(gas) })
  }
  return { ...subject, messages }
}

async function endsByItself(subject: Case, message: CaseMessage, fast: Engine): Promise<boolean> {
  const jobs = fast.jobsWithin(subject.memoryLimit ?? OPTIONS.memoryLimit.default)
  try {
    const { gasUsed } = await jobs.call(callOf(subject, message, worldOf(subject)))
    return gasUsed < PLENTY / 2
  } catch {
    // refused, which costs nothing
    return true
  }
}

describe('with huge gas the engines agree', () => {
  const engines = allEngines()
  const interpreter = engines.find(({ name }) => name === 'interpreter') as Engine
  let ran = 0

  test.each(Array.from({ length: TESTS }, (_, index) => index))(
    'on random programs, part %i',
    { timeout: 600_000 },
    async (part) => {
      const size = CASES / TESTS
      for (let seed = part * size; seed < (part + 1) * size; seed += 1) {
        const subject = await hugeCaseOf(seed, interpreter)
        ran += subject.messages.length
        expect(await difference(subject, engines), `seed ${seed}`).toBeUndefined()
      }
    },
  )

  test('on programs of which most end by themselves', () => {
    expect(ran).toBeGreaterThan(CASES)
  })
})
