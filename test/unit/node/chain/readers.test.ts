// Readers that share one result while it is built.
import { describe, expect, test } from 'vitest'
import { Readers } from '../../../../src/node/chain/readers.ts'

describe('a build that readers share', () => {
  test('is cancelled when the last of them is gone', () => {
    const first = { aborted: false }
    const second = new AbortController()
    const readers = new Readers(first)
    expect(readers.join(second.signal)).toBe(true)
    expect(isCancelled(readers)).toBe(false)
    first.aborted = true
    expect(isCancelled(readers)).toBe(false)
    second.abort()
    expect(isCancelled(readers)).toBe(true)
  })

  test('starts again for a reader that comes after it was cancelled', () => {
    const readers = new Readers({ aborted: true })
    expect(isCancelled(readers)).toBe(true)
    expect(readers.join(undefined)).toBe(false)
    expect(isCancelled(readers)).toBe(true)
  })

  test('serves every reader once it is complete', () => {
    const readers = new Readers({ aborted: false })
    readers.end()
    expect(readers.join(undefined)).toBe(true)
  })

  test('reports the gas used to each reader', () => {
    const reports: (bigint | undefined)[] = []
    const reader = {
      aborted: false,
      onPause: (gasUsed?: bigint) => {
        reports.push(gasUsed)
      },
    }
    const readers = new Readers(reader)
    readers.join(reader)
    readers.onPause(7n)
    expect(reports).toEqual([7n, 7n])
  })

  test('is never cancelled for a reader without a cancellation', () => {
    expect(isCancelled(new Readers(undefined))).toBe(false)
  })
})

function isCancelled(readers: Readers): boolean {
  readers.onPause()
  return readers.aborted
}
