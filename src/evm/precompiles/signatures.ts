// The precompiles p256verify (EIP-7951) and KZG point evaluation (EIP-4844).
import { hash } from 'node:crypto'
import { bytesFromHex, concatBytes, EMPTY_BYTES, equalBytes } from '../../core/hex.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { SCALAR_ORDER, verifyEvaluation } from './kzg.ts'
import { loadedLater, type PrecompileCode } from './precompile.ts'

const curves = loadedLater(() => import('@noble/curves/nist.js'))

const TRUE_WORD = bytesFromHex(`0x${'1'.padStart(64, '0')}`)

/** Returns 1 if the signature is valid, else nothing. Before osaka it costs what RIP-7212 says. */
export function p256verify(hardfork: Hardfork): PrecompileCode {
  const price = isAtLeast(hardfork, 'osaka') ? 6_900n : 3_450n
  return { gas: () => price, run: p256holds }
}

function p256holds(input: Uint8Array): Uint8Array {
  const { p256 } = curves()
  if (input.length !== 160) return EMPTY_BYTES
  const key = concatBytes(Uint8Array.of(4), input.subarray(96))
  const digest = input.subarray(0, 32)
  const isValid = p256.utils.isValidPublicKey(key, false)
  const holds =
    isValid && p256.verify(input.subarray(32, 96), digest, key, { prehash: false, lowS: false })
  return holds ? TRUE_WORD.slice() : EMPTY_BYTES
}

/** The fixed result: field elements per blob, and the order of the scalar field. */
const EVALUATED = bytesFromHex(
  `0x${(4096).toString(16).padStart(64, '0')}${SCALAR_ORDER.toString(16)}`,
)

const COMMITMENT_VERSION = 1

export const pointEvaluation: PrecompileCode = {
  gas: () => 50_000n,
  run: (input) => {
    if (input.length !== 192) return undefined
    const commitment = input.subarray(96, 144)
    const expected = hash('sha256', commitment, 'buffer')
    expected[0] = COMMITMENT_VERSION
    if (!equalBytes(expected, input.subarray(0, 32))) return undefined
    const holds = verifyEvaluation({
      z: input.subarray(32, 64),
      y: input.subarray(64, 96),
      commitment,
      proof: input.subarray(144, 192),
    })
    return holds === true ? EVALUATED.slice() : undefined
  },
}
