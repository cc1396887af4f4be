// The engines against each other over random programs. `npm run fuzz` goes on where this stops.
import { describe, expect, test } from 'vitest'
import { FastMachine } from '../../src/evm/fast/machine.ts'
import type { Machine } from '../../src/evm/machine.ts'
import { createReferenceMachine } from '../../src/evm/reference/machine.ts'
import { allEngines, engineOf } from '../support/evm/engines.ts'
import { attachTracer } from '../support/evm/steptracer.ts'
import { keptCases, trySeed } from './campaign.ts'
import { assembled, caseOf } from './cases.ts'
import { difference } from './compare.ts'

/** Cases, in as many tests as share them. */
const CASES = 400
const TESTS = 10
const AMSTERDAM_CASES = 60

describe('the engines agree', () => {
  const engines = allEngines()

  test.each(Array.from({ length: TESTS }, (_, index) => index))(
    'on random programs, part %i',
    async (part) => {
      const size = CASES / TESTS
      for (let seed = part * size; seed < (part + 1) * size; seed += 1) {
        expect((await trySeed(seed, engines))?.problem, `seed ${seed}`).toBeUndefined()
      }
    },
  )

  test('on random programs under amsterdam', async () => {
    for (let seed = 0; seed < AMSTERDAM_CASES; seed += 1) {
      const finding = await trySeed(seed, engines, (each) => caseOf(each, 'amsterdam'))
      expect(finding?.problem, `seed ${seed}`).toBeUndefined()
    }
  })

  const kept = keptCases()

  test.runIf(kept.length > 0)('on every case that once failed', async () => {
    for (const subject of kept) {
      expect(await difference(subject, engines), subject.name).toBeUndefined()
    }
  })
})

/** The reference, but that a certain end comes to a gas too much. */
function planted(isWrong: (result: Awaited<ReturnType<Machine['run']>>) => boolean): Machine {
  const machine = createReferenceMachine(attachTracer)
  return {
    run: async (job) => {
      const result = await machine.run(job)
      return isWrong(result) ? { ...result, gasUsed: result.gasUsed - 1n } : result
    },
  }
}

describe('the fuzzer', () => {
  const right = engineOf('right', async () => createReferenceMachine(attachTracer))

  test('finds a difference, and shows a minimal case', async () => {
    const wrong = engineOf('wrong', async () => planted(({ logs }) => logs.length > 1))
    let seed = 0
    let finding = await trySeed(seed, [right, wrong])
    while (finding === undefined) finding = await trySeed(++seed, [right, wrong])
    expect(finding.problem).toMatch(/^message 0 on \w+, right against wrong: gasUsed "\d+" became /)
    const codes = [...finding.subject.accounts, ...finding.subject.messages].map(({ code }) => code)
    const sizes = codes.map((code) => assembled(code).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200)
  })

  test('finds nothing if there is no difference', async () => {
    const twin = engineOf('twin', async () => planted(() => false))
    for (let seed = 0; seed < 20; seed += 1) {
      expect(await trySeed(seed, [right, twin])).toBeUndefined()
    }
  })

  test('makes the same case from the same seed', () => {
    expect(caseOf(7)).toEqual(caseOf(7))
    expect(caseOf(7)).not.toEqual(caseOf(8))
  })

  test('reaches every kind of outcome', async () => {
    const ends = new Set<string>()
    const collecting = engineOf('collecting', async () => {
      const machine = new FastMachine()
      return {
        run: async (job) => {
          const result = await machine.run(job)
          ends.add(result.failure?.reason.split(' 0x', 1)[0] ?? 'success')
          return result
        },
      }
    })
    const wanted = [
      'success',
      'out of gas',
      'revert',
      'invalid opcode',
      'stack underflow',
      'invalid jump destination',
    ]
    for (let seed = 0; seed < 500 && !wanted.every((end) => ends.has(end)); seed += 1) {
      await difference(caseOf(seed), [collecting])
    }
    expect([...ends]).toEqual(expect.arrayContaining(wanted))
  })
})
