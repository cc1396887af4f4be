// Precompiles of the fast machines: each against the library's, over inputs that are right, nearly right and wrong.
import { Common, Mainnet } from '@ethereumjs/common'
import { createEVM, type EVM } from '@ethereumjs/evm'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { p256 } from '@noble/curves/nist.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keccak256, signDigest } from '../../../../src/core/crypto/crypto.ts'
import { concatBytes, EMPTY_BYTES, hexFromBytes, paddedBytes } from '../../../../src/core/hex.ts'
import { type PrecompileCode, Unready } from '../../../../src/evm/precompiles/precompile.ts'
import { precompileTable } from '../../../../src/evm/precompiles/table.ts'
import { HARDFORKS, type Hardfork } from '../../../../src/protocol/forks.ts'
import { precompilesOf } from '../../../../src/protocol/precompiles.ts'
import { kzg } from './otherkzg.ts'

interface Answer {
  readonly gasUsed: bigint
  /** Hex; undefined when it failed. */
  readonly output: string | undefined
}

const GAS = 10n ** 9n

/** The answer of one of ours, once its library is there. */
async function ours(code: PrecompileCode, input: Uint8Array, gas: bigint): Promise<Answer> {
  const price = code.gas(input)
  if (price > gas) return { gasUsed: gas, output: undefined }
  const output = await whenReady(() => code.run(input))
  if (output === undefined) return { gasUsed: gas, output: undefined }
  return { gasUsed: price, output: hexFromBytes(output) }
}

async function whenReady<T>(run: () => T): Promise<T> {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof Unready)) throw error
    await error.ready
    return run()
  }
}

const engines = new Map<Hardfork, Promise<EVM>>()

function engineOf(hardfork: Hardfork): Promise<EVM> {
  const known = engines.get(hardfork)
  if (known !== undefined) return known
  const common = new Common({
    chain: Mainnet,
    hardfork: hardfork === 'frontier' ? 'chainstart' : hardfork,
    customCrypto: { kzg },
  })
  const engine = createEVM({ common })
  engines.set(hardfork, engine)
  return engine
}

async function theirs(
  hardfork: Hardfork,
  address: string,
  data: Uint8Array,
  gasLimit: bigint,
): Promise<Answer> {
  const evm = await engineOf(hardfork)
  const code = evm.precompiles.get(address.slice(2))
  if (code === undefined) throw new Error(`no precompile at ${address}`)
  const result = await code({ data, gasLimit, common: evm.common, _EVM: evm })
  const output = result.exceptionError === undefined ? hexFromBytes(result.returnValue) : undefined
  return { gasUsed: result.executionGasUsed, output }
}

const word = (value: bigint): Uint8Array => paddedBytes(value, 32)

const bytes = (maxLength: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength })

/** Mostly the input itself; else with a byte changed, cut or lengthened. */
function damaged(input: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const change = fc.tuple(input, fc.nat(), fc.nat({ max: 255 })).map(([original, at, byte]) => {
    const copy = original.slice()
    if (copy.length > 0) copy[at % copy.length] = byte
    return copy
  })
  const cut = fc.tuple(input, fc.nat()).map(([all, at]) => all.subarray(0, at % (all.length + 1)))
  const longer = fc.tuple(input, bytes(40)).map(([all, more]) => concatBytes(all, more))
  return fc.oneof(
    { weight: 5, arbitrary: input },
    { weight: 2, arbitrary: change },
    { weight: 1, arbitrary: cut },
    { weight: 1, arbitrary: longer },
  )
}

const scalar: fc.Arbitrary<bigint> = fc.oneof(
  fc.constantFrom(0n, 1n, 2n, bn254.fields.Fr.ORDER, bls12_381.fields.Fr.ORDER, 2n ** 256n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
)

const small = fc.bigInt({ min: 1n, max: 1_000n })

const bnG1 = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Uint8Array(64)) },
  {
    weight: 6,
    arbitrary: small.map((k) => {
      const { x, y } = bn254.G1.Point.BASE.multiply(k).toAffine()
      return concatBytes(word(x), word(y))
    }),
  },
)

const bnG2 = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Uint8Array(128)) },
  {
    weight: 6,
    arbitrary: small.map((k) => {
      const { x, y } = bn254.G2.Point.BASE.multiply(k).toAffine()
      return concatBytes(word(x.c1), word(x.c0), word(y.c1), word(y.c0))
    }),
  },
)

