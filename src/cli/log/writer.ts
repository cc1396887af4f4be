// Writes the log without ever making the chain wait: lines are gathered, written together, and dropped (counted) when
// the reader is too slow, so that memory stays bounded.
import { writeSync } from 'node:fs'
import type { Writable } from 'node:stream'

/** Characters that may wait for a slow reader. */
const BACKLOG_LIMIT = 4_000_000

/** How long lines are gathered before they are written: each write takes processor time from the chain. */
const GATHER_MS = 50

/** Where a log goes. `fd` is set for files: what is left at a crash can be written at once there. */
export interface Sink {
  /** Called once, when there is something to write: making a stream at the start would delay the first calls. */
  readonly open: () => Writable
  readonly fd: number | undefined
}

export class LogWriter {
  readonly #sink: Sink
  readonly #describeDropped: (lines: number) => string
  #parts: string[] = []
  #size = 0
  #droppedLines = 0
  #isWriting = false
  #isScheduled = false
  #isBroken = false
  #onIdle: (() => void) | undefined
  #stream: Writable | undefined

  /** @param describeDropped the line that tells of dropped lines, with its line feed */
  constructor(sink: Sink, describeDropped: (lines: number) => string) {
    this.#sink = sink
    this.#describeDropped = describeDropped
  }

  /** Adds whole lines. Returns at once; they are written a little later, together. */
  write(text: string): void {
    if (this.#isBroken) return
    if (this.#size + text.length > BACKLOG_LIMIT) {
      this.#droppedLines += text.split('\n').length - 1
      return
    }
    this.#parts.push(text)
    this.#size += text.length
    this.#schedule()
  }

  /** Resolves when everything is written, or after `deadlineMs` if the reader does not read. */
  async finish(deadlineMs: number): Promise<void> {
    if (this.#isBroken) return
    if (this.#parts.length === 0 && this.#droppedLines === 0 && !this.#isWriting) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
      if (!this.#isWriting) this.#flush()
    })
  }

  /** For the last moment of a process, when nothing can be waited for. */
  flushNow(): void {
    const text = this.#take()
    if (text === '' || this.#isBroken) return
    try {
      if (this.#sink.fd === undefined) this.#opened().write(text)
      else writeSync(this.#sink.fd, text)
    } catch {
      // The disk is full or the reader is gone: there is nobody left to tell.
      this.#break()
    }
  }

  #opened(): Writable {
    if (this.#stream !== undefined) return this.#stream
    this.#stream = this.#sink.open()
    // A broken pipe or a full disk ends the log, never the chain.
    this.#stream.on('error', () => this.#break())
    return this.#stream
  }

  #schedule(): void {
    if (this.#isWriting || this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      if (!this.#isWriting) this.#flush()
    }, GATHER_MS).unref()
  }

  #flush(): void {
    const text = this.#take()
    if (text === '' || this.#isBroken) {
      this.#onIdle?.()
      return
    }
    this.#isWriting = true
    this.#opened().write(text, (error) => {
      this.#isWriting = false
      if (error) this.#break()
      if (this.#onIdle !== undefined) this.#flush()
      else if (this.#size + this.#droppedLines > 0) this.#schedule()
    })
  }

  #take(): string {
    if (this.#droppedLines > 0) this.#parts.push(this.#describeDropped(this.#droppedLines))
    const text = this.#parts.join('')
    this.#parts = []
    this.#size = 0
    this.#droppedLines = 0
    return text
  }

  #break(): void {
    this.#isBroken = true
    this.#parts = []
    this.#size = 0
    this.#droppedLines = 0
    this.#onIdle?.()
  }
}
