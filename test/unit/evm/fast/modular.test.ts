// ADDMOD and MULMOD of the engine against bigints: also by the reciprocal that is kept for a modulus that comes again.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Instance } from '../../../../src/evm/fast/instance.ts'
import { OPERANDS } from '../../../../src/evm/fast/layout.ts'

const nothing = (): void => undefined

const instance = new Instance(
  {
    loadAccount: nothing,
    loadCode: nothing,
    loadCodeHash: nothing,
    loadSlot: nothing,
    loadBlockHash: nothing,
    reportConsole: nothing,
    flushEvents: nothing,
    reportMemory: nothing,
    reportReached: nothing,
  },
  1_000_000,
)

const WORD = 2n ** 256n

function compute(operation: 'addMod' | 'mulMod', a: bigint, b: bigint, c: bigint): bigint {
  const [first, second, third] = [OPERANDS, OPERANDS + 32, OPERANDS + 64]
  instance.setWord(first, a)
  instance.setWord(second, b)
  instance.setWord(third, c)
  const arithmetic = instance.exports as unknown as Readonly<
    Record<string, (...places: number[]) => void>
  >
  arithmetic[operation]?.(first, second, third)
  return instance.word(third)
}

/** Numbers of all lengths, and those around a modulus. */
function operands(modulus: bigint): fc.Arbitrary<bigint> {
  const near = [0n, 1n, modulus - 1n, modulus, modulus + 1n, 2n * modulus, WORD - 1n]
  return fc.oneof(
    fc.constantFrom(...near.map((value) => BigInt.asUintN(256, value))),
    fc.bigInt(0n, modulus),
    fc.tuple(fc.bigInt(0n, WORD - 1n), fc.nat(255)).map(([value, bits]) => value >> BigInt(bits)),
  )
}

test.each([
  ['of secp256k1', WORD - 2n ** 32n - 977n],
  ['of bn254', 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n],
  ['of P-256', 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn],
  ['of curve 25519', 2n ** 255n - 19n],
  ['of few bits', 0xffff_fffbn],
  ['of three limbs', 2n ** 192n - 237n],
  ['just too short', 2n ** 250n - 1n],
  ['just long enough', 2n ** 250n + 1n],
  ['of all ones', WORD - 1n],
  ['a power of two', 2n ** 254n],
])('ADDMOD and MULMOD are right for a modulus %s', (_, modulus) => {
  const number = operands(modulus)
  fc.assert(
    fc.property(number, number, (a, b) => {
      expect(compute('addMod', a, b, modulus)).toBe((a + b) % modulus)
      expect(compute('mulMod', a, b, modulus)).toBe((a * b) % modulus)
      expect(compute('mulMod', a, a, modulus)).toBe((a * a) % modulus)
    }),
    { seed: 4, numRuns: 1_000 },
  )
})

test('ADDMOD and MULMOD are right for alternating moduli', () => {
  fc.assert(
    fc.property(
      fc.array(fc.bigInt(2n ** 249n, WORD - 1n), { minLength: 2, maxLength: 8 }),
      fc.bigInt(0n, WORD - 1n),
      (moduli, a) => {
        for (const modulus of [...moduli, ...moduli, ...moduli.toReversed()]) {
          expect(compute('mulMod', a, a, modulus)).toBe((a * a) % modulus)
        }
      },
    ),
    { seed: 4, numRuns: 200 },
  )
})

test('ADDMOD and MULMOD give 0 for the modulus 0', () => {
  expect(compute('addMod', 5n, 6n, 0n)).toBe(0n)
  expect(compute('mulMod', 5n, 6n, 0n)).toBe(0n)
})
