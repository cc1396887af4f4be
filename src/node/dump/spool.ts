// Keeps bytes that may not fit into memory: first there, then in a file.
import { appendFile, close, mkdtempSync, openSync, read, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { limitExceeded } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promises.ts'

/** Bytes kept in memory. */
const IN_MEMORY = 16 * 2 ** 20

/** Bytes read from the file at a time. */
const READ_SIZE = 2 ** 18

const readAt = promisify(read)
const append = promisify(appendFile)

const unreachable = new FinalizationRegistry<number>((file) => close(file))

export class Spool {
  readonly #inMemory: Uint8Array[] = []
  readonly #limit: number
  #memorySize = 0
  #fileSize = 0
  #file: number | undefined

  /** @param limit bytes kept in memory */
  constructor(limit: number = IN_MEMORY) {
    this.#limit = limit
  }

  get size(): number {
    return this.#memorySize + this.#fileSize
  }

  /** @throws {DevchainError} `LIMIT_EXCEEDED` if the bytes cannot be written to the file, as on a full disk */
  async add(bytes: Uint8Array): Promise<void> {
    if (this.#file === undefined && this.size + bytes.length <= this.#limit) {
      this.#inMemory.push(bytes)
      this.#memorySize += bytes.length
      return
    }
    try {
      this.#file ??= this.#open()
      await append(this.#file, bytes)
      this.#fileSize += bytes.length
    } catch (error) {
      const message = `the result has more than ${this.size} bytes, and the rest cannot be written to ${tmpdir()}: ${(error as Error).message}`
      throw limitExceeded(message)
    }
  }

  /** Functions that read the parts. */
  parts(): readonly (() => MaybePromise<Uint8Array>)[] {
    const parts: (() => MaybePromise<Uint8Array>)[] = this.#inMemory.map((part) => () => part)
    for (let at = 0; at < this.#fileSize; at += READ_SIZE) parts.push(() => this.#read(at))
    return parts
  }

  async #read(at: number): Promise<Uint8Array> {
    const part = Buffer.allocUnsafe(Math.min(READ_SIZE, this.#fileSize - at))
    for (let done = 0; done < part.length; ) {
      const { bytesRead } = await readAt(this.#file!, part, done, part.length - done, at + done)
      if (bytesRead === 0) throw new Error(`the file of a result ends before byte ${at + done}`)
      done += bytesRead
    }
    return part
  }

  /** Without a name, the file goes with the process at the latest. */
  #open(): number {
    const folder = mkdtempSync(path.join(tmpdir(), 'devchain-result-'))
    try {
      const file = openSync(path.join(folder, 'result'), 'wx+', 0o600)
      unreachable.register(this, file)
      return file
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
