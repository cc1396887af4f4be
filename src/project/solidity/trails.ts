// Records how frames end: the entered functions and the last operations.
import type { Step } from '../../evm/executor.ts'
import { INVALID, nextOperation, OP } from '../../evm/opcodes.ts'
import type { CodeMap, SourceLocation } from './sourcemap.ts'

export interface InnerCall {
  readonly site: SourceLocation
  /** The compiler's location of the entry. */
  readonly entered: SourceLocation | undefined
}

export interface LastStep {
  readonly pc: number
  readonly opcode: number
  /** Undefined if not recorded. */
  readonly top: bigint | undefined
}

export interface Trail {
  /** Functions active at the end, outermost first; empty without a source map. */
  readonly calls: readonly InnerCall[]
  readonly last: readonly LastStep[]
  /** The one that made the newest call; undefined if there was none or it is too long ago. */
  readonly calledAt: number | undefined
}

/** Operations recorded; those between them follow from the code. */
export const RECORDED: ReadonlySet<number> = new Set([
  ...[OP.JUMP, OP.JUMPI, OP.JUMPDEST],
  ...[OP.STOP, OP.RETURN, OP.REVERT, INVALID, OP.SELFDESTRUCT],
  ...[OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL, OP.CREATE, OP.CREATE2],
  // may run out of gas
  ...[OP.EXP, OP.KECCAK256, OP.BALANCE, OP.SLOAD, OP.SSTORE, OP.MLOAD, OP.MSTORE, OP.MSTORE8],
  ...[OP.EXTCODESIZE, OP.EXTCODEHASH, OP.EXTCODECOPY, OP.CALLDATACOPY, OP.CODECOPY, OP.MCOPY],
  ...[OP.RETURNDATACOPY, OP.LOG0, OP.LOG1, OP.LOG2, OP.LOG3, OP.LOG4],
])

/** Recorded operations kept from a frame's end. */
const KEPT_STEPS = 64

/** Nested functions kept: the EVM's stack allows no more. */
const DEEPEST = 1_024

export interface OpenTrail {
  readonly code: Uint8Array
  readonly map: CodeMap | undefined
  readonly calls: InnerCall[]
  steps: LastStep[]
  /** The one that made the newest call. */
  caller: LastStep | undefined
}

/** Notes an operation before it runs. */
export function follow(open: OpenTrail, { pc, opcode, stack }: Step): void {
  const { steps, calls, map } = open
  const before = steps.at(-1)
  if (before?.opcode === OP.JUMP) jumped(calls, map, before.pc, pc)
  steps.push({ pc, opcode, top: opcode === OP.EXTCODESIZE ? stack.at(-1) : undefined })
  if (steps.length >= 2 * KEPT_STEPS) open.steps = steps.slice(-KEPT_STEPS)
}

/** The compiler marks jumps into and out of functions. */
function jumped(calls: InnerCall[], map: CodeMap | undefined, from: number, to: number): void {
  const site = map?.at(from)
  if (site?.jump === 'o') calls.pop()
  else if (site?.jump === 'i' && calls.length < DEEPEST) calls.push({ site, entered: map?.at(to) })
}

/** How the frame ended; call it after the end. */
export function trailOf({ code, calls, steps, caller }: OpenTrail): Trail {
  const last = steps.flatMap((step, i) => {
    const next = steps[i + 1]
    return next === undefined ? [step] : [step, ...between(code, step, next.pc)]
  })
  const calledAt = last.indexOf(caller as LastStep)
  return { calls, last, calledAt: calledAt < 0 ? undefined : calledAt }
}

/** The operations between two recorded ones; none after a jump. */
function between(code: Uint8Array, { pc, opcode }: LastStep, end: number): readonly LastStep[] {
  if (opcode === OP.JUMP) return []
  const steps: LastStep[] = []
  for (let at = nextOperation(code, pc); at < end; at = nextOperation(code, at)) {
    const each = code[at]!
    // another way: the jump was taken
    if (RECORDED.has(each)) return []
    steps.push({ pc: at, opcode: each, top: undefined })
  }
  return end > pc ? steps : []
}
