// What a run says it would have needed, over random programs: with so much gas it comes to the same, with less to nothing.
import { expect, test } from 'vitest'
import type { CallJob, Jobs, Outcome } from '../../src/evm/executor.ts'
import { OPTIONS } from '../../src/options/table.ts'
import { floorDataGas, intrinsicGas } from '../../src/protocol/fees.ts'
import { type Engine, measuringEngines } from '../support/evm/engines.ts'
import { caseOf, worldOf } from './cases.ts'
import { callOf } from './compare.ts'
import { loopCaseOf } from './loops.ts'

const CASES = 600

/** With programs of chance few runs succeed. */
const LEAST_FOUND = 40

async function runWith(jobs: Jobs, job: CallJob, gasLimit: bigint): Promise<Outcome> {
  return jobs.call({ ...job, message: { ...job.message, gasLimit } })
}

/** Every fifth case is a loop, which becomes hot. */
function callsOf(seed: number): readonly CallJob[] {
  const subject = seed % 5 === 0 ? loopCaseOf(seed) : caseOf(seed)
  // init code may be too long for these
  if (subject.codeSizeLimit !== undefined) return []
  return subject.messages.map((message) => callOf(subject, message, worldOf(subject)))
}

test.each(measuringEngines())(
  'the engine $name reports the least gas, if it is certain',
  async ({ jobsWithin }: Engine) => {
    const jobs = jobsWithin(OPTIONS.memoryLimit.default)
    let found = 0
    for (let seed = 0; seed < CASES; seed += 1) {
      for (const job of callsOf(seed)) {
        const gas = 10_000_000n
        const outcome = await runWith(jobs, job, gas)
        const { gasNeed } = outcome
        expect(gasNeed === undefined, `seed ${seed}`).toBe(outcome.failure !== undefined)
        if (gasNeed?.isCertain !== true) continue
        found += 1
        const { hardfork } = job.block
        const floor = floorDataGas(job.message, hardfork)
        const least = gasNeed.gas > floor ? gasNeed.gas : floor
        const same = await runWith(jobs, job, least)
        expect(same.failure, `seed ${seed}: ${least} gas`).toBeUndefined()
        expect(same.gasUsed, `seed ${seed}`).toBe(outcome.gasUsed)
        if (gasNeed.gas <= floor || gasNeed.gas === intrinsicGas(job.message, hardfork)) continue
        const less = await runWith(jobs, job, gasNeed.gas - 1n)
        expect(less.failure, `seed ${seed}: less than ${gasNeed.gas} gas`).toBeDefined()
      }
    }
    expect(found).toBeGreaterThan(LEAST_FOUND)
  },
)
