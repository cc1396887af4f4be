// The instance functions that compiled code calls, and the common parts of its modules.
import { TYPE_FUNCTION, TYPE_I32, TYPE_I64 } from './instructions.ts'
import { Writer } from './writer.ts'

/**
 * Signatures of the callable functions: f frame, w a stack word, W one that the result replaces, r room for the result, g gas
 * (returns what is left, below 0 if short), i and l other numbers of 32 and 64 bits.
 */
const TABLE = {
  mul: 'wW',
  div: 'wW',
  mod: 'wW',
  signedDiv: 'wW',
  signedMod: 'wW',
  exp: 'wW',
  signExtend: 'wW',
  byteAt: 'wW',
  leadingZeros: 'W',
  shiftLeft: 'wW',
  shiftRight: 'wW',
  shiftRightSigned: 'wW',
  addMod: 'wwW',
  mulMod: 'wwW',
  payExponent: 'wg',
  expandMemory: 'fllg',
  hashMemory: 'fwwrg',
  copyIn: 'fwwwiig',
  copyWithin: 'fwwwg',
  loadInput: 'fW',
  log: 'fiwwig',
  sloadOrLeave: 'fwrg',
  sstoreOrLeave: 'fwwgl',
  tload: 'fW',
  tstore: 'fww',
  blockHash: 'W',
  blobHash: 'W',
} as const

export type Helper = keyof typeof TABLE

export const SIGNATURES: Readonly<Record<Helper, string>> = TABLE

const HELPERS: readonly Helper[] = Object.keys(SIGNATURES) as Helper[]

const INDEXES: ReadonlyMap<Helper, number> = new Map(HELPERS.map((name, index) => [name, index]))

export function indexOf(helper: Helper): number {
  return INDEXES.get(helper) as number
}

export const TRACE_NAME = 't'

/** Frame to exit. Its type index follows those of the helpers. */
const TRACE_TYPE: number = HELPERS.length

const IMPORTS = 'e'
const SECTION_TYPE = 1
const SECTION_IMPORT = 2
const SECTION_FUNCTION = 3
const SECTION_EXPORT = 7
const SECTION_CODE = 10

export function importsOf(
  memory: WebAssembly.Memory,
  functions: Readonly<Record<string, unknown>>,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const helpers = Object.fromEntries(HELPERS.map((name) => [name, functions[name]]))
  return { [IMPORTS]: { memory, ...helpers } }
}

/** The constant part of a module before its code. */
const HEAD: Uint8Array = makeHead()

function makeHead(): Uint8Array {
  const out = new Writer()
  out.bytes([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
  section(out, SECTION_TYPE, (body) => {
    body.unsigned(HELPERS.length + 1)
    for (const name of HELPERS) signature(body, SIGNATURES[name])
    writeType(body, [TYPE_I32], [TYPE_I32])
  })
  section(out, SECTION_IMPORT, (body) => {
    body.unsigned(HELPERS.length + 1)
    text(body, IMPORTS)
    text(body, 'memory')
    body.bytes([2, 0, 1])
    HELPERS.forEach((name, type) => {
      text(body, IMPORTS)
      text(body, name)
      body.byte(0)
      body.unsigned(type)
    })
  })
  section(out, SECTION_FUNCTION, (body) => {
    body.unsigned(1)
    body.unsigned(TRACE_TYPE)
  })
  section(out, SECTION_EXPORT, (body) => {
    body.unsigned(1)
    text(body, TRACE_NAME)
    body.byte(0)
    body.unsigned(HELPERS.length)
  })
  return out.written.slice()
}

function section(out: Writer, id: number, fill: (body: Writer) => void): void {
  const body = new Writer()
  fill(body)
  out.byte(id)
  out.unsigned(body.length)
  out.bytes(body.written)
}

function signature(out: Writer, takes: string): void {
  const types = [...takes].map((kind) => ('gl'.includes(kind) ? TYPE_I64 : TYPE_I32))
  writeType(out, types, takes.includes('g') ? [TYPE_I64] : [])
}

function writeType(out: Writer, takes: readonly number[], gives: readonly number[]): void {
  out.byte(TYPE_FUNCTION)
  for (const types of [takes, gives]) {
    out.unsigned(types.length)
    out.bytes(types)
  }
}

function text(out: Writer, value: string): void {
  out.unsigned(value.length)
  out.bytes(Buffer.from(value))
}

export function moduleOf(body: readonly Uint8Array[]): Uint8Array {
  const length = body.reduce((sum, part) => sum + part.length, 0)
  const size = new Writer()
  size.unsigned(length)
  const out = new Writer()
  out.bytes(HEAD)
  out.byte(SECTION_CODE)
  out.unsigned(1 + size.length + length)
  out.byte(1)
  out.bytes(size.written)
  for (const part of body) out.bytes(part)
  return out.written.slice()
}
