// Finds the numbers of old blocks by hash: of the blocks, or of transactions in them. A persistent map takes 500 bytes a block.
import type { Hash } from '../../../core/hex.ts'

/** Digits of a hash that are kept: few others begin with the same. */
const DIGITS = 7

/** Block numbers are below it, so that both fit into 53 bits. */
export const NUMBERS: number = 2 ** 25

/** Sorted: the first digits of a hash, then the block's number. */
type Entries = Float64Array

/** Immutable. What it finds is to be checked: other hashes may begin alike. */
export class HashIndex {
  static readonly none: HashIndex = new HashIndex([])
  /** Each has more entries than the next one. */
  readonly parts: readonly Entries[]

  constructor(parts: readonly Entries[]) {
    this.parts = parts
  }

  static entry(hash: Hash, number: number): number {
    return Number.parseInt(hash.slice(2, 2 + DIGITS), 16) * NUMBERS + number
  }

  /** As `entry`, from the bytes of a hash. */
  static entryOf(bytes: Uint8Array, number: number): number {
    const first = (bytes[0]! << 20) | (bytes[1]! << 12) | (bytes[2]! << 4) | (bytes[3]! >> 4)
    return first * NUMBERS + number
  }

  /** Numbers of blocks, newest first. */
  find(hash: Hash): number[] {
    const first = HashIndex.entry(hash, 0)
    const found: number[] = []
    for (const entries of this.parts) {
      for (let at = firstFrom(entries, first); at < entries.length; at++) {
        const number = entries[at]! - first
        if (number >= NUMBERS) break
        found.push(number)
      }
    }
    return found.sort((a, b) => b - a)
  }

  with(entries: readonly number[]): HashIndex {
    let last: Entries = Float64Array.from(entries).sort()
    const parts = [...this.parts]
    while (parts.length > 0 && parts.at(-1)!.length <= last.length) {
      last = merged(parts.pop()!, last)
    }
    return new HashIndex([...parts, last])
  }

  /** Only blocks with lower numbers. */
  below(end: number): HashIndex {
    return new HashIndex(
      this.parts.map((entries) => entries.filter((entry) => entry % NUMBERS < end)),
    )
  }
}

function firstFrom(entries: Entries, least: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries[middle]! < least) low = middle + 1
    else high = middle
  }
  return low
}

function merged(one: Entries, other: Entries): Entries {
  const all = new Float64Array(one.length + other.length)
  let [a, b] = [0, 0]
  for (let at = 0; at < all.length; at++) {
    const isFirst = b === other.length || (a < one.length && one[a]! <= other[b]!)
    all[at] = isFirst ? one[a++]! : other[b++]!
  }
  return all
}
