// How an object stands in bytes: its length, its CRC-32, then the object. A state's end is an object of its own, marked as one.
import { crc32 } from 'node:zlib'
import { CorruptStore } from './bytes.ts'

/** Changes with every form that older versions cannot read. */
export const FORMAT = 3

/** What each state in bytes begins with, in a file or in memory. */
export const MAGIC: Uint8Array = new TextEncoder().encode(`devchain state ${FORMAT}\n`)

export const HEAD = 8

/** Objects begin at multiples of it, so that a bit for each place says where one is. */
export const ALIGNMENT = 8

/** Bytes of an object with its head, and of what follows it until the next one. */
export function roomFor(length: number): number {
  return Math.ceil((HEAD + length) / ALIGNMENT) * ALIGNMENT
}

/** Set in the length of an end. */
const END = 0x8000_0000

/** Bytes of an end: the position of the state, a double. */
export const END_LENGTH: number = HEAD + 8

export function headOf(body: Uint8Array, isEnd = false): Buffer {
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
  readonly length: number
  readonly isEnd: boolean
  readonly crc: number
}

export function frameAt(bytes: Buffer, at: number): Frame {
  const length = bytes.readUInt32LE(at)
  const isEnd = length >= END
  return { length: isEnd ? length - END : length, isEnd, crc: bytes.readUInt32LE(at + 4) }
}

export function isWhole(body: Uint8Array, { crc }: Frame): boolean {
  return crc32(body) === crc
}

/** @param file its path and a colon, if there is one */
export function damaged(position: number, file = ''): CorruptStore {
  return new CorruptStore(`${file}the object at byte ${position} is damaged`)
}
