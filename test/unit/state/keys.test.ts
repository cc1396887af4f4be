// Keys of the state tries.
import { describe, expect, it } from 'vitest'
import { keccak256 } from '../../../src/core/crypto/crypto.ts'
import { type Address, bytesFromHex, paddedBytes } from '../../../src/core/hex.ts'
import { addressKey, slotKey } from '../../../src/state/keys.ts'

describe('a key', () => {
  it('is the Keccak-256 of the address, or of the slot as 32 bytes', () => {
    const address = '0x00000000000000000000000000000000000a11ce' as Address
    expect(addressKey(address)).toEqual(keccak256(bytesFromHex(address)))
    expect(slotKey(258n)).toEqual(keccak256(paddedBytes(258n, 32)))
    expect(slotKey((1n << 256n) - 1n)).toEqual(keccak256(new Uint8Array(32).fill(255)))
  })
})
