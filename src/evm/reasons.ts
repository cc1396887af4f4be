// Why an execution came to nothing, in words: reverts, Solidity's panics, halts of the machine.
import { CONSOLE_ADDRESS } from '../core/abi.ts'
import { DevchainError } from '../core/errors.ts'
import { plural } from '../core/format.ts'
import { type Address, bigintFromBytes, hexFromBytes } from '../core/hex.ts'
import { codeAt, type World } from '../state/world.ts'

/** Panic codes of Solidity. @see https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'generic panic'],
  [0x01n, 'assertion failed'],
  [0x11n, 'arithmetic overflow'],
  [0x12n, 'division by zero'],
  [0x21n, 'invalid enum value'],
  [0x22n, 'corrupt storage byte array'],
  [0x31n, 'pop on empty array'],
  [0x32n, 'array index out of bounds'],
  [0x41n, 'out of memory'],
  [0x51n, 'call of an uninitialized function'],
])

/** Error(string) */
const ERROR_SELECTOR = 0x08c379a0

/** Panic(uint256) */
const PANIC_SELECTOR = 0x4e487b71

export const EXECUTION_ERROR = 'VM Exception while processing transaction: '

/** Bytes of a custom error's arguments, or of other data, that are still shown. */
const SHOWN_ARGUMENTS = 64

const WORD = 32
const SELECTOR_LENGTH = 4

/** Why a run failed, as far as the source of its contract says so: other nodes have words of their own for each. */
export type SourceCause =
  /** @property text name and values as JSON: `Insufficient(0, "more")` */
  | { readonly kind: 'customError'; readonly text: string }
  | { readonly kind: 'missingFunction'; readonly hasCalldata: boolean }
  /** @property value in wei */
  | { readonly kind: 'notPayable'; readonly isFallback: boolean; readonly value: bigint }
  | { readonly kind: 'badArguments' }
  | { readonly kind: 'noCode' }
  | { readonly kind: 'badReturnData' }

export interface SourceExplanation {
  /** The reason, and below it the stack. */
  readonly lines: readonly string[]
  readonly cause: SourceCause | undefined
}

/** Characters of a reason that are shown; a contract may revert with a book. */
const REASON_LENGTH = 1_000

/**
 * A revert in words: `revert too small`, `revert panic 0x11 (arithmetic overflow)`, `revert custom error 0x2202f1fa`
 * (and its arguments as hex, when they are short), `revert 32 bytes of data: 0x…`, or `revert` without any data. The word is in all of them: ethers
 * decodes an error's data only when it reads "revert" in the message.
 */
export function describeRevert(output: Uint8Array): string {
  if (output.length === 0) return 'revert'
  return describeError(output) ?? describePanic(output) ?? describeCustom(output)
}

/** A halt in words: `out of gas`, `invalid opcode 0xfe`. `opcode` is the operation that ran last. */
export function describeHalt(error: string, opcode: number | undefined): string {
  if (error === 'invalid opcode' && opcode !== undefined) {
    return `invalid opcode 0x${opcode.toString(16).padStart(2, '0')}`
  }
  // for an invalid jump the EVM adds the place: the hash of the code and a position
  const [kind = error] = error.split(' at ')
  return HALTS[kind] ?? error
}

/** Halts that the EVM names in other words than clients know. */
const HALTS: Readonly<Record<string, string>> = {
  'invalid JUMP': 'invalid jump destination',
  'static state change': 'write protection: a static call may not change state',
  'create collision': 'contract address collision',
  'code size to deposit exceeds maximum code size': 'max code size exceeded',
  'initcode exceeds max initcode size': 'max initcode size exceeded',
  'code store out of gas': 'contract creation code storage out of gas',
  'invalid bytecode deployed': 'invalid code: must not begin with 0xef',
  'insufficient balance': 'insufficient balance for transfer',
  'value out of range': 'return data out of bounds',
}

