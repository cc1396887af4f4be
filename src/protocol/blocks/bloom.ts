// Blooms of logs: which blocks may have a log (Yellow Paper, 4.4.1).
import { keccak256 } from '../../core/crypto/crypto.ts'
import { type Address, bytesFromHex, type Hash } from '../../core/hex.ts'
import { memoize } from '../../core/lrucache.ts'
import type { Log } from './receipt.ts'

const BLOOM_BYTES = 256

const ROOM = 32 * BLOOM_BYTES

export const EMPTY_BLOOM: Uint8Array = new Uint8Array(BLOOM_BYTES)

type BloomItem = Address | Hash

/** Three bits for each address and topic. */
export function bloomOf(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return EMPTY_BLOOM
  const bloom = blooms.next()
  for (const { address, topics } of logs) {
    addTo(bloom, address)
    for (const topic of topics) addTo(bloom, topic)
  }
  return bloom
}

/** Blooms are parts of larger arrays: each array of its own has memory outside of V8's heap, which is allocated and freed alone. */
class Blooms {
  #room = new ArrayBuffer(0)
  #used = 0

  next(): Uint8Array {
    if (this.#used === this.#room.byteLength) {
      this.#room = new ArrayBuffer(ROOM)
      this.#used = 0
    }
    const bloom = new Uint8Array(this.#room, this.#used, BLOOM_BYTES)
    this.#used += BLOOM_BYTES
    return bloom
  }
}

const blooms = new Blooms()

function addTo(bloom: Uint8Array, item: BloomItem): void {
  for (const bit of bitsOf(item)) bloom[byteOf(bit)]! |= maskOf(bit)
}

function byteOf(bit: number): number {
  return BLOOM_BYTES - 1 - (bit >> 3)
}

function maskOf(bit: number): number {
  return 1 << (bit & 7)
}

export function mergeBlooms(blooms: readonly Uint8Array[]): Uint8Array {
  const filled = blooms.filter((bloom) => bloom !== EMPTY_BLOOM)
  const [first = EMPTY_BLOOM] = filled
  if (filled.length <= 1) return first
  const merged = first.slice()
  for (const bloom of filled) {
    for (let i = 0; i < BLOOM_BYTES; i++) merged[i]! |= bloom[i]!
  }
  return merged
}

type Bits = readonly [number, number, number]

/** The bits of alternatives, of which a bloom needs one in each group. Data, as V8 compiles again for each new closure. */
export type BloomTest = readonly (readonly Bits[])[]

/** Hashes once, not for each block. */
export function bloomTest(groups: readonly (readonly BloomItem[])[]): BloomTest {
  return groups.map((alternatives) => alternatives.map(bitsOf))
}

/** No false negatives. @param at where the bloom begins */
export function mayHave(test: BloomTest, bytes: Uint8Array, at = 0): boolean {
  let may = true
  for (const group of test) may &&= hasAny(group, bytes, at)
  return may
}

function hasAny(group: readonly Bits[], bytes: Uint8Array, at: number): boolean {
  let has = false
  for (const bits of group) has ||= hasBits(bits, bytes, at)
  return has
}

function hasBits(bits: Bits, bytes: Uint8Array, at: number): boolean {
  return hasBit(bits[0], bytes, at) && hasBit(bits[1], bytes, at) && hasBit(bits[2], bytes, at)
}

function hasBit(bit: number, bytes: Uint8Array, at: number): boolean {
  return (bytes[at + byteOf(bit)]! & maskOf(bit)) !== 0
}

/** Remembered, as tokens, events and accounts occur again: hashing them took most of a log's time. */
const bitsOf = memoize(1_000, (item: BloomItem): Bits => {
  const hash = keccak256(bytesFromHex(item))
  const bit = (at: number): number => ((hash[at]! << 8) | hash[at + 1]!) & 2047
  return [bit(0), bit(2), bit(4)]
})
