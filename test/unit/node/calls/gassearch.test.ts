// The search for the smallest gas: against a model of frames that pass gas on, where the truth is known.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ZERO_ADDRESS } from '../../../../src/core/hex.ts'
import type { Step } from '../../../../src/evm/executor.ts'
import { coarseGas, gasNeedMeter, smallestGas } from '../../../../src/node/calls/gassearch.ts'

/** A contract in the model: what it spends, and whom it calls in between with all the gas that may be passed on. */
interface Course {
  readonly spends: readonly (bigint | Course)[]
  readonly value: bigint
}

const CALL_COST = 2600n

/** Counts runs and says whether `gas` is enough. */
function counted(isEnough: (gas: bigint) => boolean): {
  succeeds: (gas: bigint) => Promise<boolean>
  tried: bigint[]
} {
  const tried: bigint[] = []
  const succeeds = async (gas: bigint): Promise<boolean> => {
    tried.push(gas)
    return isEnough(gas)
  }
  return { succeeds, tried }
}

const FRAME = {
  kind: 'CALL',
  from: ZERO_ADDRESS,
  to: ZERO_ADDRESS,
  value: 0n,
  input: new Uint8Array(),
  isPrecompile: false,
  code: () => new Uint8Array(),
} as const

/** Gas left after a course, or undefined when it ran out. Calls `meter` as an executor would. */
function runCourse(
  course: Course,
  gas: bigint,
  meter: ReturnType<typeof gasNeedMeter>['tracer'] | undefined,
  depth = 0,
): bigint | undefined {
  const { spends, value } = course
  meter?.onEnter?.({ ...FRAME, value, depth, gas })
  let left = gas
  for (const spend of spends) {
    meter?.onStep?.(stepWith(left, depth))
    const after = typeof spend === 'bigint' ? left - spend : afterCall(spend, left, meter, depth)
    if (after === undefined || after < 0n) return undefined
    left = after
  }
  meter?.onStep?.(stepWith(left, depth))
  const end = { depth, output: new Uint8Array(), created: undefined, failure: undefined }
  meter?.onExit?.({ ...end, gasUsed: gas - left })
  return left
}

function afterCall(
  inner: Course,
  left: bigint,
  meter: ReturnType<typeof gasNeedMeter>['tracer'] | undefined,
  depth: number,
): bigint | undefined {
  const available = left - CALL_COST - (inner.value > 0n ? 9000n : 0n)
  if (available < 0n) return undefined
  const passed = available - available / 64n
  const stipend = inner.value > 0n ? 2300n : 0n
  const back = runCourse(inner, passed + stipend, meter, depth + 1)
  return back === undefined ? undefined : available - passed + back
}

function stepWith(gas: bigint, depth: number): Step {
  const rest = { pc: 0, opcode: 0, opName: 'STOP', gasCost: 0n, refund: 0n, address: ZERO_ADDRESS }
  return {
    ...rest,
    gas,
    depth,
    stack: [],
    unchanged: 0,
    memory: new Uint8Array(),
    loaded: undefined,
  }
}

const course: fc.Arbitrary<Course> = fc.letrec<{ course: Course }>((tie) => ({
  course: fc.record({
    spends: fc.array(
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.bigInt(0n, 50_000n),
        tie('course'),
      ),
      { maxLength: 4 },
    ),
    value: fc.constantFrom(0n, 0n, 1n),
  }),
})).course

