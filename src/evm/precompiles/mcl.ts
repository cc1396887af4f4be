// Elliptic curves by mcl in WebAssembly. Calls mcl's C functions, as its JavaScript interface supports one curve at a time and
// takes hex.
import { paddedBytes } from '../../core/hex.ts'
import { loadedLater } from './precompile.ts'

type OfGroup =
  | ('clear' | 'deserialize' | 'isValid' | 'isValidOrder' | 'isZero')
  | ('normalize' | 'add' | 'mul' | 'mulVec')

/** mcl's C interface, as far as used (mcl/bn.h). */
type FunctionName =
  | ('_malloc' | '_free')
  | `_mclBn_${'init' | 'setMapToMode' | 'setETHserialization' | 'millerLoopVec' | 'finalExp'}`
  | `_mclBnFp_${'setBigEndianMod' | 'getLittleEndian' | 'setInt32' | 'clear' | 'mapToG1'}`
  | ('_mclBnFr_setBigEndianMod' | '_mclBnFp2_mapToG2' | '_mclBnGT_isOne')
  | `_mclBnG${1 | 2}_${OfGroup}`

/** One instance of the library. Functions take memory addresses, the result first, and lengths. */
type Library = { readonly HEAP8: Int8Array } & Readonly<
  Record<FunctionName, (...places: number[]) => number>
>

/** A coordinate is `fields` numbers of the base field. */
export interface Group {
  readonly size: number
  readonly fields: 1 | 2
  readonly prefix: '_mclBnG1' | '_mclBnG2'
}

/** Bytes of a base field element and of a scalar in memory, for all curves. */
const FIELD = 48
export const SCALAR_SIZE = 32

/** mcl checks this against its own compile-time constant. */
const COMPILED_TIME = 46

/** Hash-to-curve mode of RFC 9380, which contains Ethereum's maps. */
const RFC_9380 = 5

export const G1: Group = { size: 3 * FIELD, fields: 1, prefix: '_mclBnG1' }
export const G2: Group = { size: 6 * FIELD, fields: 2, prefix: '_mclBnG2' }

const INPUT_SIZE = 96

interface CurveTraits {
  readonly number: number
  readonly modulus: bigint
  /** Bytes of an encoded base field element, and of its leading zeros. */
  readonly width: number
  readonly padding: number
  readonly imaginaryFirst: boolean
  /** True if each point of the curve is in G1. */
  readonly isG1Whole: boolean
}

/** An invalid point: not on the curve, not in the group, or with a coordinate beyond the field. */
export class NoPoint extends Error {
  override readonly name = 'NoPoint'
}

/** @returns the curve; throws {Unready} until it is loaded */
export function lazyCurve(traits: CurveTraits): () => Curve {
  return loadedLater(async () => new Curve(await load(), traits))
}

async function load(): Promise<Library> {
  const { default: createModule } = await import('mcl-wasm/dist/mcl_c.js')
  const refuse = (): never => {
    throw new Error('no precompile needs random numbers')
  }
  return createModule({ cryptoGetRandomValues: refuse }) as Promise<Library>
}

/** Operations on points at addresses in one curve's memory. */
export class Curve {
  readonly #library: Library
  readonly #traits: CurveTraits
  readonly #input: number
  readonly #modulus: Uint8Array
  readonly #significant: number

  constructor(library: Library, traits: CurveTraits) {
    const problem = library._mclBn_init(traits.number, COMPILED_TIME)
    if (problem !== 0) throw new Error(`mcl refuses the curve ${traits.number}: ${problem}`)
    library._mclBn_setMapToMode(RFC_9380)
    library._mclBn_setETHserialization(1)
    this.#library = library
    this.#traits = traits
    this.#significant = traits.width - traits.padding
    this.#modulus = paddedBytes(traits.modulus, this.#significant)
    this.#input = library._malloc(INPUT_SIZE)
  }

  with<T>(size: number, work: (at: number) => T): T {
    const at = this.#take(size)
    try {
      return work(at)
    } finally {
      this.#library._free(at)
    }
  }

  during<T>(size: number, work: (at: number) => Promise<T>): Promise<T> {
    const at = this.#take(size)
    return work(at).finally(() => this.#library._free(at))
  }

  #take(size: number): number {
    const at = this.#library._malloc(size)
    if (at === 0) throw new Error(`mcl has no room for ${size} bytes`)
    return at
  }

  widthOf(group: Group): number {
    return 2 * group.fields * this.#traits.width
  }