const field = (value: bigint): Uint8Array => paddedBytes(value, 64)

const blsG1 = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Uint8Array(128)) },
  {
    weight: 6,
    arbitrary: small.map((k) => {
      const { x, y } = bls12_381.G1.Point.BASE.multiply(k).toAffine()
      return concatBytes(field(x), field(y))
    }),
  },
)

const blsG2 = fc.oneof(
  { weight: 1, arbitrary: fc.constant(new Uint8Array(256)) },
  {
    weight: 6,
    arbitrary: small.map((k) => {
      const { x, y } = bls12_381.G2.Point.BASE.multiply(k).toAffine()
      return concatBytes(field(x.c0), field(x.c1), field(y.c0), field(y.c1))
    }),
  },
)

const blsField = fc.oneof(
  fc.bigInt({ min: 0n, max: bls12_381.fields.Fp.ORDER - 1n }),
  fc.constantFrom(0n, bls12_381.fields.Fp.ORDER, bls12_381.fields.Fp.ORDER - 1n),
)

const joined = (...parts: readonly fc.Arbitrary<Uint8Array>[]): fc.Arbitrary<Uint8Array> =>
  fc.tuple(...parts).map((all) => concatBytes(...all))

const several = (part: fc.Arbitrary<Uint8Array>, most: number): fc.Arbitrary<Uint8Array> =>
  fc.array(part, { maxLength: most }).map((all) => concatBytes(...all))

const signed = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), bytes(40), fc.boolean())
  .map(([seed, message, isHigh]) => {
    const key = keccak256(seed)
    const digest = keccak256(message)
    const { r, s, yParity } = signDigest(digest, key)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const [v, value] = isHigh ? [28n - BigInt(yParity), order - s] : [27n + BigInt(yParity), s]
    return concatBytes(digest, word(v), word(r), word(value))
  })

const p256Signed = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), bytes(40))
  .map(([seed, message]) => {
    const key = keccak256(seed)
    const digest = keccak256(message)
    const signature = p256.sign(digest, key, { prehash: false, lowS: false })
    return concatBytes(digest, signature, p256.getPublicKey(key, false).subarray(1))
  })

const modexpInput = fc
  .tuple(bytes(70), bytes(70), bytes(70), fc.constantFrom(0n, 1n, 40n, 1_000n, 1_100n, 2n ** 255n))
  .chain(([base, exponent, modulus, extra]) =>
    fc.constantFrom(
      ...[0, 1, 2, 3].map((which) => {
        const more = (index: number): bigint => (which === index ? extra : 0n)
        return concatBytes(
          word(BigInt(base.length) + more(1)),
          word(BigInt(exponent.length) + more(2)),
          word(BigInt(modulus.length) + more(3)),
          base,
          exponent,
          modulus,
        )
      }),
    ),
  )

const blakeInput = fc
  .tuple(fc.nat({ max: 30 }), fc.uint8Array({ minLength: 208, maxLength: 208 }), fc.nat({ max: 2 }))
  .map(([rounds, rest, last]) =>
    concatBytes(paddedBytes(BigInt(rounds), 4), rest, Uint8Array.of(last)),
  )

/** A commitment to the polynomial of the only value 2, and its proof. */
const evaluation = ((): Uint8Array => {
  const commitment = bls12_381.G1.Point.BASE.multiply(2n).toBytes(true)
  const infinity = concatBytes(Uint8Array.of(0xc0), new Uint8Array(47))
  return concatBytes(versionedHash(commitment), word(7n), word(2n), commitment, infinity)
})()

function versionedHash(commitment: Uint8Array): Uint8Array {
  const digest = precompileTable('osaka').get(addressOf('SHA256'))?.run(commitment)
  if (digest === undefined) throw new Error('no hash')
  return concatBytes(Uint8Array.of(1), digest.subarray(1))
}

function addressOf(name: string): ReturnType<typeof precompilesOf>[number]['address'] {
  const found = precompilesOf('osaka').find((each) => each.name === name)
  if (found === undefined) throw new Error(`no precompile ${name}`)
  return found.address
}

