// The precompiles of bn254 (alt_bn128): addition, multiplication, pairing (EIP-196, EIP-197), at the prices of EIP-1108.
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { G1, lazyCurve } from './mcl.ts'
import { ofPoints, pairingResult, sumOfMultiples, sumOfTwo } from './pairing.ts'
import { type PrecompileCode, paddedSlice } from './precompile.ts'

const curve = lazyCurve({
  number: 4,
  modulus: 21888242871839275222246405745257275088696311157297823662689037894645226208583n,
  width: 32,
  padding: 0,
  imaginaryFirst: true,
  isG1Whole: true,
})

const POINT = 64
const PAIR = 192

export function bn254Add(hardfork: Hardfork): PrecompileCode {
  return sum(sumOfTwo, 2 * POINT, isAtLeast(hardfork, 'istanbul') ? 150n : 500n)
}

export function bn254Multiply(hardfork: Hardfork): PrecompileCode {
  return sum(sumOfMultiples, POINT + 32, isAtLeast(hardfork, 'istanbul') ? 6_000n : 40_000n)
}

/** Short input is padded with zeros, longer input cut. */
function sum(add: typeof sumOfTwo, length: number, gas: bigint): PrecompileCode {
  return {
    gas: () => gas,
    run: (input) => ofPoints(curve(), (points) => add(points, G1, paddedSlice(input, 0, length))),
  }
}

export function bn254Pairing(hardfork: Hardfork): PrecompileCode {
  const [base, each] = isAtLeast(hardfork, 'istanbul') ? [45_000n, 34_000n] : [100_000n, 80_000n]
  return {
    gas: (input) => base + each * BigInt(Math.floor(input.length / PAIR)),
    run: (input) => {
      if (input.length % PAIR !== 0) return undefined
      return ofPoints(curve(), (points) => pairingResult(points, input))
    },
  }
}
