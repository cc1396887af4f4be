// The search for the smallest gas.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coarseGas, smallestGas } from '../../../../src/node/calls/estimate.ts'

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

describe('smallestGas', () => {
  test.each([
    { name: 'the guess is right', least: 50_000n, guess: 50_000n, runs: 2 },
    { name: 'the minimum is enough', least: 21_000n, guess: 21_000n, runs: 1 },
    { name: 'the cap is just enough', least: 30_000_000n, guess: 30_000_000n, runs: 1 },
  ])('takes $runs runs when $name', async ({ least, guess, runs }) => {
    const { succeeds, tried } = counted((gas) => gas >= least)
    expect(await smallestGas(succeeds, { minimum: 21_000n, cap: 30_000_000n, guess })).toBe(least)
    expect(tried).toHaveLength(runs)
  })

  test('is exact for any guess, and never tries a gas limit twice', async () => {
    const gas = fc.bigInt(21_000n, 30_000_000n)
    await fc.assert(
      fc.asyncProperty(gas, gas, async (least, guess) => {
        const { succeeds, tried } = counted((given) => given >= least)
        const bounds = { minimum: 21_000n, cap: 30_000_000n, guess }
        expect(await smallestGas(succeeds, bounds)).toBe(least)
        expect(new Set(tried).size).toBe(tried.length)
      }),
      { numRuns: 200 },
    )
  })

  test('succeeds while one less fails, even where more gas fails too', async () => {
    const isEnough = (gas: bigint): boolean => gas >= 100_000n && (gas < 200_000n || gas > 300_000n)
    const { succeeds } = counted(isEnough)
    const found = await smallestGas(succeeds, {
      minimum: 21_000n,
      cap: 30_000_000n,
      guess: 310_000n,
    })
    expect([isEnough(found), isEnough(found - 1n)]).toEqual([true, false])
  })
})

describe('coarseGas', () => {
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

  test('is the last upper bound of geth’s search', () => {
    // 43,427 used: (43,427 + 2,300) * 64 / 63 = 46,452 suffices, and so do the middles 44,939, 44,182 and 43,804
    const run = { cap: 30_000_000n, gasUsed: 43_427n, gasRefund: 0n }
    expect(coarseGas(43_427n, run)).toBe(43_804n)
  })
})
