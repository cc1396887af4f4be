// Hashes, keys and signatures, against published vectors and the wallets of ethers.

import { keccak_256, keccak_512 } from '@noble/hashes/sha3.js'
import { getAddress, hashMessage, SigningKey, verifyMessage } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addressOfKey,
  checksumAddress,
  createdAddress,
  EMPTY_CODE_HASH,
  hashBytes,
  keccakHash,
  messageDigest,
  recoverAddress,
  signatureBytes,
  signatureFromBytes,
  signatureFromCompact,
  signDigest,
} from '../../../../src/core/crypto/crypto.ts'
import { createKeccak512, keccak256 } from '../../../../src/core/crypto/keccak.ts'
import { WASM } from '../../../../src/core/crypto/keccak.wasm.ts'
import { bytesFromHex, EMPTY_BYTES, hexFromBytes, parseAddress } from '../../../../src/core/hex.ts'
import { encodeRlp } from '../../../../src/core/rlp.ts'

const KEY = bytesFromHex('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const ADDRESS = parseAddress('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')
const seeded = { seed: 20261121, numRuns: 25 }
const bytes = (length: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: length, maxLength: length })

describe('Keccak in WebAssembly', () => {
  const keccak512 = createKeccak512(WASM)

  test.each([0, 1, 32, 64, 71, 135, 136, 137, 5000])(
    'hashes %i bytes as @noble/hashes does',
    (length) => {
      const bytes = Uint8Array.from({ length }, (_, at) => at * 7)
      expect(keccak256(bytes)).toEqual(keccak_256(bytes))
      if (length <= 71) expect(keccak512(bytes)).toEqual(keccak_512(bytes))
    },
  )
})

describe('an address or hash', () => {
  test('of no bytes is the well-known Keccak-256 of nothing', () => {
    expect(keccakHash(EMPTY_BYTES)).toBe(EMPTY_CODE_HASH)
    expect(hexFromBytes(hashBytes(EMPTY_CODE_HASH))).toBe(EMPTY_CODE_HASH)
  })

  test('of the first key of the well-known mnemonic is the well-known one', () => {
    expect(addressOfKey(KEY)).toBe(ADDRESS)
  })

  test.each([`0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`, '0x1234'])(
    'cannot be derived from %s, which is no key',
    (text) => {
      expect(() => addressOfKey(bytesFromHex(text))).toThrow(/expected a private key/)
    },
  )

  test('has the checksum of EIP-55', () => {
    fc.assert(
      fc.property(bytes(20), (raw) => {
        const address = parseAddress(hexFromBytes(raw))
        expect(checksumAddress(address)).toBe(getAddress(address))
      }),
      seeded,
    )
  })

  test('of the first contract of the first account is the one in every tutorial', () => {
    expect(createdAddress(encodeRlp([bytesFromHex(ADDRESS), EMPTY_BYTES]))).toBe(
      '0x5fbdb2315678afecb367f032d93f642f64180aa3',
    )
  })
})

describe('a signature', () => {
  test('recovers to its key, has a low s, and equals the one that ethers makes', () => {
    fc.assert(
      fc.property(bytes(32), bytes(32), (digest, key) => {
        key[0] = 1 // below the order
        const signature = signDigest(digest, key)
        expect(recoverAddress(digest, signature)).toBe(addressOfKey(key))
        expect(signature.s).toBeLessThan(2n ** 255n)
        const theirs = new SigningKey(hexFromBytes(key)).sign(digest)
        expect(hexFromBytes(signatureBytes(signature))).toBe(theirs.serialized)
        expect(signatureFromBytes(signatureBytes(signature))).toEqual(signature)
        const compact = bytesFromHex(theirs.compactSerialized)
        expect(signatureFromCompact(compact)).toEqual(signature)
      }),
      seeded,
    )
  })

  test('over a message verifies in ethers', () => {
    const message = new TextEncoder().encode('hello, wallet')
    const digest = messageDigest(message, 'Ethereum')
    expect(hexFromBytes(digest)).toBe(hashMessage(message))
    const signature = hexFromBytes(signatureBytes(signDigest(digest, KEY)))
    expect(verifyMessage(message, signature).toLowerCase()).toBe(ADDRESS)
  })

  test('over a message differs under another chain name', () => {
    expect(messageDigest(EMPTY_BYTES, 'Other')).not.toEqual(messageDigest(EMPTY_BYTES, 'Ethereum'))
  })

  test('with an r and s that nobody made recovers to nobody', () => {
    expect(() => recoverAddress(new Uint8Array(32), { r: 0n, s: 1n, yParity: 0 })).toThrow(
      /invalid signature/,
    )
  })

  test.each(['0x', `0x${'11'.repeat(64)}`, `0x${'11'.repeat(64)}05`])('is not %s', (text) => {
    expect(() => signatureFromBytes(bytesFromHex(text))).toThrow(/expected a 65-byte signature/)
  })

  test('in compact form has 64 bytes', () => {
    for (const length of [0, 63, 65]) {
      expect(() => signatureFromCompact(new Uint8Array(length))).toThrow(
        `expected a compact signature of 64 bytes, got ${length} bytes`,
      )
    }
  })

  test('may have a v of 0, 1, 27 or 28', () => {
    const parity = (v: number): number =>
      signatureFromBytes(Uint8Array.of(...new Uint8Array(64), v)).yParity
    expect([0, 1, 27, 28].map(parity)).toEqual([0, 1, 0, 1])
  })
})
