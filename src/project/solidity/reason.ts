// Derives revert reasons for Solidity's own checks, which revert without data, from where they failed.
import { number } from '../../core/format.ts'
import { type Address, addressFromBytes, paddedBytes } from '../../core/hex.ts'
import { OP } from '../../evm/opcodes.ts'
import type { SourceCause } from '../../evm/reasons.ts'
import type { FailedFrame } from './stack.ts'

type NameOf = (address: Address) => string

export interface Silent {
  readonly reason: string
  readonly cause?: SourceCause | undefined
}

/** The callee's code check is among so many operations before the failure. */
const CHECK_STEPS = 24

/**
 * The reason for a failure without data; undefined if it has its own.
 * @param failed the frame where the failure began
 */
export function silentReason(failed: FailedFrame, nameOf: NameOf): Silent | undefined {
  const { frame } = failed
  const { failure, output } = frame
  if (failure === undefined || (failure.kind === 'revert' && output.length > 0)) return undefined
  if (failure.kind === 'halt') {
    const reason = haltReason(failed)
    return reason === undefined ? undefined : { reason }
  }
  const reason = quotedReason(failed) ?? 'reverted without a reason'
  return failed.failedCheck ?? calleeReason(failed, nameOf) ?? { reason }
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

/** The callee has no code, or returned invalid data. */
function calleeReason({ frame, trail }: FailedFrame, nameOf: NameOf): Silent | undefined {
  const noCode = (address: Address): Silent => ({
    reason: `${nameOf(address)} was called but has no code`,
    cause: { kind: 'noCode' },
  })
  const { last, calledAt } = trail
  const newest = frame.calls.at(-1)
  const recent = last.slice(-CHECK_STEPS)
  const sinceCall = calledAt === undefined ? recent : last.slice(calledAt + 1)
  const asked = recent.findLast(
    (step) => step.opcode === OP.EXTCODESIZE && sinceCall.includes(step),
  )
  if (asked?.top !== undefined) {
    return noCode(addressFromBytes(paddedBytes(asked.top & ((1n << 160n) - 1n), 20)))
  }
  if (newest?.failure !== undefined || newest?.to == null || newest.isPrecompile) return undefined
  if (calledAt === undefined || newest.output.length >= 32) return undefined
  const looks = sinceCall.some(({ opcode }) => opcode === OP.RETURNDATASIZE)
  if (!looks) return undefined
  if (newest.code?.length === 0) return noCode(newest.to)
  const length = number(newest.output.length)
  return {
    reason: `${nameOf(newest.to)} returned ${length} bytes, fewer than expected`,
    cause: { kind: 'badReturnData' },
  }
}

function quotedReason({ text }: FailedFrame): string | undefined {
  if (/^(require|assert|abi\.decode)\s*\(/.test(text)) return `${text} failed`
  return undefined
}
