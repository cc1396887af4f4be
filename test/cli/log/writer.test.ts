// The log's writer: it never waits, loses nothing while the reader keeps up, and stays bounded when it does not.
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { LogWriter } from '../../../src/cli/log/writer.ts'
import { temporaryFolder } from '../../support/process/boot.ts'

const describeDropped = (lines: number): string => `${lines} dropped\n`

/** A reader that takes text only on request. */
function slowReader(): { stream: Writable; taken: string[]; take: () => void } {
  const taken: string[] = []
  let acknowledge: (() => void) | undefined
  const stream = new Writable({
    write: (chunk, _encoding, callback) => {
      taken.push(String(chunk))
      acknowledge = callback
    },
  })
  return { stream, taken, take: () => acknowledge?.() }
}

/** Lets what was gathered be written. */
const turn = async (): Promise<void> => {
  await vi.advanceTimersByTimeAsync(60)
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('LogWriter', () => {
  test('writes lines together, after the current work', async () => {
    const { stream, taken } = slowReader()
    const writer = new LogWriter({ open: () => stream, fd: undefined }, describeDropped)
    writer.write('one\n')
    writer.write('two\n')
    expect(taken).toEqual([])
    await turn()
    expect(taken).toEqual(['one\ntwo\n'])
  })

  test('keeps lines in order while the reader is busy', async () => {
    const { stream, taken, take } = slowReader()
    const writer = new LogWriter({ open: () => stream, fd: undefined }, describeDropped)
    writer.write('one\n')
    await turn()
    writer.write('two\n')
    await turn()
    writer.write('three\n')
    take()
    await turn()
    expect(taken).toEqual(['one\n', 'two\nthree\n'])
  })

  test('drops lines beyond its limit, and says how many', async () => {
    const { stream, taken, take } = slowReader()
    const writer = new LogWriter({ open: () => stream, fd: undefined }, describeDropped)
    writer.write('first\n')
    await turn()
    const line = `${'x'.repeat(999)}\n`
    for (let i = 0; i < 5_000; i++) writer.write(line)
    take()
    await turn()
    expect(taken[1]).toHaveLength(4_000_000 + '1000 dropped\n'.length)
    expect(taken[1]!.endsWith('1000 dropped\n')).toBe(true)
  })

  test('waits no longer than the deadline for a reader that does not read', async () => {
    const { stream } = slowReader()
    const writer = new LogWriter({ open: () => stream, fd: undefined }, describeDropped)
    writer.write('one\n')
    const finished = writer.finish(5)
    await vi.advanceTimersByTimeAsync(5)
    await finished
  })

  test('a file has all lines at the end, however long its disk takes', async () => {
    const file = path.join(temporaryFolder(onTestFinished), 'chain.log')
    const fd = openSync(file, 'a')
    const { stream, taken, take } = slowReader()
    const writer = new LogWriter({ open: () => stream, fd }, describeDropped)
    writer.write('one\n')
    await turn()
    writer.write('two\n')
    let isFinished = false
    const finished = writer.finish(5).then(() => {
      isFinished = true
    })
    await vi.advanceTimersByTimeAsync(2_000)
    expect(isFinished).toBe(false)
    take()
    await turn()
    take()
    await finished
    expect(taken).toEqual(['one\n', 'two\n'])
    writer.write('three\n')
    void writer.finish(5)
    expect(readFileSync(file, 'utf8')).toBe('three\n')
    closeSync(fd)
  })

  test('stops writing when the reader is gone', async () => {
    const stream = new Writable({
      write: (_chunk, _encoding, callback) => callback(new Error('EPIPE')),
    })
    const write = vi.spyOn(stream, 'write')
    const writer = new LogWriter({ open: () => stream, fd: undefined }, describeDropped)
    writer.write('one\n')
    await turn()
    await turn()
    writer.write('two\n')
    await turn()
    // at once: the deadline never comes, as no time goes by
    await writer.finish(1_000)
    writer.flushNow()
    expect(write.mock.calls.map(([text]) => text)).toEqual(['one\n'])
  })

  test('writes the rest to files at once when the process dies', () => {
    const file = path.join(temporaryFolder(onTestFinished), 'a.log')
    const fd = openSync(file, 'a')
    onTestFinished(() => closeSync(fd))
    const writer = new LogWriter({ open: () => slowReader().stream, fd }, describeDropped)
    writer.write('last words\n')
    writer.flushNow()
    expect(readFileSync(file, 'utf8')).toBe('last words\n')
  })
})
