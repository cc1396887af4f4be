// Loops that become hot: what is compiled comes to what is interpreted, with enough gas and with too little.
import { describe, expect, test } from 'vitest'
import { allEngines } from '../support/evm/engines.ts'
import { difference } from './compare.ts'
import { loopCaseOf } from './loops.ts'

/** Cases, in as many tests as share them. */
const CASES = 100
const TESTS = 4

/** The reference takes ten times as long as both others. */
const WITH_REFERENCE = 12

describe('a loop has the same outcome', () => {
  const engines = allEngines()
  const [, ...fast] = engines

  test.each(Array.from({ length: TESTS }, (_, index) => index))(
    'interpreted and compiled, part %i',
    async (part) => {
      const size = CASES / TESTS
      for (let seed = part * size; seed < (part + 1) * size; seed += 1) {
        expect(await difference(loopCaseOf(seed), fast), `loop ${seed}`).toBeUndefined()
      }
    },
  )

  test('on the reference too', async () => {
    for (let seed = CASES; seed < CASES + WITH_REFERENCE; seed += 1) {
      expect(await difference(loopCaseOf(seed), engines), `loop ${seed}`).toBeUndefined()
    }
  })
})
