// What a run reached: each operation as often as its steps say, on every engine (the fuzzer holds that too), at any length.
import { describe, expect, test } from 'vitest'
import { hexFromBytes } from '../../../src/core/hex.ts'
import type { ReachedCode, Tracer } from '../../../src/evm/executor.ts'
import { addReached, hitsOf, noCounts } from '../../../src/evm/tracers/reached.ts'
import { assemble, calling, deploying, storing } from '../../support/evm/bytecode.ts'
import { allEngines } from '../../support/evm/engines.ts'
import { callOf, OTHER, withProgram } from './stage.ts'

const LIMIT = 2 ** 27

function gathered(): { readonly tracer: Tracer; readonly all: ReachedCode[] } {
  const all: ReachedCode[] = []
  return { all, tracer: { onReached: (reached) => all.push(...reached) } }
}

/** The counts of operations that ran, by their places. */
function hitsIn(reached: readonly ReachedCode[], isMeant: (code: ReachedCode) => boolean): object {
  const meant = reached.filter(isMeant)
  const sum = noCounts()
  for (const each of meant) addReached(sum, each)
  const { hits, jumped } = hitsOf(meant[0]!.code, sum)
  const text = (counts: Float64Array): string =>
    [...counts.entries()].flatMap(([pc, n]) => (n === 0 ? [] : [`${pc}: ${n}`])).join(', ')
  return { hits: text(hits), jumped: text(jumped) }
}

/** Counts down from n. */
const LOOP = (n: number): string => `${n} head: 1 SWAP1 SUB DUP1 @head JUMPI STOP`

describe.each(allEngines())('coverage on the engine $name', ({ jobsWithin }) => {
  const jobs = jobsWithin(LIMIT)

  test('counts a loop round by round', async () => {
    const { tracer, all } = gathered()
    await jobs.call({ ...callOf(LOOP(20)), tracer })
    expect(hitsIn(all, () => true)).toEqual({
      hits: '0: 1, 2: 20, 3: 20, 5: 20, 6: 20, 7: 20, 8: 20, 11: 20, 12: 1',
      jumped: '11: 19',
    })
  })

  test('stops at the end of a frame, however it ended', async () => {
    const { tracer, all } = gathered()
    const job = callOf(`${calling(OTHER, { gas: '20' })} ${calling(OTHER, { gas: '5000' })}`)
    // the first call has gas for a few of the pushes
    const world = withProgram(job.world, OTHER, '1 2 3 4 5 6 7 8 9 INVALID')
    await jobs.call({ ...job, world, tracer })
    const ran = hitsIn(all, ({ code }) => code.at(-1) === 0xfe)
    expect(ran).toEqual({
      hits: '0: 2, 2: 2, 4: 2, 6: 2, 8: 2, 10: 2, 12: 2, 14: 1, 16: 1, 18: 1',
      jumped: '',
    })
  })

  test('has init code with its arguments, separate from the code that it deploys', async () => {
    const { tracer, all } = gathered()
    const runtime = assemble('CALLVALUE 5 JUMPI STOP JUMPDEST 0 0 REVERT')
    const init = deploying(runtime)
    await jobs.call({
      ...callOf(`${storing(init)} ${init.length} 0 0 CREATE 0 0 0 0 0 DUP6 50000 CALL`),
      tracer,
    })
    const made = all.filter(({ isCreation }) => isCreation).map(({ code }) => hexFromBytes(code))
    expect(made).toEqual([hexFromBytes(init)])
    expect(hitsIn(all, ({ code }) => code.length === runtime.length)).toEqual({
      hits: '0: 1, 1: 1, 3: 1, 4: 1',
      jumped: '',
    })
  })

  test('is empty for a run without code', async () => {
    const { tracer, all } = gathered()
    await jobs.call({ ...callOf(''), tracer })
    expect(all).toEqual([])
  })
})

describe('coverage on the engine auto', () => {
  const [, , compiler] = allEngines()

  test('counts a million rounds in compiled code', async () => {
    const jobs = compiler!.jobsWithin(LIMIT)
    const job = callOf(LOOP(1_000_000), { gasLimit: 10n ** 9n })
    await jobs.call(job)
    const { tracer, all } = gathered()
    await jobs.call({ ...job, tracer })
    expect(hitsIn(all, () => true)).toMatchObject({ jumped: '13: 999999' })
  })

  test('of two thousand creations in one run takes the room of a few', async () => {
    const jobs = compiler!.jobsWithin(LIMIT)
    const { tracer, all } = gathered()
    // 48 KiB of init code that ends at once: its records would take 200 KB each
    const job = callOf('2000 head: 49152 0 0 CREATE POP 1 SWAP1 SUB DUP1 @head JUMPI STOP', {
      gasLimit: 10n ** 9n,
    })
    const outcome = await jobs.call({ ...job, tracer })
    expect(outcome.failure).toBeUndefined()
    expect(all.filter(({ isCreation }) => isCreation)).toHaveLength(2000)
  })
})
