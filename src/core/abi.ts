// The encoding of arguments that contracts understand, as far as it is read here: words, and byte strings.
// @see https://docs.soliditylang.org/en/latest/abi-spec.html
import { checksumAddress, keccak256 } from './crypto/crypto.ts'
import { type Address, addressFromBytes, bigintFromBytes, hexFromBytes } from './hex.ts'

/** An argument as it was passed; addresses and byte strings are texts. */
export type AbiValue = string | bigint | boolean

/** Where contracts print: `console.log` in ASCII, at the end of an address. */
export const CONSOLE_ADDRESS: Address = '0x000000000000000000636f6e736f6c652e6c6f67' as Address

/** The selector of a signature: `transfer(address,uint256)` gives `0xa9059cbb`. */
export function selectorOf(signature: string): string {
  return hexFromBytes(keccak256(new TextEncoder().encode(signature)).subarray(0, 4))
}

/** The arguments of a call; undefined when the encoding is broken. */
export function decodeArguments(
  types: readonly string[],
  data: Uint8Array,
): AbiValue[] | undefined {
  const values: AbiValue[] = []
  for (const [index, type] of types.entries()) {
    const word = wordAt(data, 32 * index)
    const value = word === undefined ? undefined : decodeArgument(type, word, data)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

function decodeArgument(type: string, word: Uint8Array, data: Uint8Array): AbiValue | undefined {
  if (type === 'string' || type === 'bytes') {
    const bytes = bytesAt(data, bigintFromBytes(word))
    if (bytes === undefined) return undefined
    return type === 'bytes' ? hexFromBytes(bytes) : new TextDecoder().decode(bytes)
  }
  if (type.startsWith('bytes')) return hexFromBytes(word.subarray(0, Number(type.slice(5))))
  if (type === 'address') return checksumAddress(addressFromBytes(word))
  if (type === 'bool') return bigintFromBytes(word) !== 0n
  return type === 'int256' ? BigInt.asIntN(256, bigintFromBytes(word)) : bigintFromBytes(word)
}

function wordAt(data: Uint8Array, at: number): Uint8Array | undefined {
  return at + 32 > data.length ? undefined : data.subarray(at, at + 32)
}

/** A byte string with its length before it. */
function bytesAt(data: Uint8Array, offset: bigint): Uint8Array | undefined {
  if (offset > BigInt(data.length)) return undefined
  const start = Number(offset) + 32
  const header = wordAt(data, start - 32)
  const length = header === undefined ? undefined : bigintFromBytes(header)
  if (length === undefined || length > BigInt(data.length - start)) return undefined
  return data.subarray(start, start + Number(length))
}
