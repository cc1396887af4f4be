// The file of a chain: objects and ends of states, which are appended and never changed. Its first page says where to look for
// the last end, so that opening it takes the same time however long it is.
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { LruCache } from '../core/lrucache.ts'
import { ByteStack, CorruptStore } from './bytes.ts'
import { type FileCalls, systemFiles } from './files.ts'
import {
  damaged,
  END_LENGTH,
  endOf,
  type Frame,
  frameAt,
  MAGIC,
  pushObject,
  roomFor,
  rootIn,
} from './frames.ts'
import type { Medium } from './objects.ts'

/** Bytes of the first page: the magic, then two slots, written in turn so that one is whole after a crash. */
const PAGE = 512
const SLOTS: readonly number[] = [128, 256]

/** Where the size stands that the file had when a compaction was last considered, as in a slot. */
const LOOK = 384

/** Bytes of a slot: where the file ends with an end, and a CRC-32 of that. */
const SLOT = 12

/** Bytes read at once, and how many such pieces are kept: 8 MB. */
const PIECE = 32 * 1024
const PIECES = 128

/** Bytes that are appended before they are written, even without an end. */
const WAITING = 1024 * 1024

/** What opening a file found. */
export interface OpenedLog {
  readonly log: ChainLog
  /** Where the last state stands; undefined for a new file. */
  readonly position: number | undefined
  /** Bytes after it that a crash left, which were cut off. */
  readonly cut: number
}

/**
 * Opens a file, or makes it.
 * @throws {CorruptStore} for a file of another kind or version, which stays as it is
 */
export function openLog(name: string, files: FileCalls = systemFiles): OpenedLog {
  const isNew = !existsSync(name)
  const file = files.open(name, isNew ? 'wx+' : 'r+')
  try {
    if (isNew || files.sizeOf(file) === 0)
      return { log: begin({ file, path: name, files }), position: undefined, cut: 0 }
    return opened({ file, path: name, files })
  } catch (error) {
    files.close(file)
    if (isNew) rmSync(name, { force: true })
    throw error
  }
}

interface OpenFile {
  readonly file: number
  readonly path: string
  readonly files: FileCalls
}

function begin(opened: OpenFile): ChainLog {
  const { file, files } = opened
  const page = Buffer.alloc(PAGE)
  page.set(MAGIC)
  writeWhole(opened, page, 0)
  files.syncNow(file)
  files.syncFolder(path.dirname(opened.path))
  return new ChainLog(opened, PAGE)
}

function opened(open: OpenFile): OpenedLog {
  const { file, files } = open
  const page = Buffer.alloc(PAGE)
  files.read(file, page, PAGE, 0)
  if (!MAGIC.every((byte, at) => page[at] === byte)) {
    throw new CorruptStore(`${open.path}: it is no chain, or one of another version`)
  }
  const size = files.sizeOf(file)
  // the last end that is on the disk for sure, or the beginning
  const known = Math.max(PAGE, ...SLOTS.map((at) => numberIn(page, at) ?? PAGE))
  if (known > size) {
    const message = `the file is cut off: it has ${size} of at least ${known} bytes`
    throw new CorruptStore(`${open.path}: ${message}`)
  }
  const log = new ChainLog(open, size, numberIn(page, LOOK) ?? 0)
  const last = log.lastEnd(known)
  const end = last?.end ?? PAGE
  // which of it a crash left unfinished is not known
  if (end < size && hasDamagedSlots(page)) throw damaged(end, `${open.path}: `)
  return { log: log.cutTo(end), position: last?.position, cut: size - end }
}

/** No slot is whole, though one was written. */
function hasDamagedSlots(page: Buffer): boolean {
  const isWritten = SLOTS.some((at) => page.subarray(at, at + SLOT).some((byte) => byte !== 0))
  return isWritten && SLOTS.every((at) => numberIn(page, at) === undefined)
}

function numberIn(page: Buffer, at: number): number | undefined {
  const isWritten = crc32(page.subarray(at, at + 8)) === page.readUInt32LE(at + 8)
  return isWritten ? page.readDoubleLE(at) : undefined
}

interface End {
  readonly position: number
  /** The first byte after it. */
  readonly end: number
}

const abandoned = new FinalizationRegistry<OpenFile>(({ file, files }) => files.close(file))

export class ChainLog implements Medium {
  readonly #open: OpenFile
  /** Bytes up to the last end. */
  #size: number
  /** Appended since then, and not written yet. */
  readonly #waiting = new ByteStack()
  /** Where they are to be written. */
  #from: number
  #turn = 0
  #lastSync: Promise<void> = Promise.resolve()
  #nextSync: Promise<void> | undefined
  #look: number
  readonly #pieces = new LruCache<number, Buffer>(PIECES / 2)

  constructor(open: OpenFile, size: number, look = 0) {
    this.#look = look
    this.#open = open
    this.#size = size
    this.#from = size
  }

  get size(): number {
    return this.#size
  }

  /** The size at the last `noteLook`. */
  get look(): number {
    return this.#look
  }

  /** Notes that all of it is needed, or that a compaction would not pay. */
  noteLook(): void {
    this.#look = this.#size
    this.#writeNumber(this.#size, LOOK)
  }

