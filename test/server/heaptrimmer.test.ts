// Memory goes back after large replies: when it is hinted at, and what a real process makes of it.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { HeapTrimmer } from '../../src/server/heaptrimmer.ts'
import { boot, request } from '../support/process/boot.ts'
import { rawPost } from '../support/wire/raw.ts'
import { call, startTestServer } from '../support/wire/testserver.ts'

const MIB = 1024 * 1024

describe('a garbage collection', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** A heapTrimmer, and how often it hinted. */
  function counted(): { readonly heapTrimmer: HeapTrimmer; readonly hints: () => number } {
    let hints = 0
    const heapTrimmer = new HeapTrimmer(() => {
      hints += 1
    }, 100)
    return { heapTrimmer, hints: () => hints }
  }

  test('is requested thrice after large replies, then no more', () => {
    const { heapTrimmer, hints } = counted()
    heapTrimmer.note(60 * MIB)
    heapTrimmer.note(60 * MIB)
    expect(hints()).toBe(0)
    vi.advanceTimersByTime(250)
    expect(hints()).toBe(1)
    vi.advanceTimersByTime(10_000)
    expect(hints()).toBe(3)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is requested for many long replies, and not for few', () => {
    const { heapTrimmer, hints } = counted()
    for (let i = 0; i < 15; i++) heapTrimmer.note(MIB)
    expect(vi.getTimerCount()).toBe(0)
    heapTrimmer.note(MIB)
    vi.advanceTimersByTime(10_000)
    expect(hints()).toBe(3)
    heapTrimmer.note(15 * MIB)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is delayed while long replies go on', () => {
    const { heapTrimmer, hints } = counted()
    for (let i = 0; i < 50; i++) {
      heapTrimmer.note(20 * MIB)
      vi.advanceTimersByTime(90)
    }
    expect(hints()).toBe(0)
    vi.advanceTimersByTime(10_000)
    expect(hints()).toBe(3)
  })

  test('is not requested after the server has closed', () => {
    const { heapTrimmer, hints } = counted()
    heapTrimmer.note(20 * MIB)
    heapTrimmer.close()
    vi.advanceTimersByTime(10_000)
    expect(hints()).toBe(0)
  })
})

test.each([false, true])(
  'a long reply counts once its client has read it or is gone (plain: %s)',
  async (isPlain) => {
    await using server = await startTestServer({ isPlain })
    const sizes: number[] = []
    const noted = new Promise<void>((resolve) => {
      vi.spyOn(HeapTrimmer.prototype, 'note').mockImplementation((bytes) => {
        sizes.push(bytes)
        resolve()
      })
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    // over 32 MB, of which a client that stops reading leaves most in memory
    socket.write(rawPost(call(1, 'test_long', [4_500_000])))
    await once(socket, 'readable')
    expect(sizes).toEqual([])
    socket.destroy()
    await noted
    expect(sizes).toEqual([expect.toSatisfy((size: number) => size > 32_000_000)])
  },
)

/** Returns 30 million bytes of zeros. */
const LARGE_ANSWER = '0x6301c9c3805ff3'
const LARGE = '0x00000000000000000000000000000000000a11ce'

test.skipIf(process.platform !== 'linux')(
  'a process frees its memory within seconds after two replies of 60 MB',
  async () => {
    const { child, url, stop } = await boot(['--gas-limit', '2000000000'])
    onTestFinished(() => void stop())
    const rssMb = (): number => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
    }
    await request(url, 'hardhat_setCode', LARGE, LARGE_ANSWER)
    const before = rssMb()
    const body = call(1, 'eth_call', [{ to: LARGE, gas: '0x6acfc000' }])
    for (let i = 0; i < 2; i++) {
      const response = await fetch(url, { method: 'POST', body })
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(60_000_000)
    }
    // without a hint 300 MB stay; what stays with it are the engine, which was not there before, and V8's reserve
    await expect.poll(() => rssMb() - before).toBeLessThan(220)
  },
)