/** What each precompile is tried with, and how often: the library takes milliseconds for a pairing. */
const INPUTS: Readonly<Record<string, readonly [input: fc.Arbitrary<Uint8Array>, runs: number]>> = {
  ECREC: [damaged(signed), 40],
  SHA256: [bytes(200), 50],
  RIPEMD160: [bytes(200), 50],
  ID: [bytes(200), 50],
  MODEXP: [damaged(modexpInput), 300],
  BN254_ADD: [damaged(joined(bnG1, bnG1)), 80],
  BN254_MUL: [damaged(joined(bnG1, scalar.map(word))), 40],
  BN254_PAIRING: [damaged(several(joined(bnG1, bnG2), 2)), 14],
  BLAKE2F: [damaged(blakeInput), 80],
  KZG_POINT_EVALUATION: [damaged(fc.constant(evaluation)), 10],
  BLS12_G1ADD: [damaged(joined(blsG1, blsG1)), 30],
  BLS12_G1MSM: [damaged(several(joined(blsG1, scalar.map(word)), 3)), 20],
  BLS12_G2ADD: [damaged(joined(blsG2, blsG2)), 30],
  BLS12_G2MSM: [damaged(several(joined(blsG2, scalar.map(word)), 3)), 20],
  BLS12_PAIRING_CHECK: [damaged(several(joined(blsG1, blsG2), 2)), 12],
  BLS12_MAP_FP_TO_G1: [damaged(blsField.map(field)), 20],
  BLS12_MAP_FP2_TO_G2: [
    damaged(fc.tuple(blsField, blsField).map((all) => concatBytes(...all.map(field)))),
    16,
  ],
  P256VERIFY: [damaged(p256Signed), 16],
}

describe('a precompile returns what @ethereumjs/evm returns', () => {
  const newest = precompilesOf('osaka')

  test.each(newest.map(({ name, address }) => [name, address] as const))(
    'for %s',
    async (name, address) => {
      const code = precompileTable('osaka').get(address)
      const [input, numRuns] = INPUTS[name] ?? []
      if (code === undefined || input === undefined) throw new Error(`nothing to try ${name} with`)
      const property = fc.asyncProperty(input, async (data) => {
        expect(await ours(code, data, GAS)).toEqual(await theirs('osaka', address, data, GAS))
      })
      await fc.assert(property, { numRuns: numRuns ?? 1, seed: 4 })
    },
  )

  test.each(['byzantium', 'istanbul', 'berlin', 'osaka'] as const)(
    'for the gas of %s',
    async (fork) => {
      for (const { name, address } of precompilesOf(fork)) {
        const code = precompileTable(fork).get(address)
        const [input] = INPUTS[name] ?? []
        if (code === undefined || input === undefined)
          throw new Error(`nothing to try ${name} with`)
        for (const data of fc.sample(input, { numRuns: name === 'MODEXP' ? 200 : 3, seed: 5 })) {
          const gas = code.gas(data)
          if (gas === 0n || gas > GAS) continue
          expect(await ours(code, data, gas - 1n)).toEqual(
            await theirs(fork, address, data, gas - 1n),
          )
          expect(await ours(code, data, gas)).toEqual(await theirs(fork, address, data, gas))
        }
      }
    },
  )

  test('on every fork at the same addresses', async () => {
    for (const fork of HARDFORKS) {
      const digits = [...(await engineOf(fork)).precompiles.keys()]
      expect([...precompileTable(fork).keys()].sort()).toEqual(
        digits.map((each) => `0x${each}`).sort(),
      )
    }
  })

  test('for modular exponentiation with very long exponents', async () => {
    const modulus = (1n << 2048n) - 1942289n
    for (const length of [3, 4, 33, 256]) {
      const input = concatBytes(
        word(256n),
        word(BigInt(length)),
        word(256n),
        paddedBytes(modulus - 12345n, 256),
        new Uint8Array(length).fill(0xb7),
        paddedBytes(modulus, 256),
      )
      const code = precompileTable('osaka').get(addressOf('MODEXP'))
      if (code === undefined) throw new Error('no modexp')
      const expected = await theirs('osaka', addressOf('MODEXP'), input, GAS)
      expect(await ours(code, input, GAS)).toEqual(expected)
    }
  })
})

test('a precompile without input returns a result, or fails', async () => {
  for (const [address, code] of precompileTable('osaka')) {
    expect(await ours(code, EMPTY_BYTES, GAS)).toEqual(
      await theirs('osaka', address, EMPTY_BYTES, GAS),
    )
  }
})
