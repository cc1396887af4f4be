// The memory of hashed keys: right, useful and bounded.
import { describe, expect, it } from 'vitest'
import { keccak256 } from '../../../src/core/crypto.ts'
import { type Address, bytesFromHex, paddedBytes } from '../../../src/core/hex.ts'
import { addressKey, Memory, slotKey } from '../../../src/state/keys.ts'

describe('a memory', () => {
  const counted = (size: number) => {
    const asked: number[] = []
    const memory = new Memory(size, (input: number) => {
      asked.push(input)
      return input * 2
    })
    return { asked, memory }
  }

  it('computes a result once while it is among the last ones asked for', () => {
    const { asked, memory } = counted(3)
    for (const input of [1, 2, 3, 1, 4, 3, 1, 5, 1, 3]) expect(memory.of(input)).toBe(input * 2)
    expect(asked).toEqual([1, 2, 3, 4, 5])
  })

  it('never holds more than twice its size', () => {
    const { asked, memory } = counted(10)
    for (let i = 0; i < 1000; i++) {
      memory.of(i)
      expect(memory.count).toBeLessThanOrEqual(20)
    }
    memory.of(0)
    expect(asked).toHaveLength(1001)
  })
})

describe('a key', () => {
  it('is the Keccak-256 of the address, or of the slot as 32 bytes', () => {
    const address = '0x00000000000000000000000000000000000a11ce' as Address
    expect(addressKey(address)).toEqual(keccak256(bytesFromHex(address)))
    expect(slotKey(258n)).toEqual(keccak256(paddedBytes(258n, 32)))
    expect(slotKey((1n << 256n) - 1n)).toEqual(keccak256(new Uint8Array(32).fill(255)))
  })
})
