// Transactions are encoded, signed and read as the library that other nodes use does it; malformed ones are refused.
import { Common, Mainnet } from '@ethereumjs/common'
import { createTxFromRLP } from '@ethereumjs/tx'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressOfKey, keccak256, signDigest } from '../../../../src/core/crypto/crypto.ts'
import { DevchainError } from '../../../../src/core/errors.ts'
import {
  bytesFromHex,
  concatBytes,
  hexFromBytes,
  parseAddress,
  wordFromBigint,
} from '../../../../src/core/hex.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../../../src/core/rlp.ts'
import { floorDataGas, intrinsicGas } from '../../../../src/protocol/fees.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../../../../src/protocol/forks.ts'
import {
  authorityOf,
  encodeTransaction,
  impersonate,
  signTransaction,
  type Transaction,
  type TransactionType,
  type UnsignedTransaction,
} from '../../../../src/protocol/transactions/transaction.ts'
import {
  decodeBlockTransaction,
  decodeTransaction,
} from '../../../../src/protocol/transactions/transactiondecoding.ts'

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

/** The rules of a fork as @ethereumjs has them. */
function commonOf(fork: Hardfork): Common {
  const hardfork = fork === 'frontier' ? 'chainstart' : fork
  return new Common({ chain: { ...Mainnet, chainId: 33 }, hardfork: hardfork as never })
}

/** The fork from which on a transaction is valid; replay protection is one too. */
function firstForkOf({ type, chainId }: UnsignedTransaction): Hardfork {
  if (type === 0) return chainId === undefined ? 'frontier' : 'spuriousDragon'
  return ({ 1: 'berlin', 2: 'london', 3: 'cancun', 4: 'prague' } as const)[type]
}

