// Blobs for tests, with the commitments and proofs that the reference implementation (c-kzg 4844) made of them.
import { readFileSync } from 'node:fs'
import { bytesFromHex, hexFromBytes } from '../../../src/core/hex.ts'
import type { BlobSidecar } from '../../../src/protocol/transactions/sidecar.ts'

interface Proven {
  readonly seed: number
  readonly commitment: string
  readonly proof: string
  /** All 128, one after another. */
  readonly cellProofs: string
}

const url = new URL('../../../fixtures/blobs/proofs.json', import.meta.url)
const PROVEN: readonly Proven[] = JSON.parse(readFileSync(url, 'utf8'))

const BLOB_SIZE = 131_072
const POINT_SIZE = 48

/** Seeds of the blobs that there are commitments and proofs of. */
export const SEEDS: readonly number[] = PROVEN.map(({ seed }) => seed)

/** A blob of numbers that follow from a seed, each scalar below the order. */
export function blobOf(seed: number): Uint8Array {
  const blob = new Uint8Array(BLOB_SIZE)
  let state = seed
  for (let at = 0; at < blob.length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    blob[at] = at % 32 === 0 ? state >>> 26 : state >>> 24
  }
  return blob
}

/** The blobs of some seeds, with the proofs of a version. */
export function sidecarOf(version: 0 | 1, seeds: readonly number[]): BlobSidecar {
  const entries = seeds.map(entryOf)
  return {
    version,
    blobs: seeds.map(blobOf),
    commitments: entries.map(({ commitment }) => bytesFromHex(commitment)),
    proofs: entries.flatMap(({ proof, cellProofs }) =>
      pointsOf(bytesFromHex(version === 0 ? proof : cellProofs)),
    ),
  }
}

/** The library that clients are to be given for blobs; it knows those of the seeds. */
export const kzg = {
  blobToKzgCommitment: (blob: Uint8Array): Uint8Array => bytesFromHex(entryFor(blob).commitment),
  computeBlobKzgProof: (blob: Uint8Array, _commitment: Uint8Array): Uint8Array =>
    bytesFromHex(entryFor(blob).proof),
}

function pointsOf(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / POINT_SIZE }, (_, i) =>
    bytes.slice(i * POINT_SIZE, (i + 1) * POINT_SIZE),
  )
}

function entryOf(seed: number): Proven {
  const entry = PROVEN.find((each) => each.seed === seed)
  if (entry === undefined) throw new Error(`no proofs of the blob of seed ${seed}`)
  return entry
}

function entryFor(blob: Uint8Array): Proven {
  const seed = SEEDS.find((each) => Buffer.compare(blobOf(each), blob) === 0)
  if (seed === undefined)
    throw new Error(`no proofs of the blob ${hexFromBytes(blob).slice(0, 66)}`)
  return entryOf(seed)
}
