// Files with a checksum: what was damaged, cut off or renamed is as good as none. V8 trusts bytecode blindly.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import { WASM } from './checksum.wasm.ts'

interface Exports {
  readonly memory: WebAssembly.Memory
  readonly checksum: (length: number) => bigint
}

/** Bytes that a file may have. */
const MAX_SIZE = 64_000_000

/** Bytes of the checksum, and of the mark behind it. */
const CHECKSUM_SIZE = 8
const MARK_SIZE = 1

/** What the checksum is made of comes in blocks of so many bytes, the last one filled with zeros. */
const BLOCK = 64

const PAGE = 65_536

/** What a file has. */
export interface Content {
  /** Overwritten by the next file that is read. */
  readonly bytes: Buffer
  /** A number below 256. */
  readonly mark: number
}

/** Reads files that end with a checksum of their bytes, mark and name, and the mark. */
export class SealedFiles {
  readonly #exports = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(WASM, 'base64')))
    .exports as unknown as Exports
  #memory = Buffer.from(this.#exports.memory.buffer)

  /**
   * The content of a file; undefined where it is not as it was written.
   * @throws node's error when there is none, or it cannot be read
   */
  read(file: string): Content | undefined {
    // a pipe of this name would be waited for
    const opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      const stats = fstatSync(opened)
      const size = stats.size - CHECKSUM_SIZE - MARK_SIZE
      if (!stats.isFile() || size < 0 || size > MAX_SIZE) return undefined
      this.#makeRoom(size, file)
      if (readSync(opened, this.#memory, 0, stats.size, 0) !== stats.size) return undefined
      const expected = this.#memory.readBigInt64LE(size)
      const mark = this.#memory[size + CHECKSUM_SIZE]!
      if (this.#checksumOf(size, mark, file) !== expected) return undefined
      return { bytes: this.#memory.subarray(0, size), mark }
    } finally {
      closeSync(opened)
    }
  }

  /** What a file of this name is to have. */
  seal(file: string, { bytes, mark }: Content): Buffer {
    this.#makeRoom(bytes.length, file)
    this.#memory.set(bytes)
    const end = Buffer.alloc(CHECKSUM_SIZE + MARK_SIZE, mark)
    end.writeBigInt64LE(this.#checksumOf(bytes.length, mark, file))
    return Buffer.concat([bytes, end])
  }

  /** Of the first bytes of the memory, a mark and a file's name, all of which stand there afterwards. */
  #checksumOf(size: number, mark: number, file: string): bigint {
    this.#memory[size] = mark
    const end = size + MARK_SIZE + this.#memory.write(path.basename(file), size + MARK_SIZE)
    const length = Math.ceil(end / BLOCK) * BLOCK
    this.#memory.fill(0, end, length)
    return this.#exports.checksum(length)
  }

  #makeRoom(size: number, file: string): void {
    // a character of a name has three bytes at most
    const missing =
      size + CHECKSUM_SIZE + 3 * path.basename(file).length + BLOCK - this.#memory.length
    if (missing <= 0) return
    this.#exports.memory.grow(Math.ceil(missing / PAGE))
    this.#memory = Buffer.from(this.#exports.memory.buffer)
  }
}
