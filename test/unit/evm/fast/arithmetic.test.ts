// The interpreter's long arithmetic against JavaScript's.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Instance } from '../../../../src/evm/fast/instance.ts'
import { OPERANDS } from '../../../../src/evm/fast/layout.ts'

const ask = (): never => {
  throw new Error('arithmetic asks for nothing')
}
const instance = new Instance(
  {
    loadAccount: ask,
    loadCode: ask,
    loadCodeHash: ask,
    loadSlot: ask,
    loadBlockHash: ask,
    reportConsole: ask,
    flushEvents: ask,
    reportMemory: ask,
    reportReached: ask,
  },
  65_536,
)

const FIRST = OPERANDS
const SECOND = OPERANDS + 32
const THIRD = OPERANDS + 64

const limb = fc.oneof(
  fc.constantFrom(0n, 1n, 2n ** 63n, 2n ** 63n - 1n, 2n ** 64n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
)

/** Words of any length, whose limbs are often at an edge. */
const word = fc
  .tuple(limb, limb, limb, limb, fc.integer({ min: 0, max: 255 }))
  .map(([a, b, c, d, shift]) => (a | (b << 64n) | (c << 128n) | (d << 192n)) >> BigInt(shift & ~15))

/** What compiled code calls too. */
const arithmetic = instance.exports as unknown as Readonly<
  Record<string, (...places: number[]) => void>
>

function onTwo(name: 'div' | 'mod' | 'mul', a: bigint, b: bigint): bigint {
  instance.setWord(FIRST, a)
  instance.setWord(SECOND, b)
  arithmetic[name]?.(FIRST, SECOND)
  return instance.word(SECOND)
}

function onThree(name: 'addMod' | 'mulMod', a: bigint, b: bigint, c: bigint): bigint {
  instance.setWord(FIRST, a)
  instance.setWord(SECOND, b)
  instance.setWord(THIRD, c)
  arithmetic[name]?.(FIRST, SECOND, THIRD)
  return instance.word(THIRD)
}

const RUNS = { numRuns: 20_000, seed: 7 }

describe('word arithmetic in WebAssembly', () => {
  const operations = [
    ['mul', (a: bigint, b: bigint) => BigInt.asUintN(256, a * b)],
    ['div', (a: bigint, b: bigint) => (b === 0n ? 0n : a / b)],
    ['mod', (a: bigint, b: bigint) => (b === 0n ? 0n : a % b)],
  ] as const

  test.each(operations)('gives the right result for %s', (name, right) => {
    const law = fc.property(word, word, (a, b) => onTwo(name, a, b) === right(a, b))
    expect(() => fc.assert(law, RUNS)).not.toThrow()
  })

  const reductions = [
    ['addMod', (a: bigint, b: bigint, c: bigint) => (c === 0n ? 0n : (a + b) % c)],
    ['mulMod', (a: bigint, b: bigint, c: bigint) => (c === 0n ? 0n : (a * b) % c)],
  ] as const

  test.each(reductions)('gives the right result for %s with any modulus', (name, right) => {
    const law = fc.property(
      word,
      word,
      word,
      (a, b, c) => onThree(name, a, b, c) === right(a, b, c),
    )
    expect(() => fc.assert(law, RUNS)).not.toThrow()
  })

  test.each(reductions)('gives the right result for %s with alternating moduli', (name, right) => {
    const longModulus = fc
      .tuple(word, fc.integer({ min: 250, max: 255 }))
      .map(([a, bit]) => BigInt.asUintN(bit, a) | (1n << BigInt(bit)))
    const law = fc.property(
      fc.array(longModulus, { minLength: 1, maxLength: 6 }),
      fc.array(fc.tuple(word, word, fc.nat()), { minLength: 20, maxLength: 20 }),
      (moduli, rounds) =>
        rounds.every(([a, b, turn]) => {
          const modulus = moduli[turn % moduli.length] ?? 0n
          return onThree(name, a, b, modulus) === right(a, b, modulus)
        }),
    )
    expect(() => fc.assert(law, { numRuns: 2_000, seed: 7 })).not.toThrow()
  })
})
