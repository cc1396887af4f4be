// Precompiles that check: signatures over secp256r1 (EIP-7951), and values of polynomials behind KZG commitments (EIP-4844).
import { hash } from 'node:crypto'
import { bytesFromHex, concatBytes, EMPTY_BYTES, equalBytes, hexFromBytes } from '../../core/hex.ts'
import { loadedLater } from './loaded.ts'
import type { PrecompileCode } from './precompile.ts'

const curves = loadedLater(() => import('@noble/curves/nist.js'))
const kzg = loadedLater(() => import('./kzg.ts'))

const TRUE_WORD = bytesFromHex(`0x${'1'.padStart(64, '0')}`)

/** Answers 1 when the signature holds, nothing when it does not. */
export const p256verify: PrecompileCode = {
  gas: () => 6_900n,
  run: (input) => {
    const { p256 } = curves()
    if (input.length !== 160) return EMPTY_BYTES
    const key = concatBytes(Uint8Array.of(4), input.subarray(96))
    const digest = input.subarray(0, 32)
    const isValid = p256.utils.isValidPublicKey(key, false)
    const holds =
      isValid && p256.verify(input.subarray(32, 96), digest, key, { prehash: false, lowS: false })
    return holds ? TRUE_WORD.slice() : EMPTY_BYTES
  },
}

/** What the check answers: the number of field elements of a blob, and the order of the scalar field. */
const EVALUATED = bytesFromHex(
  `0x${(4096).toString(16).padStart(64, '0')}73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001`,
)

/** First byte of the hash of a commitment. */
const COMMITMENT_VERSION = 1

/** Checks that a polynomial has a value at a place. */
export const pointEvaluation: PrecompileCode = {
  gas: () => 50_000n,
  run: (input) => {
    const { verifyKzgProof } = kzg()
    if (input.length !== 192) return undefined
    const part = (from: number, to: number): string => hexFromBytes(input.subarray(from, to))
    const expected = hash('sha256', input.subarray(96, 144), 'buffer')
    expected[0] = COMMITMENT_VERSION
    if (!equalBytes(expected, input.subarray(0, 32))) return undefined
    try {
      const holds = verifyKzgProof(part(96, 144), part(32, 64), part(64, 96), part(144, 192))
      return holds ? EVALUATED.slice() : undefined
    } catch (error) {
      if (error instanceof Error && error.message.includes('C_KZG_BADARGS')) return undefined
      throw error
    }
  },
}
