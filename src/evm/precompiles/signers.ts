// Overrides ecrecover for signatures that a job declares.
import { bigintFromBytes, bytesFromHex, concatBytes, hexFromBytes } from '../../core/hex.ts'
import type { Signers } from '../executor.ts'
import { leftPadded, type PrecompileCode, paddedSlice } from './precompile.ts'

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

export function withSigners(ecrecover: PrecompileCode, signers: Signers): PrecompileCode {
  return {
    gas: ecrecover.gas,
    run: (input) => signerAsked(signers, input) ?? ecrecover.run(input),
  }
}
