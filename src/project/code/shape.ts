// What is stored of compiled code: its length, the bytes filled in later, and hashes of the rest.
import { createHash } from 'node:crypto'
import { OP } from '../../evm/opcodes.ts'

/** Bytes filled in after compilation: library addresses, immutables, a library's own address. */
export interface Hole {
  readonly start: number
  readonly length: number
}

/** As an artifact has it. */
export interface FoundCode {
  /** Hex, with or without 0x, with placeholders for libraries. */
  readonly object: string
  /** The compiler's link and immutable references. */
  readonly references: readonly Hole[]
}

export interface CodeShape {
  readonly length: number
  readonly holes: readonly Hole[]
  /** Hash of the code with holes zeroed. */
  readonly exact: string
  /** The same with metadata hashes zeroed too: those change with every comment. */
  readonly masked: string
  /** Code without the metadata at its end; undefined without metadata. */
  readonly body: { readonly length: number; readonly hash: string } | undefined
  /** A few bytes that rule out most other codes without hashing. */
  readonly probes: readonly Probe[]
}

interface Probe {
  readonly at: number
  readonly value: number
}

const ADDRESS_LENGTH = 20
export const WORD_LENGTH = 32

/** A link reference: 40 characters that begin with two underscores. */
const PLACEHOLDER = /__.{38}/g

/** Keys of contract metadata in CBOR, and the length of the hash after each. */
const METADATA_HASHES: readonly (readonly [key: Buffer, length: number])[] = [
  [Buffer.from('64697066735822', 'hex'), 34],
  [Buffer.from('65627a7a72305820', 'hex'), 32],
  [Buffer.from('65627a7a72315820', 'hex'), 32],
]

const LONGEST_METADATA = 256

function compiledCode({ object, references }: FoundCode) {
  const text = object.startsWith('0x') ? object.slice(2) : object
  const links: Hole[] = []
  const linked = text.replace(PLACEHOLDER, (_, at: number) => {
    links.push({ start: at / 2, length: ADDRESS_LENGTH })
    return '0'.repeat(2 * ADDRESS_LENGTH)
  })
  const code = Buffer.from(linked, 'hex')
  if (code.length === 0 || 2 * code.length !== linked.length) return undefined
  const given = references.filter(({ start, length }) => start + length <= code.length)
  const own = given.length > 0 ? [] : immutablesOf(code)
  return { code, holes: [...links, ...given, ...own, ...selfOf(code)] }
}

/** Undefined for empty or invalid code. */
export function shapeOf(found: FoundCode): CodeShape | undefined {
  const compiled = compiledCode(found)
  if (compiled === undefined) return undefined
  const { code, holes } = compiled
  const filled = withoutHoles(code, holes)
  const body = withoutMetadata(filled)
  const masked = maskedMetadata(filled)
  return {
    length: code.length,
    holes,
    exact: hashOf(filled),
    masked: hashOf(masked),
    body:
      body === undefined
        ? undefined
        : { length: body.length, hash: hashOf(maskedMetadata(Buffer.from(body))) },
    probes: probesOf(masked, filled, holes),
  }
}

export function withoutHoles(code: Uint8Array, holes: readonly Hole[]): Buffer {
  const copy = Buffer.from(code)
  for (const { start, length } of holes) copy.fill(0, start, start + length)
  return copy
}

/** Zeroes all metadata hashes, including those of contracts it creates. */
export function maskedMetadata(code: Buffer): Buffer {
  let masked = code
  for (const [key, length] of METADATA_HASHES) {
    for (let at = code.indexOf(key); at >= 0; at = code.indexOf(key, at + key.length)) {
      if (masked === code) masked = Buffer.from(code)
      masked.fill(0, at + key.length, Math.min(code.length, at + key.length + length))
    }
  }
  return masked
}

/** The code's last two bytes are the length of its metadata; undefined if there is none. */
export function withoutMetadata(code: Uint8Array): Uint8Array | undefined {
  if (code.length < 4) return undefined
  const length = 256 * code[code.length - 2]! + code[code.length - 1]! + 2
  if (length > Math.min(LONGEST_METADATA, code.length - 1)) return undefined
  // a CBOR map of one to four members
  const first = code[code.length - length]!
  return first >= 0xa1 && first <= 0xa4 ? code.subarray(0, code.length - length) : undefined
}

/** Short enough to keep thousands, long enough to be unique. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64').slice(0, 24)
}

export function fitsProbes(code: Uint8Array, probes: readonly Probe[]): boolean {
  const bytes = Buffer.from(code.buffer, code.byteOffset, code.length)
  return probes.every(({ at, value }) => bytes.readUInt32BE(at) === value)
}

const PROBES = 4

/** Bytes at even distances that are the same in every deployment. */
function probesOf(masked: Buffer, filled: Buffer, holes: readonly Hole[]): Probe[] {
  const probes: Probe[] = []
  const isFixed = (at: number): boolean =>
    holes.every(({ start, length }) => at + 4 <= start || at >= start + length) &&
    masked.readUInt32BE(at) === filled.readUInt32BE(at)
  for (let i = 1; i <= PROBES; i++) {
    const at = Math.floor(((masked.length - 4) * i) / (PROBES + 1))
    if (at >= 0 && isFixed(at)) probes.push({ at, value: masked.readUInt32BE(at) })
  }
  return probes
}

/** Immutables whose places the compiler did not give: pushed words of zeros. */
function immutablesOf(code: Buffer): Hole[] {
  const zeros = Buffer.alloc(WORD_LENGTH + 1)
  zeros[0] = OP.PUSH32
  const holes: Hole[] = []
  for (let at = code.indexOf(zeros); at >= 0; at = code.indexOf(zeros, at + zeros.length)) {
    holes.push({ start: at + 1, length: WORD_LENGTH })
  }
  return holes
}

/** A library compares this address with its own, to refuse direct calls. */
function selfOf(code: Buffer): Hole[] {
  const isLibrary =
    code[0] === OP.PUSH20 && code.subarray(1, 1 + ADDRESS_LENGTH).every((b) => b === 0)
  return isLibrary ? [{ start: 1, length: ADDRESS_LENGTH }] : []
}
