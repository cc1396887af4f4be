// Transactions are encoded, signed and read as the library that other nodes use does it; malformed ones are refused.
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createTxFromRLP } from '@ethereumjs/tx'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressOfKey } from '../../../src/core/crypto.ts'
import { DevchainError } from '../../../src/core/errors.ts'
import { bytesFromHex, hexFromBytes, parseAddress, wordFromBigint } from '../../../src/core/hex.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../../src/core/rlp.ts'
import { floorDataGas, intrinsicGas } from '../../../src/protocol/fees.ts'
import {
  authorityOf,
  decodeTransaction,
  encodeTransaction,
  impersonate,
  signTransaction,
  type TransactionType,
  type UnsignedTransaction,
} from '../../../src/protocol/transaction.ts'

const KEY = bytesFromHex(`0x${'46'.repeat(32)}`)
const FROM = addressOfKey(KEY)
const seeded = { seed: 20261121, numRuns: 60 }

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20, size: 'max' })
  .map((bytes) => parseAddress(hexFromBytes(bytes)))
const accessList = fc.array(
  fc.record({
    address,
    storageKeys: fc.array(fc.bigInt(0n, 2n ** 256n - 1n).map(wordFromBigint), { maxLength: 3 }),
  }),
  { maxLength: 3 },
)
const authorization = fc.record({
  chainId: fc.bigInt(0n, 100n),
  address,
  nonce: fc.bigInt(0n, 2n ** 64n - 2n),
  yParity: fc.constantFrom(0 as const, 1 as const),
  r: fc.bigInt(1n, 2n ** 200n),
  s: fc.bigInt(1n, 2n ** 200n),
})

const unsigned: fc.Arbitrary<UnsignedTransaction> = fc
  .record({
    type: fc.constantFrom<TransactionType>(0, 1, 2, 4),
    nonce: fc.bigInt(0n, 2n ** 64n - 2n),
    gasLimit: fc.bigInt(1_000_000n, 2n ** 40n),
    fee: fc.bigInt(0n, 2n ** 60n),
    tip: fc.bigInt(0n, 2n ** 60n),
    to: fc.option(address),
    value: fc.bigInt(0n, 2n ** 128n),
    data: fc.uint8Array({ maxLength: 100, size: 'max' }),
    accessList,
    authorizationList: fc.array(authorization, { minLength: 1, maxLength: 3 }),
    isProtected: fc.boolean(),
  })
  .map(({ type, fee, tip, to, isProtected, ...rest }) => ({
    ...rest,
    type,
    chainId: type === 0 && !isProtected ? undefined : 33n,
    maxFeePerGas: type < 2 ? fee : fee + tip,
    maxPriorityFeePerGas: type < 2 ? fee : tip,
    to: type === 4 ? (to ?? FROM) : to,
    accessList: type === 0 ? [] : rest.accessList,
    authorizationList: type === 4 ? rest.authorizationList : [],
  }))

const common = new Common({
  chain: { ...Mainnet, chainId: 33 },
  hardfork: Hardfork.Prague,
})

describe('round trips', () => {
  test('what is signed, encoded and decoded again is the same transaction of the same sender', () => {
    fc.assert(
      fc.property(unsigned, (fields) => {
        const signed = signTransaction(fields, KEY)
        expect(signed.from).toBe(FROM)
        expect(decodeTransaction(signed.raw)).toEqual(signed)
        expect(encodeTransaction(signed)).toEqual(signed.raw)
      }),
      seeded,
    )
  })

  test('encoding, hash, sender and gas agree with @ethereumjs/tx', () => {
    fc.assert(
      fc.property(unsigned, (fields) => {
        const signed = signTransaction(fields, KEY)
        const theirs = createTxFromRLP(signed.raw, { common })
        expect(hexFromBytes(theirs.hash())).toBe(signed.hash)
        expect(theirs.getSenderAddress().toString()).toBe(FROM)
        expect(intrinsicGas(signed, 'prague')).toBe(theirs.getIntrinsicGas())
      }),
      seeded,
    )
  })

  test('the example of EIP-155 has the signature that the EIP gives', () => {
    const signed = signTransaction(
      {
        type: 0,
        chainId: 1n,
        nonce: 9n,
        gasLimit: 21_000n,
        maxFeePerGas: 20n * 10n ** 9n,
        maxPriorityFeePerGas: 20n * 10n ** 9n,
        to: parseAddress(`0x${'35'.repeat(20)}`),
        value: 10n ** 18n,
        data: new Uint8Array(0),
        accessList: [],
        authorizationList: [],
      },
      KEY,
    )
    expect(hexFromBytes(signed.raw)).toBe(
      '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
    )
  })

  test('the sum of data tokens makes the floor of EIP-7623, from prague on', () => {
    const data = bytesFromHex('0x000102')
    expect(floorDataGas({ data }, 'prague')).toBe(21_000n + 10n * 9n)
    expect(floorDataGas({ data }, 'cancun')).toBe(0n)
  })
})

