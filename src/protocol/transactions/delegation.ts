// Delegation: code that names another account, whose code runs in its place (EIP-7702).
import { type Address, addressFromBytes, bytesFromHex, concatBytes } from '../../core/hex.ts'

const PREFIX = Uint8Array.of(0xef, 0x01, 0x00)

const LENGTH = PREFIX.length + 20

export function isDelegation(code: Uint8Array): boolean {
  return (
    code.length === LENGTH &&
    code[0] === PREFIX[0] &&
    code[1] === PREFIX[1] &&
    code[2] === PREFIX[2]
  )
}

/** Undefined: the code is no delegation. */
export function delegateOf(code: Uint8Array): Address | undefined {
  return isDelegation(code) ? addressFromBytes(code.subarray(PREFIX.length)) : undefined
}

export function delegationTo(address: Address): Uint8Array {
  return concatBytes(PREFIX, bytesFromHex(address))
}
