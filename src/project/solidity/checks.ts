// Why a contract refused a call before the function's body: the compiler's checks.
import { ether, number } from '../../core/format.ts'
import { hexFromBytes } from '../../core/hex.ts'
import { OP } from '../../evm/opcodes.ts'
import type { SourceCause } from '../../evm/reasons.ts'
import { inputsFit } from '../abi/decode.ts'
import { memberOf, selectorOf } from '../naming/callees.ts'
import type { AbiItem } from '../reading/summary.ts'
import type { FrameContract, RunFrame } from './frames.ts'

export interface FailedCheck {
  readonly reason: string
  /** False if a function may have refused it too: an optimizer merges checks with later ones. */
  readonly isCertain: boolean
  readonly cause: SourceCause | undefined
}

/** Undefined if the frame reached a function's body, or the compiler's checks passed. */
export function failedCheckOf(frame: RunFrame, known: FrameContract): FailedCheck | undefined {
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
    return item && misfit(taker, item, data, isOptimized)
  }
  const called = memberOf(contract, 'function', selectorOf(input))
  if (isLibrary(frame) && !isView(called)) {
    return certain(`${name} is a library: a direct call cannot change state`, undefined)
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
  return called && misfit(called.signature, called, input.subarray(4), isOptimized)
}

function certain(reason: string, cause: SourceCause | undefined): FailedCheck {
  return { reason, isCertain: true, cause }
}

function missing(name: string, { input, value }: RunFrame): string {
  if (input.length === 0) {
    const what = value > 0n ? 'was sent ether' : 'was called without a function'
    return `${name} ${what} but has no receive or fallback function`
  }
  const key = hexFromBytes(input.subarray(0, 4))
  const what = input.length < 4 ? `function for ${key}` : `function ${key}`
  return `${name} has no ${what}, and no fallback function`
}

function notPayable(what: string, value: bigint, isFallback = false): FailedCheck {
  const cause = { kind: 'notPayable', isFallback, value } as const
  return certain(`${what} is not payable but was sent ${ether(value)}`, cause)
}

/**
 * @param taker `flag(bool)`, `the constructor of Vault`
 * @param data without the selector or creation code
 */
function misfit(
  taker: string,
  item: AbiItem,
  data: Uint8Array,
  isOptimized: boolean,
): FailedCheck | undefined {
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

/** A library's code begins with PUSH20 of its own address, to refuse direct calls. */
function isLibrary({ code, kind }: RunFrame): boolean {
  return code?.[0] === OP.PUSH20 && code[21] === OP.ADDRESS && kind !== 'DELEGATECALL'
}

/** View functions of a library may be called directly. */
function isView(item: AbiItem | undefined): boolean {
  return item !== undefined && /"stateMutability":"(?:view|pure)"/.test(item.json)
}
