// Recursive Length Prefix, the encoding of everything that is hashed (Yellow Paper, appendix B).
import { RLP } from '@ethereumjs/rlp'
import { DevchainError } from './errors.ts'

/** A byte string, or a list of items. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Encodes an item. Integers go in as their shortest big-endian bytes (`bytesFromBigint`). */
export function encodeRlp(item: RlpItem): Uint8Array {
  return RLP.encode(item as Parameters<typeof RLP.encode>[0])
}

/**
 * Decodes exactly one item.
 * @throws {DevchainError} `INVALID_PARAMS` when the bytes are not one well-formed item.
 */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  try {
    return RLP.decode(bytes) as RlpItem
  } catch (error) {
    throw new DevchainError('INVALID_PARAMS', `expected RLP: ${(error as Error).message}`)
  }
}