  append(bytes: Uint8Array): number {
    const position = this.#from + pushObject(bytes, this.#waiting)
    if (this.#waiting.length > WAITING) this.#flush()
    return position
  }

  /** Writes what was appended, and that a state stands at `position`. If it throws, nothing of it is there. */
  end(position: number): void {
    try {
      this.#waiting.raw(endOf(position))
      this.#flush()
      this.#size = this.#from
    } catch (error) {
      this.discard()
      throw error
    }
  }

  /** Forgets what was appended since the last end. */
  discard(): void {
    this.#waiting.pop(0)
    this.#from = this.#size
    this.#truncate(this.#size)
  }

  #flush(): void {
    const bytes = this.#waiting.pop(0)
    writeWhole(this.#open, bytes, this.#from)
    this.#from += bytes.length
  }

  /**
   * Resolves when all ends so far are on the disk. One at a time, as those of a slow disk would take all threads of node; who
   * comes meanwhile shares the next one.
   */
  sync(): Promise<void> {
    this.#nextSync ??= this.#lastSync.then(() => {
      this.#nextSync = undefined
      const all = this.#syncAll()
      this.#lastSync = all.catch(() => undefined)
      return all
    })
    return this.#nextSync
  }

  async #syncAll(): Promise<void> {
    const end = this.#size
    await this.#open.files.sync(this.#open.file)
    this.#writeSlot(end)
  }

  syncNow(): void {
    const { file, files } = this.#open
    files.syncNow(file)
    this.#writeSlot(this.#size)
  }

  /** Ends with the state at `position`, which needs all of it, and puts it in place of another file. */
  replace(other: string, position: number): void {
    const { files, path: own } = this.#open
    this.end(position)
    this.noteLook()
    this.syncNow()
    files.replace(own, other)
    files.syncFolder(path.dirname(other))
  }

  /** Closes the file as it is. */
  leave(): void {
    this.#open.files.close(this.#open.file)
  }

  /** Closes the file when nobody reads from this log any more. */
  abandon(): void {
    abandoned.register(this, this.#open)
  }

  close(): void {
    try {
      this.syncNow()
    } finally {
      this.leave()
    }
  }

  #writeSlot(end: number): void {
    this.#turn = 1 - this.#turn
    this.#writeNumber(end, SLOTS[this.#turn]!)
  }

  #writeNumber(number: number, at: number): void {
    const slot = Buffer.alloc(SLOT)
    slot.writeDoubleLE(number)
    slot.writeUInt32LE(crc32(slot.subarray(0, 8)), 8)
    writeWhole(this.#open, slot, at)
  }

  read(position: number): Uint8Array {
    const frame = this.#frameAt(position)
    if (frame === undefined || frame.isEnd) throw damaged(position, `${this.#open.path}: `)
    return frame.body
  }

  /**
   * The last end from a known one on, or from the beginning.
   * @throws {CorruptStore} if the known one is damaged: what stands there must not be cut off
   */
  lastEnd(known: number): End | undefined {
    let last = known === PAGE ? undefined : this.#endAt(known - END_LENGTH)
    if (last === undefined && known !== PAGE) {
      throw damaged(known - END_LENGTH, `${this.#open.path}: `)
    }
    for (let at = known; ; ) {
      const frame = this.#frameAt(at)
      if (frame === undefined) return last
      if (frame.isEnd) last = this.#endAt(at)
      at += roomFor(frame.body.length)
    }
  }

  cutTo(end: number): this {
    if (end < this.#size) this.#truncate(end)
    this.#size = end
    this.#from = end
    return this
  }

  #endAt(at: number): End | undefined {
    const position = rootIn(this.#frameAt(at))
    return position === undefined ? undefined : { position, end: at + END_LENGTH }
  }

  #frameAt(at: number): Frame | undefined {
    if (!Number.isSafeInteger(at) || at < PAGE || at > this.#size) return undefined
    return frameAt(at, (from, length) => this.#bytesAt(from, length))
  }

  /** Fewer where the file ends. */
  #bytesAt(at: number, length: number): Buffer {
    const end = Math.min(at + length, this.#size)
    const first = Math.floor(at / PIECE)
    if (end <= (first + 1) * PIECE && end <= this.#size) {
      const from = at - first * PIECE
      return this.#piece(first).subarray(from, from + end - at)
    }
    const bytes = Buffer.allocUnsafe(Math.max(0, end - at))
    return bytes.subarray(0, this.#read(bytes, at))
  }

  #read(bytes: Buffer, at: number): number {
    const { file, files } = this.#open
    return files.read(file, bytes, bytes.length, at)
  }

  #truncate(size: number): void {
    const { file, files } = this.#open
    files.truncate(file, size)
  }

  #piece(index: number): Buffer {
    const known = this.#pieces.get(index)
    const whole = Math.min(PIECE, this.#size - index * PIECE)
    if (known !== undefined && known.length >= whole) return known
    const bytes = Buffer.allocUnsafe(whole)
    const piece = bytes.subarray(0, this.#read(bytes, index * PIECE))
    this.#pieces.set(index, piece)
    return piece
  }
}

function writeWhole({ file, files }: OpenFile, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += files.write(file, bytes.subarray(done), at + done)
  }
}
