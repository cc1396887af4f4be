// Proofs of blobs, held against those that the reference implementation makes.
import { describe, expect, test } from 'vitest'
import { bytesFromHex } from '../../../../src/core/hex.ts'
import { findWrongBlob } from '../../../../src/evm/precompiles/blobproofs.ts'
import { type BlobSidecar, CELLS } from '../../../../src/protocol/transactions/sidecar.ts'
import { sidecarOf } from '../../../support/evm/blobs.ts'
import { nextTurn } from '../../../support/waiting/turns.ts'

const SIDECARS = [0, 1].map((version) => sidecarOf(version as 0 | 1, [1, 2])) as [
  BlobSidecar,
  BlobSidecar,
]

const INFINITY = new Uint8Array(48).fill(0xc0, 0, 1)

/** A blob that is 5 everywhere, and its commitment: 5 times the generator. */
const FIVES = new Uint8Array(131_072).map((_, i) => (i % 32 === 31 ? 5 : 0))
const FIVE = bytesFromHex(
  '0xb0e7791fb972fe014159aa33a98622da3cdc98ff707965e536d8636b5fcc5ac7a91a8c46e59a00dca575af0f18fb13dc',
)

/** A list with another value in one place. */
const withValue = <T>(list: readonly T[], index: number, value: T): T[] =>
  list.map((each, i) => (i === index ? value : each))

/** A point in another place of its list, for one that is there. */
const swapped = <T>(list: readonly T[], a: number, b: number): T[] =>
  list.map((each, i) => (i === a ? list[b]! : i === b ? list[a]! : each))

describe.each(SIDECARS)('blob proofs of version $version', (sidecar) => {
  const { version, blobs, commitments, proofs } = sidecar

  test('are valid if the reference made them', async () => {
    expect(await findWrongBlob(sidecar, nextTurn)).toBe(undefined)
  })

  test('are the point at infinity for blobs of one repeated value', async () => {
    const proofs = Array.from({ length: 2 * (version === 0 ? 1 : CELLS) }, () => INFINITY)
    const flat = {
      version,
      blobs: [new Uint8Array(131_072), FIVES],
      commitments: [INFINITY, FIVE],
      proofs,
    }
    expect(await findWrongBlob(flat, nextTurn)).toBe(undefined)
    expect(await findWrongBlob({ ...flat, commitments: [FIVE, INFINITY] }, nextTurn)).toBe(0)
  })

  test.each<[string, Partial<BlobSidecar>, number]>([
    ['a bit of a blob', { blobs: withValue(blobs, 1, bitFlipped(blobs[1]!, 131_071)) }, 1],
    ['the blobs’ order', { blobs: swapped(blobs, 0, 1) }, 0],
    ['a commitment', { commitments: withValue(commitments, 1, commitments[0]!) }, 1],
    ['a proof', { proofs: withValue(proofs, proofs.length - 1, proofs[0]!) }, 1],
    ['the proofs’ order', { proofs: swapped(proofs, 0, 1) }, 0],
    ['a proof at infinity', { proofs: withValue(proofs, 0, INFINITY) }, 0],
    ['a commitment at infinity', { commitments: withValue(commitments, 0, INFINITY) }, 0],
    ['a proof that is no point', { proofs: withValue(proofs, 0, new Uint8Array(48)) }, 0],
    [
      'a commitment that is not on the curve',
      { commitments: withValue(commitments, 0, bitFlipped(commitments[0]!, 47)) },
      0,
    ],
    ['a proof outside the group', { proofs: withValue(proofs, 0, outside()) }, 0],
  ])('with %s changed are found in their blob', async (_, change, index) => {
    expect(await findWrongBlob({ ...sidecar, ...change }, nextTurn)).toBe(index)
  })

  test('are verified with a turn for others every few milliseconds', async () => {
    let turns = 0
    const four = <T>(list: readonly T[]): T[] => [...list, ...list, ...list, ...list]
    const long = { blobs: four(blobs), commitments: four(commitments), proofs: four(proofs) }
    await findWrongBlob({ ...sidecar, ...long }, async () => {
      turns += 1
      await nextTurn()
    })
    expect(turns).toBeGreaterThanOrEqual(2)
  })
})

function bitFlipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
}

/** A point of the curve with x = 4, compressed, that is not of the group: the curve has many more than the group. */
function outside(): Uint8Array {
  const bytes = new Uint8Array(48)
  bytes[0] = 0x80
  bytes[47] = 4
  return bytes
}
