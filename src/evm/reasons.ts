// Describes failures for people: reverts, Solidity panics, halts.
import { CONSOLE_ADDRESS, decodeArguments } from '../core/abi.ts'
import { plural } from '../core/format.ts'
import { type Address, bigintFromBytes, hexFromBytes } from '../core/hex.ts'
import { codeAt, type World } from '../state/world.ts'

/** @see https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
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

/** Longer arguments are not shown, in bytes. */
const SHOWN_ARGUMENTS = 64

const WORD = 32
const SELECTOR_LENGTH = 4

/** The cause of a failure from the contract's source. Each emulated node words it differently. */
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
  readonly lines: readonly string[]
  readonly cause: SourceCause | undefined
}

/** Most characters shown of a reason, which a contract chooses. */
const REASON_LENGTH = 1_000

/**
 * `revert too small`, `revert panic 0x11 (arithmetic overflow)`, `revert custom error 0x2202f1fa` (with short arguments as
 * hex), `revert 32 bytes of data: 0x…`, or `revert`. All contain "revert", without which ethers does not decode the data.
 */
export function describeRevert(output: Uint8Array): string {
  if (output.length === 0) return 'revert'
  return describeError(output) ?? describePanic(output) ?? describeCustom(output)
}

/** `out of gas`, `invalid opcode 0xfe`. `opcode` is the last operation. */
export function describeHalt(error: string, opcode: number | undefined): string {
  if (error === 'invalid opcode' && opcode !== undefined) {
    return `invalid opcode 0x${opcode.toString(16).padStart(2, '0')}`
  }
  // the EVM appends code hash and position to an invalid jump
  const [kind = error] = error.split(' at ')
  return HALTS[kind] ?? error
}

/** Translates the EVM's words for halts to those that clients know. */
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

/** The text of `require`, or the name of a panic; undefined for anything else. */
export function revertText(output: Uint8Array): string | undefined {
  return errorText(output) ?? describePanic(output)?.replace(/^revert /, '')
}

export function errorText(output: Uint8Array): string | undefined {
  return selectorOf(output) === ERROR_SELECTOR ? stringAt(output.subarray(4)) : undefined
}

function describeError(output: Uint8Array): string | undefined {
  const text = errorText(output)
  if (text === undefined) return undefined
  return text === '' ? 'revert' : `revert ${shortened(text)}`
}

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

/** True if the length is that of a selector and words. Assembly may revert with any length. */
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

/** Decodes the only string argument; undefined if the encoding is broken. */
export function stringAt(data: Uint8Array): string | undefined {
  return decodeArguments(['string'], data)?.[0] as string | undefined
}

/** One line without control characters, which could control the terminal. */
function shortened(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
  return line.length > REASON_LENGTH ? `${line.slice(0, REASON_LENGTH)}...` : line
}

/**
 * Why a message with calldata succeeded without running code; undefined if code ran.
 * @param ran the outcome and the world after it
 */
export function describeIdle(
  { to, data }: { readonly to: Address | null; readonly data: Uint8Array },
  ran: { readonly isAlone: boolean; readonly output: Uint8Array; readonly world: World },
): string | undefined {
  if (to === null || data.length === 0 || to === CONSOLE_ADDRESS) return undefined
  if (!ran.isAlone || ran.output.length > 0 || codeAt(ran.world, to).length > 0) return undefined
  return `no code at ${to}: nothing was called`
}
