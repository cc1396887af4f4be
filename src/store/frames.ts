// How an object stands in bytes: its length, its CRC-32, then the object. A state's end is an object of its own, marked as one.
import { crc32 } from 'node:zlib'
import { type ByteStack, CorruptStore } from './bytes.ts'

/** Changes with every form that older versions cannot read. */
export const FORMAT = 4

/** What each state in bytes begins with, in a file or in memory. */
export const MAGIC: Uint8Array = new TextEncoder().encode(`devchain state ${FORMAT}\n`)

const HEAD = 8

/** Objects begin at multiples of it, so that a bit for each place says where one is. */
export const ALIGNMENT = 8

/** Bytes of an object with its head, and of what follows it until the next one. */
export function roomFor(length: number): number {
  return Math.ceil((HEAD + length) / ALIGNMENT) * ALIGNMENT
}

const NOTHING = new Uint8Array(ALIGNMENT)

/** Zeros up to where the next object may begin. */
export function align(to: ByteStack): void {
  to.raw(NOTHING.subarray(0, -to.length & (ALIGNMENT - 1)))
}

/** @returns where the object begins */
export function pushObject(body: Uint8Array, to: ByteStack): number {
  const start = to.length
  to.raw(headOf(body))
  to.raw(body)
  align(to)
  return start
}

/** Set in the length of an end. */
const END = 0x8000_0000

/** Bytes of an end: the position of the state, a double. */
export const END_LENGTH: number = HEAD + 8

function headOf(body: Uint8Array, isEnd = false): Buffer {
  const head = Buffer.allocUnsafe(HEAD)
  head.writeUInt32LE(isEnd ? body.length + END : body.length, 0)
  head.writeUInt32LE(crc32(body), 4)
  return head
}

/** What stands after all objects of a state. */
export function endOf(position: number): Buffer {
  const body = Buffer.allocUnsafe(8)
  body.writeDoubleLE(position)
  return Buffer.concat([headOf(body, true), body])
}

export interface Frame {
  readonly body: Buffer
  readonly isEnd: boolean
}

/**
 * The object or end at a position; undefined if there is no whole one.
 * @param bytesAt fewer where the file ends
 */
export function frameAt(
  position: number,
  bytesAt: (position: number, length: number) => Buffer,
): Frame | undefined {
  const head = bytesAt(position, HEAD)
  if (head.length < HEAD) return undefined
  const marked = head.readUInt32LE(0)
  const isEnd = marked >= END
  const length = isEnd ? marked - END : marked
  const body = bytesAt(position + HEAD, length)
  const isWhole = body.length === length && crc32(body) === head.readUInt32LE(4)
  return isWhole ? { body, isEnd } : undefined
}

/** Where the root stands that an end names; undefined for no whole end. */
export function rootIn(frame: Frame | undefined): number | undefined {
  const isEnd = frame?.isEnd === true && frame.body.length === END_LENGTH - HEAD
  return isEnd ? frame.body.readDoubleLE() : undefined
}

/** @param file its path and a colon, if there is one */
export function damaged(position: number, file = ''): CorruptStore {
  return new CorruptStore(`${file}the object at byte ${position} is damaged`)
}
