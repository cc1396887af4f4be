// What is kept of empty blocks in a row: a list that grows without moving what it has.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHUNK, ENTRY, RunLog } from '../../../../src/node/bulk/runlog.ts'

/** The words of a block, different for each. */
function wordOf(index: number, salt: number): Uint8Array {
  return new Uint8Array(32).map((_, at) => (index * 31 + at * 7 + salt) & 255)
}

/** Adds the next `count` blocks, and leaves their bytes to others. */
function grow(log: RunLog, count: number): void {
  const entries = new Uint8Array(ENTRY * count)
  const view = new DataView(entries.buffer)
  for (let i = 0; i < count; i++) {
    const index = log.length + i
    view.setFloat64(ENTRY * i, 12 * index, true)
    entries.set(wordOf(index, 1), ENTRY * i + 8)
    entries.set(wordOf(index, 2), ENTRY * i + 40)
  }
  log.push(entries)
  entries.fill(0)
}

describe('RunLog', () => {
  it('returns what was added, in pieces of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2 * CHUNK), { maxLength: 5 }), (counts) => {
        const log = new RunLog()
        for (const count of counts) grow(log, count)
        expect(log.length).toBe(counts.reduce((sum, count) => sum + count, 0))
        for (let index = 0; index < log.length; index += 37) {
          expect([...log.hashAt(index)]).toEqual([...wordOf(index, 1)])
          expect([...log.rootAt(index)]).toEqual([...wordOf(index, 2)])
          expect(log.timestampAt(index)).toBe(BigInt(12 * index))
        }
      }),
      { seed: 14, numRuns: 20 },
    )
  })

  it('does not move blocks when more are added', () => {
    const log = new RunLog()
    grow(log, 10)
    const { buffer } = log.hashAt(0)
    for (let i = 0; i < 4; i++) grow(log, CHUNK)
    expect(log.hashAt(0).buffer).toBe(buffer)
    expect(buffer.byteLength).toBe(ENTRY * CHUNK)
  })
})
