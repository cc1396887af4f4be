// The thread that hashes ahead of the miner, where it fails: blocks are mined without it.
import { availableParallelism } from 'node:os'
import { expect, it } from 'vitest'
import { type TimeHasher, TimeHashes } from '../../../../src/node/bulk/timehashes.ts'

/** A module without any function. */
const EMPTY_MODULE = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00)

const hasher: TimeHasher = {
  module: new WebAssembly.Module(EMPTY_MODULE),
  bytes: new Uint8Array(64),
  order: 0,
  timestamps: 0,
  accounts: 0,
  most: 64,
}

it.skipIf(availableParallelism() === 1)('tells what ended it, and gives nothing', async () => {
  const told = await new Promise((resolve) => {
    const hashes = TimeHashes.begin(hasher, new Float64Array(16_384), (error) => {
      expect(hashes?.from(0, 64).length).toBe(0)
      hashes?.close()
      resolve(error)
    })
  })
  expect(told).toMatchObject({ message: expect.stringContaining('not a function') })
})

it('is not begun for a few blocks', () => {
  expect(TimeHashes.begin(hasher, new Float64Array(16_383), () => undefined)).toBe(undefined)
})
