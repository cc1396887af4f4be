// Blob sidecars: blobs, commitments and proofs, which travel beside a type 3 transaction and are in no block.
import { createHash } from 'node:crypto'
import { DevchainError } from '../../core/errors.ts'
import { writeTypedRlp } from '../../core/fastrlp/writer.ts'
import { type Hash, hashFromBytes } from '../../core/hex.ts'
import { decodeRlp, type RlpItem, type RlpValue } from '../../core/rlp.ts'
import type { Transaction } from './transaction.ts'
import { decodeTransaction, MOST_ITEMS, malformed } from './transactiondecoding.ts'

export interface BlobSidecar {
  /** 0: one proof a blob (EIP-4844). 1: one a cell of the extended blob (EIP-7594). */
  readonly version: 0 | 1
  /** 131,072 bytes each: 4,096 scalars of 32 bytes, big-endian. */
  readonly blobs: readonly Uint8Array[]
  /** 48 bytes each: compressed points of G1. */
  readonly commitments: readonly Uint8Array[]
  /** 48 bytes each; those of the first blob come first. */
  readonly proofs: readonly Uint8Array[]
}

export interface SentTransaction {
  readonly transaction: Transaction
  /** Undefined: sent without blobs, as all types but 3 are. */
  readonly sidecar: BlobSidecar | undefined
}

export const CELLS = 128

const BLOB_SIZE = 131_072
const SCALAR_SIZE = 32
const POINT_SIZE = 48

/** First byte of a blob's hash: the KZG version. */
const HASH_VERSION = 1

const SCALAR_ORDER = Buffer.from(
  '73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001',
  'hex',
)

/** EIP-4844. */
export function blobHash(commitment: Uint8Array): Hash {
  const bytes = createHash('sha256').update(commitment).digest()
  bytes[0] = HASH_VERSION
  return hashFromBytes(bytes)
}

/**
 * Canonical, or type 3 in network form: 3, then rlp([transaction, blobs, commitments, proofs]) or rlp([transaction, 1,
 * blobs, commitments, proofs]). Does not check blobs.
 * @see https://eips.ethereum.org/EIPS/eip-7594#networking
 */
export function decodeSent(
  raw: Uint8Array,
  decode: (raw: Uint8Array) => Transaction = decodeTransaction,
): SentTransaction {
  const items = raw[0] === 3 ? decodeRlp(raw.subarray(1), MOST_ITEMS) : raw
  const inner = items instanceof Uint8Array ? undefined : items[0]
  if (items instanceof Uint8Array || inner === undefined || inner instanceof Uint8Array) {
    return { transaction: decode(raw), sidecar: undefined }
  }
  return {
    transaction: decode(writeTypedRlp(3, inner)),
    sidecar: decodeSidecar(items.slice(1)),
  }
}

export function encodeSent(transaction: Transaction, sidecar: BlobSidecar): Uint8Array {
  const { version, blobs, commitments, proofs } = sidecar
  const inner = decodeRlp(transaction.raw.subarray(1)) as readonly RlpItem[]
  const versions: RlpValue[] = version === 0 ? [] : [1n]
  return writeTypedRlp(3, [inner, ...versions, blobs, commitments, proofs])
}

/**
 * Does not verify proofs.
 * @throws {DevchainError} `INVALID_BLOBS`
 */
export function checkSidecar(hashes: readonly Hash[], sidecar: BlobSidecar): void {
  const { version, blobs, commitments, proofs } = sidecar
  checkParts('blobs', blobs, hashes.length, BLOB_SIZE)
  checkParts('commitments', commitments, hashes.length, POINT_SIZE)
  checkParts('proofs', proofs, hashes.length * (version === 0 ? 1 : CELLS), POINT_SIZE)
  for (const [index, hash] of hashes.entries()) {
    const own = blobHash(commitments[index]!)
    if (own !== hash) {
      throw refusal(
        `blob ${index}: its commitment has the hash ${own}, the transaction says ${hash}`,
      )
    }
    const wrong = wrongScalar(blobs[index]!)
    if (wrong === undefined) continue
    throw refusal(`blob ${index}: scalar ${wrong} is not below the order of BLS12-381's scalars`)
  }
}

function checkParts(name: string, parts: readonly Uint8Array[], count: number, size: number): void {
  if (parts.length !== count) {
    throw refusal(`invalid number of ${name}: have ${parts.length}, expected ${count}`)
  }
  const wrong = parts.findIndex(({ length }) => length !== size)
  if (wrong < 0) return
  const { length } = parts[wrong]!
  throw refusal(`${name}[${wrong}]: expected ${size} bytes, got ${length}`)
}

function wrongScalar(blob: Uint8Array): number | undefined {
  for (let at = 0; at < blob.length; at += SCALAR_SIZE) {
    const scalar = blob.subarray(at, at + SCALAR_SIZE)
    if (Buffer.compare(scalar, SCALAR_ORDER) >= 0) return at / SCALAR_SIZE
  }
  return undefined
}

function refusal(problem: string): DevchainError {
  return new DevchainError('INVALID_BLOBS', problem)
}

function decodeSidecar(items: readonly RlpItem[]): BlobSidecar {
  const [version] = items
  const isVersioned = version instanceof Uint8Array
  if (isVersioned && (version.length !== 1 || version[0] !== 1)) {
    throw malformed('its blobs are of an unknown version: expected 1, or none for version 0')
  }
  const parts = isVersioned ? items.slice(1) : items
  if (parts.length !== 3) {
    const expected = 'the transaction, blobs, commitments and proofs'
    throw malformed(`it has ${items.length + 1} parts, expected ${expected}`)
  }
  const [blobs, commitments, proofs] = ['blobs', 'commitments', 'proofs'].map((name, i) =>
    byteStrings(parts[i]!, name),
  ) as [Uint8Array[], Uint8Array[], Uint8Array[]]
  return { version: isVersioned ? 1 : 0, blobs, commitments, proofs }
}

function byteStrings(item: RlpItem, name: string): Uint8Array[] {
  if (item instanceof Uint8Array) throw malformed(`${name} is not a list`)
  return item.map((each, i) => {
    if (each instanceof Uint8Array) return each
    throw malformed(`${name}[${i}] is a list`)
  })
}
