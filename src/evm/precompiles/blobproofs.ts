// Verifies blobs against their commitments by KZG proofs, one per blob (EIP-4844) or per cell (EIP-7594). Scalar arithmetic is
// JavaScript, the curve is mcl.
import { createHash } from 'node:crypto'
import { invert, pow } from '@noble/curves/abstract/modular.js'
import { paddedBytes } from '../../core/hex.ts'
import { type YieldIfDue, yielder } from '../../core/yield.ts'
import { type BlobSidecar, CELLS } from '../../protocol/transactions/sidecar.ts'
import { bls12381 } from './bls12381.ts'
import { areEqual, readG1, SCALAR_ORDER, sumAt, trustedSetup } from './kzg.ts'
import { G1 } from './mcl.ts'
import { whenLoaded } from './precompile.ts'

/** All roots of unity are powers of it. */
const PRIMITIVE_ROOT = 7n

/** Scalars of a blob: values of a polynomial at the roots of unity, in bit-reversed order. */
const SIZE = 4096

/** Scalars of a cell, which determine a remainder polynomial of lower degree. */
const CELL_SIZE = 64

/** `interpolate` leaves out this factor; its callers apply it. */
const SHARE = invert(BigInt(SIZE), SCALAR_ORDER)

/** Points read between two yields: the group check is the slowest part. */
const POINTS_AT_ONCE = 32

/** Prefix of the challenge's hash (consensus specs, deneb and fulu). */
const BLOB_DOMAIN = 'FSBLOBVERIFY_V1_'
const CELLS_DOMAIN = 'RCKZGCBATCH__V1_'

interface ProvenBlob {
  readonly blob: Uint8Array
  readonly commitment: Uint8Array
  readonly proofs: readonly Uint8Array[]
}

/** e(first sum, G2 generator) * e(sum of proofs, power of the secret on G2) = 1. The fields are scalars, not reduced. */
interface Equation {
  /** The first sum: factors of the commitment, the first powers on G1, the proofs. */
  readonly commitment: bigint
  readonly powers: readonly bigint[]
  readonly proofs: readonly bigint[]
  /** The second sum: factors of the proofs. */
  readonly others: readonly bigint[]
  readonly power: 1 | 64
}

/**
 * The index of the first blob that does not match; undefined if all match. `checkSidecar` must have checked sizes and scalars.
 * @param pause awaited several times for each blob
 */
export async function findWrongBlob(
  { version, blobs, commitments, proofs }: BlobSidecar,
  pause: () => Promise<void>,
): Promise<number | undefined> {
  const each = version === 0 ? 1 : CELLS
  const yieldIfDue = yielder(undefined, pause)
  for (const [index, blob] of blobs.entries()) {
    const commitment = commitments[index]!
    const own = proofs.slice(index * each, (index + 1) * each)
    const polynomial = await interpolate(blob, yieldIfDue)
    const proven = { blob, commitment, proofs: own }
    const equation =
      version === 0 ? blobEquation(polynomial, proven) : cellsEquation(polynomial, proven)
    if (!(await holds(equation, proven, yieldIfDue))) return index
  }
  return undefined
}

/**
 * The polynomial's coefficients times `SIZE`, lowest first, not reduced. An inverse Fourier transform, whose input is in the
 * right order.
 */
async function interpolate(blob: Uint8Array, yieldIfDue: YieldIfDue): Promise<bigint[]> {
  const values = scalarsOf(blob)
  const roots = powersOf(invert(rootOfUnity(SIZE), SCALAR_ORDER), SIZE / 2)
  for (let half = 1; half < SIZE; half *= 2) {
    const step = SIZE / 2 / half
    for (let start = 0; start < SIZE; start += 2 * half) {
      for (let i = start; i < start + half; i += 1) {
        const even = values[i]!
        const odd = (values[i + half]! * roots[(i - start) * step]!) % SCALAR_ORDER
        values[i] = even + odd
        values[i + half] = even - odd
      }
    }
    await yieldIfDue()
  }
  return values
}

/**
 * e(C - y·G1 + z·π, G2) = e(π, s·G2), where y is the value at the challenge z.
 * @see https://github.com/ethereum/consensus-specs/blob/dev/specs/deneb/polynomial-commitments.md#verify_blob_kzg_proof
 */
function blobEquation(polynomial: readonly bigint[], { blob, commitment }: ProvenBlob): Equation {
  const z = challenge(BLOB_DOMAIN, paddedBytes(BigInt(SIZE), 16), blob, commitment)
  let y = 0n
  for (let i = SIZE - 1; i >= 0; i -= 1) y = (y * z + polynomial[i]!) % SCALAR_ORDER
  return { commitment: 1n, powers: [-y * SHARE], proofs: [z], others: [-1n], power: 1 }
}

