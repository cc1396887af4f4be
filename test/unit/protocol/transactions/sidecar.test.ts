// Blobs beside a transaction: how they are sent, and what is wrong with them before any curve is asked.
import { describe, expect, test } from 'vitest'
import { writeTypedRlp } from '../../../../src/core/fastrlp/writer.ts'
import { EMPTY_BYTES, type Hash, paddedBytes, parseAddress } from '../../../../src/core/hex.ts'
import { decodeRlp, type RlpValue } from '../../../../src/core/rlp.ts'
import {
  type BlobSidecar,
  blobHash,
  checkSidecar,
  decodeSent,
  encodeSent,
} from '../../../../src/protocol/transactions/sidecar.ts'
import {
  signTransaction,
  type Transaction,
} from '../../../../src/protocol/transactions/transaction.ts'
import { sidecarOf } from '../../../support/evm/blobs.ts'

const SIDECARS = [sidecarOf(0, [1, 2]), sidecarOf(1, [1, 2])]
const [plain] = SIDECARS as [BlobSidecar]
const HASHES = plain.commitments.map(blobHash)

/** Order of the scalars of BLS12-381. */
const ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n

function withScalar(blob: Uint8Array, index: number, scalar: bigint): Uint8Array {
  const changed = blob.slice()
  changed.set(paddedBytes(scalar, 32), 32 * index)
  return changed
}

function blobTransaction(versionedHashes: readonly Hash[] = HASHES): Transaction {
  return signTransaction(
    {
      type: 3,
      chainId: 33n,
      nonce: 7n,
      gasLimit: 21_000n,
      maxFeePerGas: 2n,
      maxPriorityFeePerGas: 1n,
      to: parseAddress(`0x${'11'.repeat(20)}`),
      value: 5n,
      data: EMPTY_BYTES,
      accessList: [],
      authorizationList: [],
      blobs: { maxFeePerBlobGas: 3n, versionedHashes },
    },
    new Uint8Array(32).fill(1),
  )
}

test('blobHash is the version and the rest of the commitment’s SHA-256', () => {
  // of the point at infinity, which is the commitment of a blob of zeros (EIP-4844)
  const infinity = new Uint8Array(48).fill(0xc0, 0, 1)
  expect(blobHash(infinity)).toBe(
    '0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014',
  )
})

describe('a transaction in its network form', () => {
  const transaction = blobTransaction()

  test.each(SIDECARS)('decodes to transaction and blobs of version $version', (sidecar) => {
    expect(decodeSent(encodeSent(transaction, sidecar))).toEqual({ transaction, sidecar })
  })

  test('may come without its blobs, as in a block', () => {
    expect(decodeSent(transaction.raw)).toEqual({ transaction, sidecar: undefined })
  })

  test.each<[string, (inner: RlpValue) => RlpValue[], RegExp]>([
    ['an unknown version', (inner) => [inner, 2n, [], [], []], /unknown version: expected 1/],
    ['version 0 said', (inner) => [inner, 0n, [], [], []], /unknown version/],
    ['a part missing', (inner) => [inner, [], []], /it has 3 parts/],
    ['a part too many', (inner) => [inner, 1n, [], [], [], []], /it has 6 parts/],
    ['only the transaction', (inner) => [inner], /it has 1 parts/],
    ['blobs that are no list', (inner) => [inner, EMPTY_BYTES, [], []], /unknown version/],
    ['proofs that are no list', (inner) => [inner, [], [], 5n], /proofs is not a list/],
    ['a list for a blob', (inner) => [inner, [[]], [], []], /blobs\[0\] is a list/],
  ])('is refused with %s', (_, parts, message) => {
    const inner = decodeRlp(transaction.raw.subarray(1))
    expect(() => decodeSent(writeTypedRlp(3, parts(inner)))).toThrow(message)
  })
})

describe('checkSidecar refuses', () => {
  const [blob] = plain.blobs as [Uint8Array]

  test.each<[string, Partial<BlobSidecar>, RegExp]>([
    ['one too few', { blobs: [blob] }, /^invalid number of blobs: have 1, expected 2$/],
    ['no commitments', { commitments: [] }, /^invalid number of commitments: have 0, expected 2$/],
    ['the proofs of the other version', { version: 1 }, /proofs: have 2, expected 256$/],
    ['a short blob', { blobs: [blob, blob.subarray(1)] }, /^blobs\[1\]: expected 131072 bytes/],
    [
      'a long commitment',
      { commitments: [new Uint8Array(49), new Uint8Array(48)] },
      /^commitments\[0\]: expected 48 bytes, got 49$/,
    ],
    ['an empty proof', { proofs: [EMPTY_BYTES, EMPTY_BYTES] }, /^proofs\[0\]: expected 48 bytes/],
    [
      'another’s commitment',
      { commitments: [...plain.commitments].reverse() },
      /^blob 0: its commitment has the hash 0x01.*, the transaction says 0x01/,
    ],
    [
      'a scalar that is the order',
      { blobs: [blob, withScalar(blob, 4095, ORDER)] },
      /^blob 1: scalar 4095 is not below the order/,
    ],
  ])('%s', (_, change, message) => {
    expect(() => checkSidecar(HASHES, { ...plain, ...change })).toThrow(message)
  })

  test('no blob whose highest scalar is one below the order', () => {
    const highest = withScalar(blob, 0, ORDER - 1n)
    const [, other] = plain.blobs as [Uint8Array, Uint8Array]
    expect(() => checkSidecar(HASHES, { ...plain, blobs: [highest, other] })).not.toThrow()
  })
})
