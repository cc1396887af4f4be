// Why a contract refused a call before it came to the body of a function: what the compiler has it check.
import { ether, number } from '../../core/format.ts'
import { hexFromBytes } from '../../core/hex.ts'
import { OP } from '../../evm/opcodes.ts'
import type { SourceCause } from '../../evm/reasons.ts'
import { inputsFit } from '../abi/decode.ts'
import { memberOf, selectorOf } from '../naming/callees.ts'
import type { AbiItem } from '../reading/summary.ts'
import type { FrameContract, RunFrame } from './frames.ts'

export interface Refusal {
  readonly reason: string
  /** False where a function may have refused it as well: an optimizer joins checks with what comes after them. */
  readonly isCertain: boolean
  readonly cause: SourceCause | undefined
}

interface Given {
  /** `flag(bool)`, `the constructor of Vault` */
  readonly taker: string
  readonly item: AbiItem
  /** Without a selector, or the code of a creation. */
  readonly data: Uint8Array
  readonly isOptimized: boolean
}

/** The reason of a frame that did not come to the body of a function; undefined where the compiler’s checks have none. */
export function refusalOf(frame: RunFrame, known: FrameContract): Refusal | undefined {
  const { contract, name, details } = known
  const { value, input } = frame
  const isOptimized = details?.isOptimized === true
  const has = (kind: AbiItem['kind']): AbiItem | undefined =>
    contract.abi.find((each) => each.kind === kind)
  if (frame.code === undefined) {
    const item = has('constructor')
    const taker = `the constructor of ${name}`
    if (value > 0n && item?.isPayable !== true) return notPayable(taker, value)
    const data = input.subarray(contract.creation?.length ?? input.length)
    return item && misfit({ taker, item, data, isOptimized })
  }
  const called = memberOf(contract, 'function', selectorOf(input))
  if (isLibrary(frame) && !isView(called)) {
    return certain(`${name} is a library, which cannot be called to change state`, undefined)
  }
  const taker = called ?? (input.length === 0 ? has('receive') : undefined) ?? has('fallback')
  if (taker === undefined) {
    const cause = { kind: 'missingFunction', hasCalldata: input.length > 0 } as const
    return certain(missing(name, frame), cause)
  }
  if (value > 0n && !taker.isPayable) {
    if (called === undefined) return notPayable('the fallback function', value, true)
    return notPayable(called.name, value)
  }
  const data = input.subarray(4)
  return called && misfit({ taker: called.signature, item: called, data, isOptimized })
}

function certain(reason: string, cause: SourceCause | undefined): Refusal {
  return { reason, isCertain: true, cause }
}

function missing(name: string, { input, value }: RunFrame): string {
  if (input.length === 0) {
    const what = value > 0n ? 'was sent ether' : 'was called without a function'
    return `${name} ${what}, and has neither a receive nor a fallback function`
  }
  const key = hexFromBytes(input.subarray(0, 4))
  const what = input.length < 4 ? `function for ${key}` : `function ${key}`
  return `${name} has no ${what}, and no fallback function`
}

function notPayable(what: string, value: bigint, isFallback = false): Refusal {
  const cause = { kind: 'notPayable', isFallback, value } as const
  return certain(`${what} is not payable, and was sent ${ether(value)}`, cause)
}

function misfit({ taker, item, data, isOptimized }: Given): Refusal | undefined {
  const reason = `the arguments do not fit ${taker}`
  const fit = inputsFit(item, data)
  if (fit === 'undecodable' && item.kind === 'function') {
    return certain(`${reason}: got ${number(data.length)} bytes`, { kind: 'badArguments' })
  }
  if (fit === 'undecodable' || fit === 'unclean' || !isOptimized) {
    return certain(reason, { kind: 'badArguments' })
  }
  if (fit === 'clean') return undefined
  const doubtful = `reverted without a reason; perhaps ${reason}`
  return { reason: doubtful, isCertain: false, cause: undefined }
}

/** Bytes before which a library refuses to be called: PUSH20 and its address. */
const PUSH20 = 0x73

function isLibrary({ code, kind }: RunFrame): boolean {
  return code?.[0] === PUSH20 && code[21] === OP.ADDRESS && kind !== 'DELEGATECALL'
}

/** Functions that change nothing may be called of a library as of any contract. */
function isView(item: AbiItem | undefined): boolean {
  return item !== undefined && /"stateMutability":"(?:view|pure)"/.test(item.json)
}
