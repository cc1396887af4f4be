// The four precompiles of frontier: ecrecover, sha256, ripemd160, identity.
import { getHashes, hash } from 'node:crypto'
import { recoverAddress } from '../../core/crypto/crypto.ts'
import { attempt } from '../../core/errors.ts'
import {
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  EMPTY_BYTES,
  hexFromBytes,
} from '../../core/hex.ts'
import type { Signers } from '../executor.ts'
import { leftPadded, loadedLater, type PrecompileCode, paddedSlice, wordsOf } from './precompile.ts'

/** OpenSSL takes 0.5 µs where the library takes 100; some builds lack RIPEMD-160. */
const hasRipemd = getHashes().includes('ripemd160')

const library = loadedLater(() => import('@noble/hashes/legacy.js'))

/** The signer's address as a word; empty if the signature is invalid. */
export const ecrecover: PrecompileCode = {
  gas: () => 3_000n,
  run: (input) => {
    const wordAt = (at: number): bigint => bigintFromBytes(paddedSlice(input, at, 32))
    const v = wordAt(32)
    if (v !== 27n && v !== 28n) return EMPTY_BYTES
    const signature = { r: wordAt(64), s: wordAt(96), yParity: v === 28n ? 1 : 0 } as const
    const signer = attempt(() => recoverAddress(paddedSlice(input, 0, 32), signature))
    return signer === undefined ? EMPTY_BYTES : leftPadded(bytesFromHex(signer))
  },
}

/**
 * @param input digest, v, r and s as words, padded with zeros
 * @returns the address as a fresh word; undefined if the signature is not overridden
 */
function signerAsked(signers: Signers, input: Uint8Array): Uint8Array | undefined {
  const v = bigintFromBytes(paddedSlice(input, 32, 32))
  if (v !== 27n && v !== 28n) return undefined
  const signature = concatBytes(paddedSlice(input, 64, 64), Uint8Array.of(Number(v)))
  const signer = signers.get(hexFromBytes(signature))
  return signer && leftPadded(bytesFromHex(signer))
}

/** ecrecover, overridden for signatures that a job declares. */
export function ecrecoverWith(signers: Signers): PrecompileCode {
  return { ...ecrecover, run: (input) => signerAsked(signers, input) ?? ecrecover.run(input) }
}

export const sha256: PrecompileCode = {
  gas: (input) => 60n + 12n * wordsOf(input),
  run: (input) => hash('sha256', input, 'buffer'),
}

export const ripemd160: PrecompileCode = {
  gas: (input) => 600n + 120n * wordsOf(input),
  run: (input) =>
    leftPadded(hasRipemd ? hash('ripemd160', input, 'buffer') : library().ripemd160(input)),
}

export const identity: PrecompileCode = {
  gas: (input) => 15n + 3n * wordsOf(input),
  run: (input) => input.slice(),
}
