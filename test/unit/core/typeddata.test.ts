// EIP-712: digests against ethers and viem, and the refusals of values that do not fit their types.
import { TypedDataEncoder } from 'ethers'
import fc from 'fast-check'
import { hashTypedData } from 'viem'
import { describe, expect, it } from 'vitest'
import { hexFromBytes } from '../../../src/core/hex.ts'
import { parseTypedData, typedDataDigest } from '../../../src/core/typeddata.ts'

const digest = (value: unknown): string => hexFromBytes(typedDataDigest(parseTypedData(value)))

const domain = {
  name: 'Ether Mail',
  version: '1',
  chainId: 1,
  verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
} as const

const types = {
  Person: [
    { name: 'name', type: 'string' },
    { name: 'wallet', type: 'address' },
  ],
  Mail: [
    { name: 'from', type: 'Person' },
    { name: 'to', type: 'Person[]' },
    { name: 'grid', type: 'uint8[2][]' },
    { name: 'delta', type: 'int16' },
    { name: 'tag', type: 'bytes4' },
    { name: 'body', type: 'bytes' },
    { name: 'urgent', type: 'bool' },
    { name: 'amount', type: 'uint256' },
  ],
}

const person = (name: string): { name: string; wallet: string } => ({
  name,
  wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826',
})

const message = {
  from: person('Cow'),
  to: [person('Bob'), person('Zoë')],
  grid: [
    [1, 2],
    [3, 255],
  ],
  delta: -32768,
  tag: '0xdeadbeef',
  body: '0x00ff',
  urgent: true,
  amount: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
}

describe('the digest of typed data', () => {
  it('equals that of the standard’s own example', () => {
    const mail = {
      domain,
      primaryType: 'Mail',
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'version', type: 'string' },
          { name: 'chainId', type: 'uint256' },
          { name: 'verifyingContract', type: 'address' },
        ],
        Person: types.Person,
        Mail: [
          { name: 'from', type: 'Person' },
          { name: 'to', type: 'Person' },
          { name: 'contents', type: 'string' },
        ],
      },
      message: {
        from: person('Cow'),
        to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
        contents: 'Hello, Bob!',
      },
    }
    expect(digest(mail)).toBe('0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2')
  })

  it('equals that of ethers and viem for nested structs, nested arrays and every kind of value', () => {
    const data = { types, primaryType: 'Mail', domain, message }
    expect(digest(data)).toBe(TypedDataEncoder.hash(domain, types, message))
    expect(digest(data)).toBe(hashTypedData(data as Parameters<typeof hashTypedData>[0]))
  })

  it('equals that of ethers for random integers, bytes and lists', () => {
    const random = {
      Item: [
        { name: 'words', type: 'bytes32[]' },
        { name: 'low', type: 'int256' },
        { name: 'high', type: 'uint64' },
        { name: 'text', type: 'string' },
      ],
    }
    const hex = (bytes: Uint8Array): string => hexFromBytes(bytes)
    const item = fc.record({
      words: fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hex), { maxLength: 4 }),
      low: fc.bigInt({ min: -(1n << 255n), max: (1n << 255n) - 1n }).map(String),
      high: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }).map(String),
      text: fc.string({ unit: 'grapheme' }).filter((text) => text.isWellFormed()),
    })
    fc.assert(
      fc.property(item, (value) => {
        const data = { types: random, primaryType: 'Item', domain, message: value }
        expect(digest(data)).toBe(TypedDataEncoder.hash(domain, random, value))
      }),
      { numRuns: 40 },
    )
  })

  it('derives the domain’s type from the members it has', () => {
    for (const each of [{}, { name: 'A' }, { chainId: 33, salt: `0x${'11'.repeat(32)}` }]) {
      const data = { types: { A: [{ name: 'x', type: 'uint8' }] }, primaryType: 'A', domain: each }
      expect(digest({ ...data, message: { x: 1 } })).toBe(
        TypedDataEncoder.hash(each, data.types, { x: 1 }),
      )
    }
  })

  it.each([
    ['the domain’s own type', { primaryType: 'EIP712Domain', types: { EIP712Domain: [] } }],
    [
      'the domain’s own type, which has members',
      {
        primaryType: 'EIP712Domain',
        domain: { chainId: 33 },
        types: { EIP712Domain: [{ name: 'chainId', type: 'uint256' }] },
      },
    ],
    [
      'a type without members',
      { primaryType: 'Nothing', types: { EIP712Domain: [], Nothing: [] } },
    ],
  ])('needs no message of %s', (_what, given) => {
    const data = { domain: {}, ...given }
    const viems = hashTypedData({ ...data, message: {} } as Parameters<typeof hashTypedData>[0])
    expect(digest(data)).toBe(viems)
    expect(digest({ ...data, message: null })).toBe(viems)
    expect(() => digest({ ...data, message: 5 })).toThrow('message: expected an object, got 5')
  })

  it('needs the message of a type with members', () => {
    const data = { types: { A: [{ name: 'x', type: 'uint8' }] }, primaryType: 'A', domain: {} }
    expect(() => digest(data)).toThrow('message: expected an object, got undefined')
  })

  it('ends a type that contains itself where the value leaves it out', () => {
    const data = {
      types: {
        Node: [
          { name: 'value', type: 'uint8' },
          { name: 'next', type: 'Node' },
        ],
      },
      primaryType: 'Node',
      domain: {},
    }
    const two = digest({ ...data, message: { value: 1, next: { value: 2, next: null } } })
    const one = digest({ ...data, message: { value: 1 } })
    expect(two).not.toBe(one)
  })
})