/** The text that a contract reverted with: `require`'s, or the name of a panic. Undefined for anything else. */
export function revertText(output: Uint8Array): string | undefined {
  return errorText(output) ?? describePanic(output)?.replace(/^revert /, '')
}

/** The text that `require` or `revert` was given; undefined when it was neither. */
export function errorText(output: Uint8Array): string | undefined {
  return selectorOf(output) === ERROR_SELECTOR ? stringAt(output.subarray(4)) : undefined
}

function describeError(output: Uint8Array): string | undefined {
  const text = errorText(output)
  if (text === undefined) return undefined
  return text === '' ? 'revert' : `revert ${shortened(text)}`
}

/** The code of a panic of Solidity; undefined when the output is none. */
export function panicCode(output: Uint8Array): bigint | undefined {
  if (selectorOf(output) !== PANIC_SELECTOR || output.length !== 36) return undefined
  return bigintFromBytes(output.subarray(4))
}

function describePanic(output: Uint8Array): string | undefined {
  const code = panicCode(output)
  if (code === undefined) return undefined
  const name = PANICS.get(code)
  const digits = `0x${code.toString(16).padStart(2, '0')}`
  return name === undefined ? `revert panic ${digits}` : `revert panic ${digits} (${name})`
}

function describeCustom(output: Uint8Array): string {
  if (!isErrorData(output)) return describeBytes(output)
  const selector = `revert custom error ${hexFromBytes(output.subarray(0, 4))}`
  const data = output.subarray(4)
  if (data.length === 0 || data.length > SHOWN_ARGUMENTS) return selector
  return `${selector} ${hexFromBytes(data)}`
}

/** True for the length of an encoded error: a selector, and words. What assembly reverts with may have any. */
export function isErrorData(output: Uint8Array): boolean {
  return output.length % WORD === SELECTOR_LENGTH
}

function describeBytes(output: Uint8Array): string {
  const words = `revert ${plural(output.length, 'byte')} of data`
  return output.length > SHOWN_ARGUMENTS ? words : `${words}: ${hexFromBytes(output)}`
}

function selectorOf(output: Uint8Array): number | undefined {
  if (output.length < 4) return undefined
  return new DataView(output.buffer, output.byteOffset).getUint32(0)
}

/** The string that the only argument of an ABI-encoded call is; undefined when the encoding is broken. */
export function stringAt(data: Uint8Array): string | undefined {
  const offset = sizeAt(data, 0)
  const length = offset === undefined ? undefined : sizeAt(data, offset)
  if (offset === undefined || length === undefined) return undefined
  const start = offset + 32
  if (start + length > data.length) return undefined
  return new TextDecoder().decode(data.subarray(start, start + length))
}

function sizeAt(data: Uint8Array, at: number): number | undefined {
  if (at + 32 > data.length) return undefined
  const value = bigintFromBytes(data.subarray(at, at + 32))
  return value > BigInt(data.length) ? undefined : Number(value)
}

export function abandoned(): DevchainError {
  const message = 'the execution was given up: nobody waits for what comes of it'
  return new DevchainError('ABANDONED', message)
}

/** One line, without control characters, that could play with a terminal. */
function shortened(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
  return line.length > REASON_LENGTH ? `${line.slice(0, REASON_LENGTH)}...` : line
}

/**
 * Why a message did nothing although it has calldata and succeeded, in words; undefined where something ran.
 * @param ran what came of it, and the world after it
 */
export function describeIdle(
  { to, data }: { readonly to: Address | null; readonly data: Uint8Array },
  ran: { readonly isAlone: boolean; readonly output: Uint8Array; readonly world: World },
): string | undefined {
  if (to === null || data.length === 0 || to === CONSOLE_ADDRESS) return undefined
  if (!ran.isAlone || ran.output.length > 0 || codeAt(ran.world, to).length > 0) return undefined
  return `no code at ${to}: nothing was called`
}