describe('the smallest gas', () => {
  test.each([
    { name: 'the first guess is right', least: 50_000n, guesses: [50_000n], runs: 2 },
    { name: 'the second guess is right', least: 50_000n, guesses: [49_000n, 50_000n], runs: 3 },
    { name: 'the minimum is enough', least: 21_000n, guesses: [21_000n], runs: 1 },
    { name: 'the cap is just enough', least: 30_000_000n, guesses: [30_000_000n], runs: 1 },
  ])('takes $runs runs when $name', async ({ least, guesses, runs }) => {
    const { succeeds, tried } = counted((gas) => gas >= least)
    const bounds = { minimum: 21_000n, cap: 30_000_000n }
    expect(
      await smallestGas(
        succeeds,
        bounds,
        guesses.map((guess) => () => guess),
      ),
    ).toBe(least)
    expect(tried).toHaveLength(runs)
  })

  test('is exact whatever the guesses are, and never tries a gas twice', async () => {
    const gas = fc.bigInt(21_000n, 30_000_000n)
    await fc.assert(
      fc.asyncProperty(
        gas,
        fc.array(fc.option(gas, { nil: undefined })),
        async (least, guesses) => {
          const { succeeds, tried } = counted((given) => given >= least)
          const bounds = { minimum: 21_000n, cap: 30_000_000n }
          expect(
            await smallestGas(
              succeeds,
              bounds,
              guesses.map((guess) => () => guess),
            ),
          ).toBe(least)
          expect(new Set(tried).size).toBe(tried.length)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('succeeds while one less fails, also where more gas does harm', async () => {
    const isEnough = (gas: bigint): boolean => gas >= 100_000n && (gas < 200_000n || gas > 300_000n)
    const { succeeds } = counted(isEnough)
    const found = await smallestGas(succeeds, { minimum: 21_000n, cap: 30_000_000n }, [
      () => 310_000n,
    ])
    expect([isEnough(found), isEnough(found - 1n)]).toEqual([true, false])
  })

  test('asks for a guess only when its turn comes', async () => {
    const { succeeds } = counted((gas) => gas >= 50_000n)
    const never = (): bigint => {
      throw new Error('asked too early')
    }
    const bounds = { minimum: 21_000n, cap: 30_000_000n }
    expect(await smallestGas(succeeds, bounds, [() => 50_000n, never])).toBe(50_000n)
  })
})

describe('the gas need meter', () => {
  test('tells what a run needs so that each inner call gets enough and one less does not do', () => {
    fc.assert(
      fc.property(course, (plan) => {
        const meter = gasNeedMeter()
        fc.pre(runCourse(plan, 30_000_000n, meter.tracer) !== undefined)
        const need = meter.need() ?? -1n
        expect(runCourse(plan, need, undefined)).toBeDefined()
        expect(need === 0n ? undefined : runCourse(plan, need - 1n, undefined)).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })

  test('knows nothing before the outermost frame has ended', () => {
    const { tracer, need } = gasNeedMeter()
    tracer.onEnter?.({ ...FRAME, depth: 0, gas: 1000n })
    expect(need()).toBeUndefined()
  })

  test('counts the 2,301 gas that must be left for SSTORE', () => {
    const { tracer, need } = gasNeedMeter()
    tracer.onEnter?.({ ...FRAME, depth: 0, gas: 1000_000n })
    tracer.onStep?.({ ...stepWith(999_994n, 0), opName: 'SSTORE' })
    const end = { depth: 0, output: new Uint8Array(), created: undefined, failure: undefined }
    tracer.onExit?.({ ...end, gasUsed: 106n })
    expect(need()).toBe(6n + 2301n)
  })
})

describe("the gas that geth's search ends with", () => {
  test('is at most 1.5 % above the smallest', () => {
    fc.assert(
      fc.property(
        fc.bigInt(21_000n, 10_000_000n),
        fc.bigInt(0n, 1_000_000n),
        fc.bigInt(0n, 20_000n),
        (gasUsed, more, gasRefund) => {
          const exact = gasUsed + more
          const gas = coarseGas(exact, { cap: 30_000_000n, gasUsed, gasRefund })
          expect(gas).toBeGreaterThanOrEqual(exact)
          expect(Number(gas - exact) / Number(gas)).toBeLessThan(0.015)
        },
      ),
      { seed: 7, numRuns: 500 },
    )
  })

  test('is what is left when the search stops', () => {
    // 43,427 used: (43,427 + 2,300) * 64 / 63 = 46,452 suffices, and so do the middles 44,939, 44,182 and 43,804
    const run = { cap: 30_000_000n, gasUsed: 43_427n, gasRefund: 0n }
    expect(coarseGas(43_427n, run)).toBe(43_804n)
  })
})
