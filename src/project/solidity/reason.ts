// Why a run failed, in words: what Solidity checks by itself leaves no word behind, and is told from where it happened.
import { ether, number } from '../../core/format.ts'
import { type Address, addressFromBytes, hexFromBytes, paddedBytes } from '../../core/hex.ts'
import { OP } from '../../evm/opcodes.ts'
import { decodeInputs } from '../abi/decode.ts'
import type { AbiItem } from '../reading/summary.ts'
import type { RunFrame } from './frames.ts'
import type { FailedFrame } from './stack.ts'

/** What an account is called, for reasons. */
export type NameOf = (address: Address) => string

/** Operations before a failure among which the check of a callee's code stands. */
const CHECK_STEPS = 24

/** Bytes before which a library refuses to be called: PUSH20 and its address. */
const PUSH20 = 0x73

/**
 * The reason of a failure that has no data; undefined for one that says it itself.
 * @param failed the frame that it came from
 */
export function silentReason(failed: FailedFrame, nameOf: NameOf): string | undefined {
  const { frame } = failed
  const { failure, output } = frame
  if (failure === undefined || (failure.kind === 'revert' && output.length > 0)) return undefined
  if (failure.kind === 'halt') return haltReason(failed)
  return (
    (failed.isBeforeBody ? refusal(failed) : undefined) ??
    calleeReason(failed, nameOf) ??
    quotedReason(failed) ??
    'reverted without a reason'
  )
}

function haltReason({ frame, text }: FailedFrame): string | undefined {
  const { failure } = frame
  if (failure?.reason === 'max code size exceeded')
    return 'the contract is too large to be deployed'
  // before 0.8 a failed assertion took all gas
  if (failure?.reason === 'invalid opcode 0xfe' && text.startsWith('assert'))
    return `${text} failed`
  return failure?.reason
}

/** Why a contract refused a call before it came to the body of a function. */
function refusal({ frame, known }: FailedFrame): string | undefined {
  if (known === undefined) return undefined
  const { abi } = known.contract
  const { value, input } = frame
  const has = (kind: AbiItem['kind']): AbiItem | undefined => abi.find((each) => each.kind === kind)
  if (frame.code === undefined) {
    const isPayable = has('constructor')?.isPayable === true
    if (value > 0n && !isPayable) return notPayable(`the constructor of ${known.name}`, value)
    return `the arguments do not fit the constructor of ${known.name}`
  }
  if (isLibrary(frame)) return `${known.name} is a library, which cannot be called to change state`
  const key = input.length < 4 ? '' : hexFromBytes(input.subarray(0, 4))
  const called = abi.find((each) => each.kind === 'function' && each.key === key)
  const fallback = has('fallback')
  if (
    called === undefined &&
    input.length === 0 &&
    has('receive') === undefined &&
    fallback === undefined
  ) {
    const what = value > 0n ? 'was sent ether' : 'was called without a function'
    return `${known.name} ${what}, and has neither a receive nor a fallback function`
  }
  if (called === undefined && fallback === undefined) {
    const isShort = input.length < 4
    const what = isShort ? `function for ${hexFromBytes(input)}` : `function ${key}`
    return `${known.name} has no ${what}, and no fallback function`
  }
  const target = called ?? fallback
  if (value > 0n && target?.isPayable !== true) {
    return notPayable(called === undefined ? 'the fallback function' : called.name, value)
  }
  if (called !== undefined && decodeInputs(called, input.subarray(4)) === undefined) {
    return `the arguments do not fit ${called.signature}: got ${number(input.length - 4)} bytes`
  }
  return called === undefined ? undefined : `the arguments do not fit ${called.signature}`
}

function notPayable(what: string, value: bigint): string {
  return `${what} is not payable, and was sent ${ether(value)}`
}

function isLibrary({ code, kind }: RunFrame): boolean {
  return code?.[0] === PUSH20 && code[21] === OP.ADDRESS && kind !== 'DELEGATECALL'
}

/** What Solidity finds wrong with whom a function calls: no code, or an answer that is none. */
function calleeReason({ frame, trail }: FailedFrame, nameOf: NameOf): string | undefined {
  const { last, calledAt } = trail
  const newest = frame.calls.at(-1)
  const recent = last.slice(-CHECK_STEPS)
  const sinceCall = calledAt === undefined ? recent : last.slice(calledAt + 1)
  const asked = recent.findLast(
    (step) => step.opcode === OP.EXTCODESIZE && sinceCall.includes(step),
  )
  if (asked?.top !== undefined) {
    const address = addressFromBytes(paddedBytes(asked.top & ((1n << 160n) - 1n), 20))
    return `${nameOf(address)} was called, and has no code`
  }
  if (newest?.failure !== undefined || newest?.to == null || newest.isPrecompile) return undefined
  if (calledAt === undefined || newest.output.length >= 32) return undefined
  const looks = sinceCall.some(({ opcode }) => opcode === OP.RETURNDATASIZE)
  if (!looks) return undefined
  if (newest.code?.length === 0) return `${nameOf(newest.to)} was called, and has no code`
  return `${nameOf(newest.to)} returned ${number(newest.output.length)} bytes, which are too few`
}

/** What the source says at the place. */
function quotedReason({ text }: FailedFrame): string | undefined {
  if (/^(require|assert|abi\.decode)\s*\(/.test(text)) return `${text} failed`
  return undefined
}