describe('a transaction', () => {
  test('that is signed, encoded and decoded is the same, with the same sender', () => {
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

  test('signed again, or by another key, has the signature of its key', () => {
    const other = bytesFromHex(`0x${'47'.repeat(32)}`)
    fc.assert(
      fc.property(unsigned, (fields) => {
        const signed = signTransaction(fields, KEY)
        expect(signTransaction({ ...fields }, KEY)).toEqual(signed)
        const others = signTransaction(fields, other)
        expect(decodeTransaction(others.raw).from).toBe(addressOfKey(other))
        expect(others.r).not.toBe(signed.r)
      }),
      seeded,
    )
  })

  test('with a known sender and a bad signature is refused', () => {
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const signed = signTransaction(
      { ...fc.sample(unsigned, { ...seeded, numRuns: 1 })[0]!, type: 0, chainId: undefined },
      KEY,
    )
    const high = encodeTransaction({ ...signed, s: order - signed.s, v: 55n - signed.v })
    for (let time = 0; time < 2; time++) {
      const early = { hardfork: 'frontier', allowsImpersonated: false } as const
      expect(decodeBlockTransaction(high, early).from).toBe(FROM)
      expect(() => decodeTransaction(high)).toThrow(/upper half of the order/)
      expect(() => decodeBlockTransaction(high, { ...early, hardfork: 'homestead' })).toThrow(
        /upper half of the order/,
      )
    }
  })

  test('of any type keeps long data once', () => {
    fc.assert(
      fc.property(unsigned, fc.integer({ min: 1000, max: 1100 }), (fields, length) => {
        const data = new Uint8Array(length).fill(length)
        const signed = signTransaction({ ...fields, data }, KEY)
        expect(signed.data).toEqual(data)
        expect(signed.data.buffer === signed.raw.buffer).toBe(length >= 1024)
        expect(decodeTransaction(signed.raw)).toEqual(signed)
      }),
      seeded,
    )
  })

  test('with a signature of nobody keeps it', () => {
    const nobody = encodeTransaction({
      ...impersonate(fc.sample(unsigned, { ...seeded, numRuns: 1 })[0]!, FROM),
      r: 5n,
    })
    for (let time = 0; time < 2; time++) {
      expect(() => decodeTransaction(nobody)).toThrow(/no key gives/)
    }
  })

  test('has the encoding, hash and sender that @ethereumjs/tx computes', () => {
    const common = commonOf('prague')
    fc.assert(
      fc.property(unsigned, (fields) => {
        const signed = signTransaction(fields, KEY)
        const theirs = createTxFromRLP(signed.raw, { common })
        expect(hexFromBytes(theirs.hash())).toBe(signed.hash)
        expect(theirs.getSenderAddress().toString()).toBe(FROM)
        expect(hexFromBytes(theirs.serialize())).toBe(hexFromBytes(signed.raw))
      }),
      seeded,
    )
  })

  test('from the example of EIP-155 has the signature given there', () => {
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
})

describe('intrinsic gas', () => {
  test.each(HARDFORKS)('and the floor under %s equal those of @ethereumjs/tx', (fork) => {
    const common = commonOf(fork)
    fc.assert(
      fc.property(unsigned, (fields) => {
        fc.pre(isAtLeast(fork, firstForkOf(fields)))
        // from osaka on a transaction of the main network has at most 2^24 gas
        const signed = signTransaction({ ...fields, gasLimit: 10_000_000n }, KEY)
        const theirs = createTxFromRLP(signed.raw, { common })
        const [intrinsic, floor] = [intrinsicGas(signed, fork), floorDataGas(signed, fork)]
        expect(intrinsic).toBe(theirs.getIntrinsicGas())
        expect(intrinsic > floor ? intrinsic : floor).toBe(theirs.getMinimumGasLimit())
      }),
      { ...seeded, numRuns: 25 },
    )
  })

  // [fork, creates, data, gas]: EIP-2 from homestead, EIP-2028 from istanbul, EIP-3860 from shanghai
  test.each<[Hardfork, boolean, string, bigint]>([
    ['frontier', false, '0x', 21_000n],
    ['frontier', true, '0x', 21_000n],
    ['homestead', true, '0x', 53_000n],
    ['petersburg', false, '0x0001', 21_000n + 4n + 68n],
    ['istanbul', false, '0x0001', 21_000n + 4n + 16n],
    ['paris', true, `0x${'00'.repeat(33)}`, 53_000n + 33n * 4n],
    ['shanghai', true, `0x${'00'.repeat(33)}`, 53_000n + 33n * 4n + 2n * 2n],
    ['shanghai', false, `0x${'00'.repeat(33)}`, 21_000n + 33n * 4n],
  ])('under %s, creating: %s, with data %s is %d', (fork, isCreation, data, gas) => {
    const lists = { from: FROM, value: 0n, accessList: [], authorizationList: [] }
    const transaction = { to: isCreation ? null : FROM, data: bytesFromHex(data), ...lists }
    expect(intrinsicGas(transaction, fork)).toBe(gas)
  })

  test('is 2,400 per address and 1,900 per key of an access list, and 25,000 per authorization', () => {
    const storageKeys = [1n, 2n, 3n].map(wordFromBigint)
    const one = { chainId: 1n, address: FROM, nonce: 0n, yParity: 0, r: 1n, s: 1n }
    const gas = intrinsicGas(
      {
        from: FROM,
        to: FROM,
        value: 0n,
        data: new Uint8Array(0),
        accessList: [
          { address: FROM, storageKeys },
          { address: FROM, storageKeys: [] },
        ],
        authorizationList: [one, one],
      },
      'prague',
    )
    expect(gas).toBe(21_000n + 2n * 2_400n + 3n * 1_900n + 2n * 25_000n)
  })

  test('has the floor of EIP-7623, the sum of data tokens, from prague on', () => {
    const data = bytesFromHex('0x000102')
    const lists = { accessList: [], authorizationList: [] }
    const transaction = { from: FROM, to: FROM, value: 0n, data, ...lists }
    expect(floorDataGas(transaction, 'prague')).toBe(21_000n + 10n * 9n)
    expect(floorDataGas(transaction, 'cancun')).toBe(0n)
  })
})

describe('an impersonated transaction', () => {
  test('has another hash than an equal one of another sender', () => {
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

/** Defaults for all types: a call of nobody's that costs nothing. */
const plain: UnsignedTransaction = {
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
}

/** An encoding with the item at `place` changed: a number for a field, more of them for an item of its list. */
function changed(transaction: Transaction, place: readonly number[], item: RlpItem): Uint8Array {
  const { type, raw } = transaction
  const list = encodeRlp(replaced(itemsOf(transaction), place, item))
  return type === 0 ? list : concatBytes(raw.subarray(0, 1), list)
}

function itemsOf({ type, raw }: Transaction): readonly RlpItem[] {
  return decodeRlp(type === 0 ? raw : raw.subarray(1)) as readonly RlpItem[]
}

function replaced(items: RlpItem, [first, ...rest]: readonly number[], item: RlpItem): RlpItem {
  if (first === undefined) return item
  const list = items as readonly RlpItem[]
  return list.with(first, replaced(list[first] as RlpItem, rest, item))
}

describe('a transaction decoder refuses', () => {
  const legacy = signTransaction(plain, KEY)
  const typed = signTransaction(
    {
      ...plain,
      type: 4,
      accessList: [{ address: FROM, storageKeys: [wordFromBigint(1n)] }],
      authorizationList: [{ chainId: 33n, address: FROM, nonce: 0n, yParity: 0, r: 1n, s: 1n }],
    },
    KEY,
  )
  const listed = signTransaction({ ...plain, type: 1 }, KEY)
  const dynamic = signTransaction({ ...plain, type: 2 }, KEY)
  const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(0x11)
  const hex = (text: string): Uint8Array => bytesFromHex(text)
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = hex(wordFromBigint(ORDER - legacy.s))
  const short = (transaction: Transaction): Uint8Array => {
    const list = encodeRlp(itemsOf(transaction).slice(0, -1))
    return transaction.type === 0 ? list : concatBytes(transaction.raw.subarray(0, 1), list)
  }

  test.each<[string, Uint8Array, string, RegExp]>([
    ['nothing', bytes(0), 'INVALID_PARAMS', /^malformed transaction: it is empty$/],
    ['a blob transaction of nothing', hex('0x03c0'), 'INVALID_PARAMS', /has 0 fields, expected 14/],
    ['an unknown type', hex('0x05c0'), 'TYPE_NOT_SUPPORTED', /type 0x5 is not .* 0x1 to 0x4,/],
    ['a type in legacy form', hex('0x00c0'), 'TYPE_NOT_SUPPORTED', /type 0x0/],
    ['a type alone', hex('0x02'), 'INVALID_PARAMS', /expected RLP: there are no bytes/],
    ['a type before no list', hex('0x0280'), 'INVALID_PARAMS', /it is not a list/],
    ['bytes that are no RLP', hex('0xf8'), 'INVALID_PARAMS', /expected RLP/],
    ['trailing bytes', concatBytes(legacy.raw, bytes(1)), 'INVALID_PARAMS', /the item ends at/],
    ['trailing bytes', concatBytes(typed.raw, bytes(1)), 'INVALID_PARAMS', /the item ends at/],
  ])('%s', refuses)

  test.each<[string, Uint8Array, RegExp]>([
    ['legacy', short(legacy), /it has 8 fields, expected 9/],
    ['type 1', short(listed), /it has 10 fields, expected 11/],
    ['type 2', short(dynamic), /it has 11 fields, expected 12/],
    ['type 4', short(typed), /it has 12 fields, expected 13/],
  ])('a missing field: %s', (name, raw, message) => refuses(name, raw, 'INVALID_PARAMS', message))

  test.each<[string, number, RlpItem, RegExp]>([
    ['a nonce with leading zeros', 0, hex('0x0001'), /nonce has leading zeros/],
    ['a nonce of a zero byte', 0, hex('0x00'), /nonce has leading zeros/],
    ['a nonce over 8 bytes', 0, bytes(9), /nonce has 9 bytes, at most 8/],
    ['a gas price over 32 bytes', 1, bytes(33), /gasPrice has 33 bytes, at most 32/],
    ['a gas limit over 8 bytes', 2, bytes(9), /gasLimit has 9 bytes, at most 8/],
    ['a recipient of 19 bytes', 3, bytes(19), /to has 19 bytes, expected 20: 0x1111/],
    ['a recipient that is a list', 3, [], /to is a list/],
    ['a value over 32 bytes', 4, bytes(33), /value has 33/],
    ['a value with leading zeros', 4, hex('0x00ff'), /value has leading zeros/],
    ['data that is a list', 5, [bytes(1)], /data is a list/],
    ['a v over 32 bytes', 6, bytes(33), /v has 33/],
    ['an r with leading zeros', 7, hex('0x0001'), /r has leading zeros/],
    ['an s that is a list', 8, [], /s is a list/],
  ])('%s', (name, field, item, message) =>
    refuses(name, changed(legacy, [field], item), 'INVALID_PARAMS', message),
  )

  test.each<[string, number[], RlpItem, RegExp]>([
    ['a chain id over 32 bytes', [0], bytes(33), /chainId has 33/],
    ['a tip over 32 bytes', [2], bytes(33), /maxPriorityFeePerGas has 33/],
    ['a fee with leading zeros', [3], hex('0x0001'), /maxFeePerGas has leading zeros/],
    ['no recipient of a type 4', [5], bytes(0), /set-code transaction \(type 4\) must name `to`/],
    ['an access list that is bytes', [8], bytes(1), /accessList is not a list/],
    ['an entry that is bytes', [8, 0], bytes(20), /accessList\[0\] is not a list/],
    ['an entry of one field', [8, 0], [bytes(20)], /accessList\[0\] has 1 fields, expected 2/],
    ['an entry of 21 bytes', [8, 0, 0], bytes(21), /accessList\[0\]\.address has 21 bytes/],
    ['keys that are bytes', [8, 0, 1], bytes(32), /accessList\[0\]\.storageKeys is not a list/],
    ['a key of 31 bytes', [8, 0, 1, 0], bytes(31), /storageKeys\[0\] must have 32 bytes/],
    ['a key that is a list', [8, 0, 1, 0], [], /storageKeys\[0\] must have 32 bytes/],
    ['authorizations that are bytes', [9], bytes(1), /authorizationList is not a list/],
    ['an authorization of no fields', [9, 0], [], /authorizationList\[0\] has 0 fields/],
    ['its chain id', [9, 0, 0], hex('0x00'), /authorizationList\[0\]\.chainId has leading zeros/],
    ['its address', [9, 0, 1], bytes(0), /authorizationList\[0\]\.address has 0 bytes/],
    ['its nonce', [9, 0, 2], bytes(9), /authorizationList\[0\]\.nonce has 9 bytes/],
    ['its parity', [9, 0, 3], hex('0x0100'), /authorizationList\[0\]\.yParity has 2 bytes/],
    ['its r', [9, 0, 4], bytes(33), /authorizationList\[0\]\.r has 33 bytes/],
    ['its s', [9, 0, 5], [], /authorizationList\[0\]\.s is a list/],
    ['a parity of 2', [10], hex('0x02'), /yParity must be 0 or 1, not 2/],
  ])('%s', (name, place, item, message) =>
    refuses(name, changed(typed, place, item), 'INVALID_PARAMS', message),
  )

  test.each<[string, Uint8Array, RegExp]>([
    ['a v of 5', changed(legacy, [6], hex('0x05')), /v is 5, expected 27, 28 or at least 35/],
    ['a v of 34', changed(legacy, [6], hex('0x22')), /v is 34/],
    ['an r of zero', changed(legacy, [7], bytes(0)), /no key gives r=0/],
    ['an s of zero', changed(legacy, [8], bytes(0)), /no key gives .* s=0/],
    ['an r at the order', changed(legacy, [7], hex(wordFromBigint(ORDER))), /no key gives/],
    ['a high s', changed(legacy, [8], highS), /upper half of the order \(EIP-2\)/],
    ['a typed r of zero', changed(typed, [11], bytes(0)), /no key gives r=0/],
  ])('%s', (name, raw, message) => refuses(name, raw, 'INVALID_SIGNATURE', message))

  test('damaged bytes by name, or decodes another transaction', () => {
    const damage = fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(unsigned, damage, (fields, changes) => {
        const raw = signTransaction(fields, KEY).raw.slice()
        for (const [at, byte] of changes) raw[at % raw.length] = byte
        const outcome = attempt(raw)
        if (outcome instanceof DevchainError) return
        expect(encodeTransaction(outcome)).toEqual(raw)
      }),
      { ...seeded, numRuns: 200 },
    )
  })
})

/** The transaction, or why it is refused. What else is thrown is a bug, and thrown on. */
function attempt(raw: Uint8Array): Transaction | DevchainError {
  try {
    return decodeTransaction(raw)
  } catch (error) {
    if (error instanceof DevchainError) return error
    throw error
  }
}

function refuses(_name: string, raw: Uint8Array, word: string, message: RegExp): void {
  const outcome = attempt(raw)
  expect(outcome).toBeInstanceOf(DevchainError)
  expect(outcome).toMatchObject({ word, message: expect.stringMatching(message) })
}

describe('an authorization', () => {
  const message = [hexFromBytes(Uint8Array.of(33)), FROM, '0x07'].map((text) => bytesFromHex(text))
  const digest = keccak256(concatBytes(Uint8Array.of(5), encodeRlp(message)))
  const given = { chainId: 33n, address: FROM, nonce: 7n, ...signDigest(digest, KEY) }

  test('belongs to whoever signed chain, address and nonce after the byte 5', () => {
    expect(authorityOf(given)).toBe(FROM)
    expect(authorityOf({ ...given, nonce: 8n })).not.toBe(FROM)
  })

  test.each([
    ['an r of zero', { ...given, r: 0n }],
    ['a high s', { ...given, s: 2n ** 256n - 1n }],
    ['a parity that is none', { ...given, yParity: 2 }],
  ])('has no signer with %s', (_, authorization) => {
    expect(authorityOf(authorization)).toBeUndefined()
  })

  // EIP-7702 bounds the parity by a byte: such an authorization is skipped, its transaction stays valid
  test('without a signer does not invalidate its transaction', () => {
    const fields = { ...plain, type: 4 as const, authorizationList: [{ ...given, yParity: 255 }] }
    const signed = signTransaction(fields, KEY)
    expect(decodeTransaction(signed.raw)).toEqual(signed)
  })
})
