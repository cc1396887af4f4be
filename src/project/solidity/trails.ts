// How frames came to their ends: the functions that were entered, and the last operations.
import type { Step } from '../../evm/executor.ts'
import { INVALID, nextOperation, OP } from '../../evm/opcodes.ts'
import type { CodeMap, Origin } from './sourcemap.ts'

export interface InnerCall {
  readonly site: Origin
  /** What was entered, as the compiler describes it. */
  readonly entered: Origin | undefined
}

/** An operation, and what is on top of the stack before it. */
export interface LastStep {
  readonly pc: number
  readonly opcode: number
  /** Undefined where it was not told. */
  readonly top: bigint | undefined
}

export interface Trail {
  /** The functions that were being run at the end, outermost first; none where there is no source map. */
  readonly calls: readonly InnerCall[]
  readonly last: readonly LastStep[]
  /** The one of them that made its newest call; undefined where there was none, or where it is longer ago. */
  readonly calledAt: number | undefined
}

/** Operations that tell of where a run is: those between them stand one after another in the code. */
export const TELLING: ReadonlySet<number> = new Set([
  ...[OP.JUMP, OP.JUMPI, OP.JUMPDEST],
  ...[OP.STOP, OP.RETURN, OP.REVERT, INVALID, OP.SELFDESTRUCT],
  ...[OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL, OP.CREATE, OP.CREATE2],
  // what may cost more than there is
  ...[OP.EXP, OP.KECCAK256, OP.BALANCE, OP.SLOAD, OP.SSTORE, OP.MLOAD, OP.MSTORE, OP.MSTORE8],
  ...[OP.EXTCODESIZE, OP.EXTCODEHASH, OP.EXTCODECOPY, OP.CALLDATACOPY, OP.CODECOPY, OP.MCOPY],
  ...[OP.RETURNDATACOPY, OP.LOG0, OP.LOG1, OP.LOG2, OP.LOG3, OP.LOG4],
])

/** Operations of those that are kept from the end of a frame. */
const KEPT_STEPS = 64

/** Functions within functions that are kept: the machine's stack has no room for more. */
const DEEPEST = 1_024

/** The way of a frame so far. */
export interface OpenTrail {
  readonly code: Uint8Array
  readonly map: CodeMap | undefined
  readonly calls: InnerCall[]
  told: LastStep[]
  /** How many of `told` were forgotten, and how many there were in all when the newest call began. */
  forgotten: number
  calledAt: number | undefined
}

export function beginTrail(code: Uint8Array, map: CodeMap | undefined): OpenTrail {
  return { code, map, calls: [], told: [], forgotten: 0, calledAt: undefined }
}

/** Notes an operation of the frame, before it runs. */
export function follow(open: OpenTrail, { pc, opcode, stack }: Step): void {
  const { told, calls, map } = open
  const before = told.at(-1)
  if (before?.opcode === OP.JUMP) jumped(calls, map, before.pc, pc)
  told.push({ pc, opcode, top: opcode === OP.EXTCODESIZE ? stack.at(-1) : undefined })
  if (told.length < 2 * KEPT_STEPS) return
  open.forgotten += told.length - KEPT_STEPS
  open.told = told.slice(-KEPT_STEPS)
}

/** The compiler marks jumps into functions and out of them. */
function jumped(calls: InnerCall[], map: CodeMap | undefined, from: number, to: number): void {
  const site = map?.at(from)
  if (site?.jump === 'o') calls.pop()
  else if (site?.jump === 'i' && calls.length < DEEPEST) calls.push({ site, entered: map?.at(to) })
}

/** How the frame came to its end, once it has. */
export function trailOf({ code, calls, told, forgotten, calledAt }: OpenTrail): Trail {
  const last: LastStep[] = []
  let at: number | undefined
  for (const [i, step] of told.entries()) {
    last.push(step)
    if (forgotten + i + 1 === calledAt) at = last.length - 1
    const next = told[i + 1]
    if (next !== undefined) last.push(...between(code, step, next.pc))
  }
  return { calls, last, calledAt: at }
}

/** The operations from one that was told to the next: none where that was jumped to. */
function between(code: Uint8Array, { pc, opcode }: LastStep, end: number): readonly LastStep[] {
  if (opcode === OP.JUMP) return []
  const steps: LastStep[] = []
  for (let at = nextOperation(code, pc); at < end; at = nextOperation(code, at)) {
    const each = code[at]!
    // it did not come this way: the jump was taken
    if (TELLING.has(each)) return []
    steps.push({ pc: at, opcode: each, top: undefined })
  }
  return end > pc ? steps : []
}
