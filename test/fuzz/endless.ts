// The fuzzer by hand: `npm run fuzz`, or `npm run fuzz -- 1234` to begin with a seed. It runs until it is ended, or
// enough has failed; what fails is kept under fixtures/fuzz.
import { allEngines } from '../support/evm/engines.ts'
import { keep, trySeed } from './campaign.ts'
import { loopCaseOf } from './loops.ts'

const LINE_EVERY_MS = 10_000

/** Failing cases that are kept: they mostly have few causes. */
const MOST_FINDINGS = 10

/** Every third case is a loop, which takes longer than others. */
const LOOP_EVERY = 3

/** Seeds from one on. */
export async function fuzzFrom(first: number): Promise<void> {
  const engines = allEngines()
  console.log(`engines: ${engines.map(({ name }) => name).join(', ')}; first seed ${first}`)
  let printed = performance.now()
  let found = 0
  for (let seed = first; ; seed += 1) {
    const finding = await trySeed(seed, engines, seed % LOOP_EVERY === 0 ? loopCaseOf : undefined)
    if (finding !== undefined) {
      found += 1
      console.log(`seed ${seed}: ${finding.problem}\n  kept as ${keep(finding)}`)
      if (found === MOST_FINDINGS) return
    }
    if (performance.now() - printed < LINE_EVERY_MS) continue
    printed = performance.now()
    console.log(`${seed - first + 1} cases, ${found} failed`)
  }
}
