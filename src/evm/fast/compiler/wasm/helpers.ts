// The functions of the instance that compiled code calls, and the parts that all modules of compiled code share.
import { TYPE_FUNCTION, TYPE_I32, TYPE_I64 } from './instructions.ts'
import { Writer } from './writer.ts'

type Signature = readonly [takes: string, gives: string]

/** A function of the instance that compiled code may call. */
export type Helper =
  | 'mul'
  | 'div'
  | 'mod'
  | 'signedDiv'
  | 'signedMod'
  | 'exp'
  | 'signExtend'
  | 'byteAt'
  | 'shiftLeft'
  | 'shiftRight'
  | 'shiftRightSigned'
  | 'addMod'
  | 'mulMod'
  | 'payExponent'
  | 'expandMemory'
  | 'hashMemory'
  | 'copyIn'
  | 'copyWithin'
  | 'loadInput'
  | 'log'
  | 'sloadOrLeave'
  | 'sstoreOrLeave'
  | 'tload'
  | 'tstore'
  | 'blockHash'
  | 'blobHash'
  | 'balanceOrLeave'
  | 'codeSizeOrLeave'
  | 'codeHashOrLeave'

/** i is an i32 (places in memory, counts), l an i64 (gas, offsets). */
const SIGNATURES: Readonly<Record<Helper, Signature>> = {
  mul: ['ii', ''],
  div: ['ii', ''],
  mod: ['ii', ''],
  signedDiv: ['ii', ''],
  signedMod: ['ii', ''],
  exp: ['ii', ''],
  signExtend: ['ii', ''],
  byteAt: ['ii', ''],
  shiftLeft: ['ii', ''],
  shiftRight: ['ii', ''],
  shiftRightSigned: ['ii', ''],
  addMod: ['iii', ''],
  mulMod: ['iii', ''],
  payExponent: ['il', 'l'],
  expandMemory: ['illl', 'l'],
  hashMemory: ['iiiil', 'l'],
  copyIn: ['iiiiiil', 'l'],
  copyWithin: ['iiiil', 'l'],
  loadInput: ['ii', ''],
  log: ['iiiiil', 'l'],
  sloadOrLeave: ['iiil', 'l'],
  sstoreOrLeave: ['iiill', 'l'],
  tload: ['ii', ''],
  tstore: ['iii', ''],
  blockHash: ['i', ''],
  blobHash: ['i', ''],
  balanceOrLeave: ['il', 'l'],
  codeSizeOrLeave: ['il', 'l'],
  codeHashOrLeave: ['il', 'l'],
}

const HELPERS: readonly Helper[] = Object.keys(SIGNATURES) as Helper[]

const INDEXES: ReadonlyMap<Helper, number> = new Map(HELPERS.map((name, index) => [name, index]))

/** The function's number in modules of compiled code. */
export function indexOf(helper: Helper): number {
  return INDEXES.get(helper) as number
}

/** The name under which a module gives its only function. */
export const TRACE_NAME = 't'

/** The type of a trace: the frame goes in, an exit comes out. It stands behind those of the helpers. */
const TRACE_TYPE: number = HELPERS.length

const IMPORTS = 'e'
const SECTION_TYPE = 1
const SECTION_IMPORT = 2
const SECTION_FUNCTION = 3
const SECTION_EXPORT = 7
const SECTION_CODE = 10

/** What a module needs of the instance, besides its memory. */
type HelperFunctions = Readonly<Record<Helper, unknown>>

/** The imports of each module. */
export function importsOf(
  memory: WebAssembly.Memory,
  functions: HelperFunctions,
): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  const helpers = Object.fromEntries(HELPERS.map((name) => [name, functions[name]]))
  return { [IMPORTS]: { memory, ...helpers } }
}

/** Everything of a module before its code: it differs in nothing. */
const HEAD: Uint8Array = makeHead()

function makeHead(): Uint8Array {
  const out = new Writer()
  out.bytes([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
  section(out, SECTION_TYPE, (body) => {
    body.unsigned(HELPERS.length + 1)
    for (const name of HELPERS) signature(body, SIGNATURES[name])
    signature(body, ['i', 'i'])
  })
  section(out, SECTION_IMPORT, (body) => {
    body.unsigned(HELPERS.length + 1)
    text(body, IMPORTS)
    text(body, 'memory')
    // a memory of at least one page
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

function signature(out: Writer, [takes, gives]: Signature): void {
  out.byte(TYPE_FUNCTION)
  for (const types of [takes, gives]) {
    out.unsigned(types.length)
    for (const type of types) out.byte(type === 'i' ? TYPE_I32 : TYPE_I64)
  }
}

function text(out: Writer, value: string): void {
  out.unsigned(value.length)
  out.bytes(Buffer.from(value))
}

/** A whole module around the body of its function, declarations of locals included. */
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
