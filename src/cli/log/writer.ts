// Writes the log without delaying the chain: lines are batched, and dropped (counted) when
// the reader is too slow, so that memory stays bounded.
import { closeSync, fstatSync, openSync, statSync, writeFile, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { attempt } from '../../core/errors.ts'

/** Characters buffered for a slow reader. */
const BACKLOG_LIMIT = 4_000_000

/** Milliseconds of batching: each write takes processor time from the chain. */
const GATHER_MS = 50

/** Milliseconds that the end waits for a write to a file that is under way. */
const FILE_MS = 10_000

/** A log's destination. `fd` is set for files, where the rest can be written synchronously on a crash. */
export interface Sink {
  /** Called once, on the first write: making a stream at the start would delay the first calls. */
  readonly open: () => Writable
  readonly fd: number | undefined
  /** Called once when it cannot be written: the log ends. */
  readonly onBroken?: (error: NodeJS.ErrnoException) => void
}

/**
 * Opens the file anew where it was moved away or deleted, as logrotate does, and tries again after a full disk.
 * @param onFailure called once until lines are written again
 */
export function fileSink(
  path: string,
  first: number,
  onFailure: (error: NodeJS.ErrnoException) => void,
): Sink {
  let fd = first
  let isFailing = false
  const onBroken = (error: NodeJS.ErrnoException | null): void => {
    if (error !== null && !isFailing) onFailure(error)
    isFailing = error !== null
  }
  const write: Writable['_write'] = (text, _encoding, done) => {
    const [own, now] = [fstatSync(fd), attempt(() => statSync(path))]
    const isOther = now?.ino !== own.ino || now.dev !== own.dev
    // opening a pipe would wait for its reader
    const isMoved = isOther && now?.isFile() !== false
    const next = isMoved ? attempt(() => openSync(path, 'a')) : undefined
    if (next !== undefined) closeSync(fd)
    fd = next ?? fd
    writeFile(fd, text as Buffer, (error) => {
      onBroken(error)
      done()
    })
  }
  const open = (): Writable => new Writable({ write })
  return {
    open,
    onBroken,
    get fd() {
      return fd
    },
  }
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

  /** @param describeDropped returns the line about dropped lines, with its line feed */
  constructor(sink: Sink, describeDropped: (lines: number) => string) {
    this.#sink = sink
    this.#describeDropped = describeDropped
  }

  /** Queues whole lines; never waits. */
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

  /**
   * Resolves when everything is written.
   * @param patienceMs for a reader that does not read; a file gets all lines, however busy its disk is
   */
  async finish(patienceMs: number): Promise<void> {
    const isFile = this.#sink.fd !== undefined
    if (isFile && !this.#isWriting) this.flushNow()
    if (this.#isBroken) return
    if (this.#parts.length === 0 && this.#droppedLines === 0 && !this.#isWriting) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, isFile ? FILE_MS : patienceMs)
      this.#onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
      if (!this.#isWriting) this.#flush()
    })
  }

  /** Synchronous, for the end of the process. */
  flushNow(): void {
    const text = this.#take()
    if (text === '' || this.#isBroken) return
    try {
      if (this.#sink.fd === undefined) this.#opened().write(text)
      else writeSync(this.#sink.fd, text)
    } catch (error) {
      this.#break(error as Error)
    }
  }

  #opened(): Writable {
    if (this.#stream !== undefined) return this.#stream
    this.#stream = this.#sink.open()
    // A broken pipe or full disk ends the log, never the chain.
    this.#stream.on('error', (error) => this.#break(error))
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
      if (error) this.#break(error)
      if (this.#onIdle !== undefined) this.#flush()
      else if (this.#size + this.#droppedLines > 0) this.#schedule()
    })
  }

  #take(): string {
    if (this.#droppedLines > 0) this.#parts.push(this.#describeDropped(this.#droppedLines))
    const text = this.#parts.join('')
    this.#empty()
    return text
  }

  #break(error: Error): void {
    if (!this.#isBroken) this.#sink.onBroken?.(error)
    this.#isBroken = true
    this.#empty()
    this.#onIdle?.()
  }

  #empty(): void {
    this.#parts = []
    this.#size = 0
    this.#droppedLines = 0
  }
}
