// Whether blobs are what their commitments say, by KZG proofs: one for a blob (EIP-4844), or one for each cell of the
// extended blob (EIP-7594). The scalars are JavaScript's; the curve is mcl's.
import { createHash } from 'node:crypto'
import { invert, pow } from '@noble/curves/abstract/modular.js'
import { paddedBytes } from '../../core/hex.ts'
import { type YieldIfDue, yielder } from '../../core/yield.ts'
import { type BlobSidecar, CELLS } from '../../protocol/transactions/sidecar.ts'
import { bls12381 } from './bls12381.ts'
import { areEqual, SCALAR_ORDER, sumAt, trustedSetup } from './kzg.ts'
import { type Curve, G1, NoPoint } from './mcl.ts'
import { whenLoaded } from './precompile.ts'

/** All roots of unity are powers of it. */
const PRIMITIVE_ROOT = 7n

/** Scalars of a blob, which are a polynomial's values at as many roots of unity, in bit-reversed order. */
const SIZE = 4096

/** Scalars of a cell: as many coefficients of its polynomial, of a lower degree, give it back. */
const CELL_SIZE = 64

/** The polynomial is found without this factor, which its users add. */
const SHARE = invert(BigInt(SIZE), SCALAR_ORDER)

/** Points read between two turns of the others: the check that a point is of the group takes longest. */
const POINTS_AT_ONCE = 32

/** Hashed first where a challenge is drawn (consensus specs, deneb and fulu). */
const BLOB_DOMAIN = 'FSBLOBVERIFY_V1_'
const CELLS_DOMAIN = 'RCKZGCBATCH__V1_'

interface ProvenBlob {
  readonly blob: Uint8Array
  readonly commitment: Uint8Array
  readonly proofs: readonly Uint8Array[]
}

/**
 * What a proof comes to: the pairing of a sum with the generator of G2, times that of a sum of proofs with a power of the
 * secret on G2, is one. Scalars, not reduced.
 */
interface Equation {
  /** Of the commitment, of the first powers on G1, of the proofs: the first sum. */
  readonly commitment: bigint
  readonly powers: readonly bigint[]
  readonly proofs: readonly bigint[]
  /** Of the proofs: the second sum. */
  readonly others: readonly bigint[]
  readonly power: 1 | 64
}

/**
 * The index of the first blob that is not what its commitment and proofs say; undefined where all are. Sizes and scalars
 * are checked by `checkSidecar` before.
 * @param pause awaited now and then, several times for each blob
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
 * The coefficients of the polynomial of a blob, lowest first, times `SIZE`: an inverse Fourier transform, for which the
 * values are in the right order as they are. Not reduced, nor always positive.
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
 * All cells at once: e(Σ rᵏ·(C - Iₖ(s)·G1 + hₖ·πₖ), G2) = e(Σ rᵏ·πₖ, s⁶⁴·G2). A cell is the values at the roots of
 * X⁶⁴ = hₖ, and Iₖ, which has these values there and a degree below 64, is what remains of the polynomial when 64
 * exponents more count as a factor hₖ: so the cells themselves are not needed, neither here nor in the challenge.
 * @see https://github.com/ethereum/consensus-specs/blob/dev/specs/fulu/polynomial-commitments-sampling.md#verify_cell_kzg_proof_batch_impl
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

/** The bits of a cell's index from the last to the first: which power of the root of unity its hₖ is. */
function reversed(cell: number): number {
  let [bits, rest] = [0, cell]
  for (let size = CELLS; size > 1; size /= 2) {
    bits = 2 * bits + (rest % 2)
    rest = Math.floor(rest / 2)
  }
  return bits
}

/** False also where a commitment or proof is no point of the group. */
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
      if (!isPoint(curve, placeOf(powers.length + i), point)) return false
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

function isPoint(curve: Curve, at: number, bytes: Uint8Array): boolean {
  try {
    curve.readCompressed(G1, at, bytes)
    return true
  } catch (error) {
    if (error instanceof NoPoint) return false
    throw error
  }
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

/** A root of unity of so high an order, which is a power of two. */
function rootOfUnity(order: number): bigint {
  return pow(PRIMITIVE_ROOT, (SCALAR_ORDER - 1n) / BigInt(order), SCALAR_ORDER)
}

/** The powers 0 and up, so many. */
function powersOf(base: bigint, count: number): bigint[] {
  const powers = [1n]
  while (powers.length < count) powers.push((powers.at(-1)! * base) % SCALAR_ORDER)
  return powers
}
