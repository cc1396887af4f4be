// Answers of ecrecover for signatures that a job declares to be somebody's, whoever made them.
import { bigintFromBytes, bytesFromHex, concatBytes, hexFromBytes } from '../../core/hex.ts'
import type { Signers } from '../executor.ts'
import { leftPadded, type PrecompileCode, paddedSlice } from './precompile.ts'

/**
 * Who a call of ecrecover is told to have signed.
 * @param input digest, v, r and s, each a word; what is missing is zero
 * @returns the address as a word, a value of its own; undefined when the signature is nobody's but who made it
 */
export function signerAsked(signers: Signers, input: Uint8Array): Uint8Array | undefined {
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
