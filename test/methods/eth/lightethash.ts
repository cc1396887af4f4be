// Ethash as a light miner does it, written from its specification for tests. It shares Keccak-512 of rows with the product, as
// a million of them take ten seconds in JavaScript.
// See https://ethereum.org/en/developers/docs/consensus-mechanisms/pow/mining/mining-algorithms/ethash/
import { keccak_256 } from '@noble/hashes/sha3.js'
import { createKeccak512 } from '../../../src/core/crypto/keccak.ts'
import { WASM } from '../../../src/core/crypto/keccak.wasm.ts'

const keccak512 = createKeccak512(WASM)

/** Bytes of the cache and of the whole data set for blocks 0 to 29,999. */
export const FIRST_EPOCH = { cache: 16_776_896, dataset: 1_073_739_904 } as const

const ROW = 16
const MIX = 32

/** A cache of 32-bit words, 16 a row. */
export type LightCache = Uint32Array

export interface LightResult {
  readonly mixDigest: Uint8Array
  readonly result: bigint
}

/** The cache that grows from a seed of zeros. */
export function lightCache(bytes: number): LightCache {
  const rows = bytes / 64
  const cache = new Uint32Array(rows * ROW)
  let row = wordsOf(keccak512(new Uint8Array(32)))
  for (let i = 0; i < rows; i += 1) {
    if (i > 0) row = wordsOf(keccak512(bytesOf(row)))
    cache.set(row, i * ROW)
  }
  const mixed = new Uint32Array(ROW)
  for (let round = 0; round < 3; round += 1) {
    for (let i = 0; i < rows; i += 1) {
      const one = ((i + rows - 1) % rows) * ROW
      const other = (cache[i * ROW]! % rows) * ROW
      for (let at = 0; at < ROW; at += 1) mixed[at] = cache[one + at]! ^ cache[other + at]!
      cache.set(wordsOf(keccak512(bytesOf(mixed))), i * ROW)
    }
  }
  return cache
}

/** Runs Ethash on a header's hash (32 bytes) and a nonce. */
export function lightHash(
  cache: LightCache,
  dataset: number,
  header: Uint8Array,
  nonce: bigint,
): LightResult {
  const input = new Uint8Array(40)
  input.set(header)
  new DataView(input.buffer).setBigUint64(32, nonce, true)
  const seed = keccak512(input)
  const words = wordsOf(seed)
  const mix = new Uint32Array(MIX)
  mix.set(words)
  mix.set(words, ROW)
  const pages = Math.floor(dataset / 128)
  for (let i = 0; i < 64; i += 1) {
    const page = fnv(i ^ words[0]!, mix[i % MIX]!) % pages
    const data = new Uint32Array(MIX)
    data.set(datasetItem(cache, 2 * page))
    data.set(datasetItem(cache, 2 * page + 1), ROW)
    for (let at = 0; at < MIX; at += 1) mix[at] = fnv(mix[at]!, data[at]!)
  }
  const compressed = new Uint32Array(MIX / 4)
  for (let at = 0; at < MIX; at += 4) {
    compressed[at / 4] = fnv(fnv(fnv(mix[at]!, mix[at + 1]!), mix[at + 2]!), mix[at + 3]!)
  }
  const mixDigest = bytesOf(compressed)
  const last = keccak_256(Uint8Array.of(...seed, ...mixDigest))
  return { mixDigest, result: BigInt(`0x${Buffer.from(last).toString('hex')}`) }
}

function datasetItem(cache: LightCache, index: number): Uint32Array {
  const rows = cache.length / ROW
  const start = (index % rows) * ROW
  let mix = cache.slice(start, start + ROW)
  mix[0]! ^= index
  mix = wordsOf(keccak512(bytesOf(mix)))
  for (let j = 0; j < 256; j += 1) {
    const parent = (fnv(index ^ j, mix[j % ROW]!) % rows) * ROW
    for (let at = 0; at < ROW; at += 1) mix[at] = fnv(mix[at]!, cache[parent + at]!)
  }
  return wordsOf(keccak512(bytesOf(mix)))
}

function fnv(a: number, b: number): number {
  return (Math.imul(a, 0x01000193) ^ b) >>> 0
}

/** Machines that tests run on are little-endian, as Ethash is. */
function wordsOf(bytes: Uint8Array): Uint32Array<ArrayBuffer> {
  return new Uint32Array(bytes.slice().buffer)
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}