  /**
   * All zeros are the point at infinity.
   * @throws {NoPoint} if it is not on the curve, or with `inGroup` not in the group
   */
  readPoint(group: Group, at: number, bytes: Uint8Array, inGroup: boolean): void {
    const library = this.#library
    if (bytes.every((byte) => byte === 0)) {
      library[`${group.prefix}_clear`](at)
      return
    }
    const half = bytes.length / 2
    this.#readCoordinate(group, at, bytes.subarray(0, half))
    this.#readCoordinate(group, at + group.fields * FIELD, bytes.subarray(half))
    const one = at + 2 * group.fields * FIELD
    library._mclBnFp_setInt32(one, 1)
    if (group.fields === 2) library._mclBnFp_clear(one + FIELD)
    if (library[`${group.prefix}_isValid`](at) === 0) throw new NoPoint('not on the curve')
    const isMember = !inGroup || (group === G1 && this.#traits.isG1Whole)
    if (!isMember && library[`${group.prefix}_isValidOrder`](at) === 0) {
      throw new NoPoint('not in the group')
    }
  }

  /**
   * Reads a compressed point (BLS12-381 only; 48 bytes on G1, 96 on G2).
   * @throws {NoPoint} if there is none, or it is not in the group
   */
  readCompressed(group: Group, at: number, bytes: Uint8Array): void {
    const library = this.#library
    const length = library[`${group.prefix}_deserialize`](at, this.#place(bytes), bytes.length)
    if (length !== bytes.length) throw new NoPoint('not a compressed point')
    // the library ignores the other bytes of the point at infinity
    if (this.isZero(group, at) && !bytes.every((byte, i) => byte === (i === 0 ? 0xc0 : 0))) {
      throw new NoPoint('not the point at infinity')
    }
    if (library[`${group.prefix}_isValidOrder`](at) === 0) throw new NoPoint('not in the group')
  }

  writePoint(group: Group, at: number): Uint8Array {
    const bytes = new Uint8Array(this.widthOf(group))
    if (this.isZero(group, at)) return bytes
    this.#library[`${group.prefix}_normalize`](at, at)
    const half = bytes.length / 2
    this.#writeCoordinate(group, at, bytes.subarray(0, half))
    this.#writeCoordinate(group, at + group.fields * FIELD, bytes.subarray(half))
    return bytes
  }

  isZero(group: Group, at: number): boolean {
    return this.#library[`${group.prefix}_isZero`](at) === 1
  }

  /** 32 bytes, reduced modulo the order. */
  readScalar(at: number, bytes: Uint8Array): void {
    this.#library._mclBnFr_setBigEndianMod(at, this.#place(bytes), bytes.length)
  }

  add(group: Group, to: number, a: number, b: number): void {
    this.#library[`${group.prefix}_add`](to, a, b)
  }

  multiplySum(group: Group, to: number, points: number, scalars: number, count: number): void {
    if (count === 1 && group === G1) this.#library._mclBnG1_mul(to, points, scalars)
    else this.#library[`${group.prefix}_mulVec`](to, points, scalars, count)
  }

  /** True if the product of the pairings is one. No point may be at infinity. */
  isPairingOne(g1: number, g2: number, count: number): boolean {
    if (count === 0) return true
    return this.with(12 * FIELD, (product) => {
      this.#library._mclBn_millerLoopVec(product, g1, g2, count)
      this.#library._mclBn_finalExp(product, product)
      return this.#library._mclBnGT_isOne(product) === 1
    })
  }

  /**
   * Maps a field element to a point of the group.
   * @throws {NoPoint} if it is beyond the field
   */
  mapTo(group: Group, to: number, bytes: Uint8Array): void {
    this.with(group.fields * FIELD, (coordinate) => {
      this.#readCoordinate(group, coordinate, bytes)
      if (group.fields === 1) this.#library._mclBnFp_mapToG1(to, coordinate)
      else this.#library._mclBnFp2_mapToG2(to, coordinate)
    })
  }

  #readCoordinate(group: Group, at: number, bytes: Uint8Array): void {
    for (const [place, digits] of this.#fieldsOf(group, at, bytes)) this.#readField(place, digits)
  }

  /** The numbers of a coordinate: where each is in memory, and its bytes. */
  #fieldsOf({ fields }: Group, at: number, bytes: Uint8Array): (readonly [number, Uint8Array])[] {
    const { width, imaginaryFirst } = this.#traits
    if (fields === 1) return [[at, bytes]]
    const [first, second] = imaginaryFirst ? [at + FIELD, at] : [at, at + FIELD]
    return [
      [first, bytes.subarray(0, width)],
      [second, bytes.subarray(width)],
    ]
  }

  #readField(at: number, bytes: Uint8Array): void {
    const { padding } = this.#traits
    const digits = bytes.subarray(padding)
    const isPadded = bytes.subarray(0, padding).every((byte) => byte === 0)
    if (!isPadded || Buffer.compare(digits, this.#modulus) >= 0) {
      throw new NoPoint('a coordinate is not below the prime')
    }
    this.#library._mclBnFp_setBigEndianMod(at, this.#place(digits), digits.length)
  }

  #writeCoordinate(group: Group, at: number, to: Uint8Array): void {
    for (const [place, digits] of this.#fieldsOf(group, at, to)) this.#writeField(place, digits)
  }

  #writeField(at: number, to: Uint8Array): void {
    const length = this.#library._mclBnFp_getLittleEndian(this.#input, INPUT_SIZE, at)
    if (length === 0) throw new Error('mcl does not give a number of the field')
    const { HEAP8 } = this.#library
    for (let i = 0; i < length; i += 1) to[to.length - 1 - i] = HEAP8[this.#input + i] ?? 0
  }

  #place(bytes: Uint8Array): number {
    this.#library.HEAP8.set(bytes, this.#input)
    return this.#input
  }
}