describe('a typed data parser', () => {
  const single = (type: string, value: unknown): unknown => ({
    types: { T: [{ name: 'x', type }] },
    primaryType: 'T',
    domain: {},
    message: { x: value },
  })
  it.each([
    ['uint8', 256],
    ['uint8', -1],
    ['int8', 128],
    ['int8', -129],
    ['uint256', '1.5'],
    ['uint256', 1e21],
    ['uint7', 1],
    ['uint264', 1],
    ['bytes4', '0x112233'],
    ['bytes33', '0x11'],
    ['bytes', '0x123'],
    ['bytes', 5],
    ['address', '0x1234'],
    ['bool', 'true'],
    ['string', 7],
    ['string', undefined],
    ['uint8[2]', [1]],
    ['uint8[]', 'x'],
    ['Unknown', {}],
  ])('refuses %s given %j, and names the place', (type, value) => {
    expect(() => digest(single(type, value))).toThrow(/^message\.x/)
  })

  it('accepts a deeply nested value without a stack overflow', () => {
    let value: unknown = null
    for (let i = 0; i < 5000; i++) value = { next: value }
    const data = { types: { N: [{ name: 'next', type: 'N' }] }, primaryType: 'N', domain: {} }
    expect(() => digest({ ...data, message: value })).toThrow('64 structs')
  })

  it('hashes a list of a hundred thousand items', () => {
    expect(digest(single('uint8[]', new Array(100_000).fill(1)))).toMatch(/^0x[0-9a-f]{64}$/)
  })

  it('refuses a type name of thousands of brackets at once', () => {
    expect(() => digest(single(`uint8${'[1]'.repeat(10_000)}x`, 1))).toThrow('256 characters')
  })

  it.each([
    [null, /typed data: expected an object/],
    [{}, /domain: expected an object/],
    [{ domain: {} }, /types: expected an object/],
    [{ domain: {}, types: { A: 1 } }, /types\.A: expected a list/],
    [{ domain: {}, types: { A: [{ name: 'x' }] } }, /types\.A\[0\]: expected name and type/],
    [{ domain: {}, types: {}, primaryType: 'B' }, /primaryType: expected one of EIP712Domain/],
    [
      { domain: {}, types: { A: [{ name: 'x', type: 'bool' }] }, primaryType: 'A' },
      /message: expected an object/,
    ],
  ])('refuses the wrong form %j', (value, message) => {
    expect(() => parseTypedData(value)).toThrow(message)
  })
})