describe('impersonation', () => {
  test('equal transactions of different senders have different hashes', () => {
    fc.assert(
      fc.property(unsigned, address, (fields, other) => {
        const [one, two] = [impersonate(fields, FROM), impersonate(fields, other)]
        expect(one.from).toBe(FROM)
        expect(one.hash === two.hash).toBe(other === FROM)
      }),
      seeded,
    )
  })
})

describe('what is refused', () => {
  const legacy = signTransaction(
    {
      type: 0,
      chainId: 33n,
      nonce: 1n,
      gasLimit: 21_000n,
      maxFeePerGas: 7n,
      maxPriorityFeePerGas: 7n,
      to: FROM,
      value: 1n,
      data: new Uint8Array(0),
      accessList: [],
      authorizationList: [],
    },
    KEY,
  )
  const items = decodeRlp(legacy.raw) as readonly RlpItem[]
  const changed = (index: number, item: RlpItem): Uint8Array => encodeRlp(items.with(index, item))
  const bytes = (text: string): Uint8Array => bytesFromHex(text)
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = wordFromBigint(ORDER - legacy.s)

  test.each<[string, Uint8Array, string, RegExp]>([
    ['nothing', new Uint8Array(0), 'INVALID_PARAMS', /empty/],
    ['a blob transaction', bytes('0x03c0'), 'TYPE_NOT_SUPPORTED', /blob transactions \(type 3\)/],
    ['an unknown type', bytes('0x05c0'), 'TYPE_NOT_SUPPORTED', /type 0x5/],
    ['bytes that are no RLP', bytes('0xf8'), 'INVALID_PARAMS', /RLP/],
    ['trailing bytes', Uint8Array.of(...legacy.raw, 0), 'INVALID_PARAMS', /RLP/],
    ['a missing field', encodeRlp(items.slice(0, 8)), 'INVALID_PARAMS', /8 fields, expected 9/],
    [
      'a nonce with leading zeros',
      changed(0, bytes('0x0001')),
      'INVALID_PARAMS',
      /nonce has leading/,
    ],
    [
      'a nonce over 8 bytes',
      changed(0, bytes(`0x${'11'.repeat(9)}`)),
      'INVALID_PARAMS',
      /nonce has 9/,
    ],
    [
      'a value over 32 bytes',
      changed(4, bytes(`0x${'11'.repeat(33)}`)),
      'INVALID_PARAMS',
      /value has 33/,
    ],
    [
      'a recipient of 19 bytes',
      changed(3, bytes(`0x${'11'.repeat(19)}`)),
      'INVALID_PARAMS',
      /to has 19/,
    ],
    ['a recipient that is a list', changed(3, []), 'INVALID_PARAMS', /to is a list/],
    ['data that is a list', changed(5, [Uint8Array.of(1)]), 'INVALID_PARAMS', /data is a list/],
    ['a v of 5', changed(6, Uint8Array.of(5)), 'INVALID_SIGNATURE', /v is 5/],
    ['an r of zero', changed(7, new Uint8Array(0)), 'INVALID_SIGNATURE', /r=0/],
    ['a high s', changed(8, bytes(highS)), 'INVALID_SIGNATURE', /EIP-2/],
  ])('%s', (_, raw, word, message) => {
    const attempt = (): unknown => decodeTransaction(raw)
    expect(attempt).toThrow(message)
    expect(attempt).toThrow(DevchainError)
    try {
      attempt()
    } catch (error) {
      expect((error as DevchainError).word).toBe(word)
    }
  })

  test('an authorization that no key made has no authority', () => {
    const broken = { chainId: 1n, address: FROM, nonce: 0n, yParity: 0 as const, r: 0n, s: 1n }
    expect(authorityOf(broken)).toBeUndefined()
  })
})
