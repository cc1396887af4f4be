// How long the interpreter goes on before others have their turn, and where its memory ends.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Outcome } from '../../../../src/evm/executor.ts'
import { FastMachine } from '../../../../src/evm/fast/machine.ts'
import { engineOf } from '../../../support/evm/engines.ts'
import { callOf } from '../stage.ts'

const interpreter = engineOf('interpreter', async () => new FastMachine())
const jobs = interpreter.jobsWithin(128_000_000)

interface Run {
  readonly outcome: Outcome
  /** How often others had their turn. */
  readonly turns: number
}

async function run(program: string, gasLimit: bigint): Promise<Run> {
  let turns = 0
  const outcome = await jobs.call({
    ...callOf(program, { gasLimit }),
    cancellation: {
      aborted: false,
      onPause: () => {
        turns += 1
      },
    },
  })
  return { outcome, turns }
}

const repeated = (times: number, program: string): string => `${program} `.repeat(times)

describe('a run with much gas', () => {
  /** A clock on which each look finds the turn to be over. */
  beforeEach(() => {
    let time = 0
    vi.spyOn(performance, 'now').mockImplementation(() => {
      time += 1000
      return time
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  const programs = [
    ['loops', 'again: @again JUMP'],
    ['loops over a precompile', 'again: 0 0 1000 0 2 GAS STATICCALL POP @again JUMP'],
    ['calls precompiles one after the other', repeated(500, '0 0 500000 0 2 GAS STATICCALL POP')],
    ['calls itself', '0 0 0 0 ADDRESS GAS STATICCALL POP 0 0 0 0 ADDRESS GAS STATICCALL'],
    ['hashes much memory, again and again', repeated(2000, '3000000 0 KECCAK256 POP')],
    ['copies much memory, again and again', repeated(2000, '3000000 0 100 MCOPY')],
    ['copies its input, again and again', repeated(2000, '3000000 0 0 CALLDATACOPY')],
    ['copies its code, again and again', repeated(2000, '3000000 0 0 CODECOPY')],
    [
      'copies the code of another, again and again',
      repeated(2000, '3000000 0 0 ADDRESS EXTCODECOPY'),
    ],
    ['writes long logs', repeated(2000, '100000 0 LOG0')],
    ['creates contracts', 'again: 0 0 0 CREATE POP @again JUMP'],
  ] as const

  test.each(programs)('gives others their turn while it %s', async (_how, program) => {
    const gasLimit = 40_000_000n
    const { outcome, turns } = await run(program, gasLimit)
    expect(outcome.gasUsed).toBeGreaterThan(gasLimit / 2n)
    // memory costs less than half of it, and no operation a million
    expect(turns).toBeGreaterThan(10)
  })
})

describe('a run that touches more state than fits', () => {
  test('is refused, and the engine runs the next job', async () => {
    // logs take most of the room, then each round another slot of transient storage
    const logs = repeated(90, '10000000 0 LOG0')
    const program = `${logs} 0 again: 1 ADD DUP1 DUP1 TSTORE @again JUMP`
    await expect(run(program, 2n ** 62n)).rejects.toMatchObject({
      word: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('1024 MiB'),
    })
    expect((await run('STOP', 100_000n)).outcome.failure).toBeUndefined()
  })
})