/**
 * All cells at once: e(Σ rᵏ·(C - Iₖ(s)·G1 + hₖ·πₖ), G2) = e(Σ rᵏ·πₖ, s⁶⁴·G2). A cell has the values at the roots of X⁶⁴ = hₖ.
 * Iₖ has these values and a degree below 64: it is the polynomial modulo X⁶⁴ - hₖ. So the cells themselves are not needed, not
 * even for the challenge.
 * @see
 * https://github.com/ethereum/consensus-specs/blob/dev/specs/fulu/polynomial-commitments-sampling.md#verify_cell_kzg_proof_batch_impl
 */
function cellsEquation(
  polynomial: readonly bigint[],
  { blob, commitment, proofs }: ProvenBlob,
): Equation {
  const weights = powersOf(challenge(CELLS_DOMAIN, blob, commitment, ...proofs), CELLS)
  const roots = powersOf(rootOfUnity(CELLS), CELLS)
  const places = weights.map((_, cell) => reversed(cell))
  const parts = Array.from(
    { length: SIZE / CELL_SIZE },
    (_, part) =>
      (sumOf(weights, (weight, cell) => weight * roots[(places[cell]! * part) % CELLS]!) * SHARE) %
      SCALAR_ORDER,
  )
  const powers = Array.from({ length: CELL_SIZE }, (_, i) =>
    sumOf(parts, (part, at) => part * polynomial[at * CELL_SIZE + i]!),
  )
  return {
    commitment: sumOf(weights, (weight) => weight),
    powers: powers.map((power) => -power),
    proofs: weights.map((weight, cell) => weight * roots[places[cell]!]!),
    others: weights.map((weight) => -weight),
    power: 64,
  }
}

/** The bit-reversed cell index: the power of the root of unity for hₖ. */
function reversed(cell: number): number {
  let [bits, rest] = [0, cell]
  for (let size = CELLS; size > 1; size /= 2) {
    bits = 2 * bits + (rest % 2)
    rest = Math.floor(rest / 2)
  }
  return bits
}

/** False also if a commitment or proof is not in the group. */
async function holds(
  equation: Equation,
  { commitment, proofs }: ProvenBlob,
  yieldIfDue: YieldIfDue,
): Promise<boolean> {
  const curve = await whenLoaded(bls12381)
  const { onG1, onG2 } = await whenLoaded(trustedSetup)
  const powers = onG1.slice(0, equation.powers.length)
  const count = 1 + powers.length + proofs.length
  return curve.during(count * G1.size, async (points) => {
    const placeOf = (index: number): number => points + index * G1.size
    for (const [i, power] of powers.entries()) curve.readPoint(G1, placeOf(i), power, false)
    for (const [i, point] of [commitment, ...proofs].entries()) {
      if (!readG1(curve, placeOf(powers.length + i), point)) return false
      if (i % POINTS_AT_ONCE === 0) await yieldIfDue()
    }
    await yieldIfDue()
    const scalars = [...equation.powers, equation.commitment, ...equation.proofs]
    const first = sumAt(curve, points, scalars)
    await yieldIfDue()
    const second = sumAt(curve, placeOf(powers.length + 1), equation.others)
    await yieldIfDue()
    return areEqual(curve, first, second, onG2[equation.power])
  })
}

function challenge(domain: string, ...parts: readonly Uint8Array[]): bigint {
  const hash = createHash('sha256').update(domain)
  for (const part of parts) hash.update(part)
  return BigInt(`0x${hash.digest('hex')}`) % SCALAR_ORDER
}

function scalarsOf(blob: Uint8Array): bigint[] {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  return Array.from({ length: SIZE }, (_, i) => {
    let scalar = 0n
    for (let at = i * 32; at < (i + 1) * 32; at += 8)
      scalar = (scalar << 64n) | view.getBigUint64(at)
    return scalar
  })
}

function sumOf(values: readonly bigint[], term: (value: bigint, index: number) => bigint): bigint {
  let sum = 0n
  for (let i = 0; i < values.length; i += 1) sum += term(values[i]!, i)
  return sum % SCALAR_ORDER
}

function rootOfUnity(order: number): bigint {
  return pow(PRIMITIVE_ROOT, (SCALAR_ORDER - 1n) / BigInt(order), SCALAR_ORDER)
}

function powersOf(base: bigint, count: number): bigint[] {
  const powers = [1n]
  while (powers.length < count) powers.push((powers.at(-1)! * base) % SCALAR_ORDER)
  return powers
}
