// How frames came to their ends, as a second run of them tells: the functions that were entered, and the last operations.
import type { Step, Tracer } from '../../evm/executor.ts'
import { OP } from '../../evm/opcodes.ts'
import type { CodeMap, Origin } from './sourcemap.ts'

/** A call of a function within a contract. */
export interface InnerCall {
  /** Where it was called. */
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

/** How a frame came to its end. */
export interface Trail {
  /** The functions that were being run at the end, outermost first; none where there is no source map. */
  readonly calls: readonly InnerCall[]
  /** Its last operations, the newest last. */
  readonly last: readonly LastStep[]
  /** The one of them that made its newest call; undefined where there was none, or where it is longer ago. */
  readonly calledAt: number | undefined
}

/** What a frame runs. */
export interface Followed {
  readonly code: Uint8Array
  readonly map: CodeMap | undefined
}

const INVALID = 0xfe

/** Operations that tell of where a run is: those between them stand one after another in the code. */
const TELLING: ReadonlySet<number> = new Set([
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

interface Open {
  readonly followed: Followed
  readonly calls: InnerCall[]
  told: LastStep[]
  /** How many of `told` were forgotten, and how many there were in all when the newest call began. */
  forgotten: number
  calledAt: number | undefined
}

/** Records how some frames of a run end. @param followed by their numbers */
export function recordTrails(followed: ReadonlyMap<number, Followed>): {
  readonly tracer: Tracer
  /** By the frames' numbers, once the run is over. */
  readonly trails: ReadonlyMap<number, Trail>
} {
  const trails = new Map<number, Trail>()
  const frames: { readonly number: number; readonly open: Open | undefined }[] = []
  let count = 0
  let current: Open | undefined
  const tracer: Tracer = {
    onEnter: () => {
      if (current !== undefined) current.calledAt = current.forgotten + current.told.length
      const each = followed.get(count)
      current = each && { followed: each, calls: [], told: [], forgotten: 0, calledAt: undefined }
      frames.push({ number: count, open: current })
      count += 1
    },
    onStep: (step) => {
      if (current !== undefined) follow(current, step)
    },
    onExit: () => {
      const ended = frames.pop()
      if (ended?.open !== undefined) trails.set(ended.number, trailOf(ended.open))
      current = frames.at(-1)?.open
    },
    stepParts: { stack: true, memory: false, only: TELLING },
  }
  return { tracer, trails }
}

function follow(open: Open, { pc, opcode, stack }: Step): void {
  const { told, calls, followed } = open
  const before = told.at(-1)
  if (before?.opcode === OP.JUMP) jumped(calls, followed.map, before.pc, pc)
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

function trailOf({ followed, calls, told, forgotten, calledAt }: Open): Trail {
  const last: LastStep[] = []
  let at: number | undefined
  for (const [i, step] of told.entries()) {
    last.push(step)
    if (forgotten + i + 1 === calledAt) at = last.length - 1
    const next = told[i + 1]
    if (next !== undefined) last.push(...between(followed.code, step, next.pc))
  }
  return { calls, last, calledAt: at }
}

const PUSH1 = OP.PUSH1
const PUSH32 = OP.PUSH32

/** The operations from one that was told to the next: none where that was jumped to. */
function between(code: Uint8Array, { pc, opcode }: LastStep, end: number): readonly LastStep[] {
  if (opcode === OP.JUMP) return []
  const steps: LastStep[] = []
  for (let at = next(code, pc); at < end; at = next(code, at)) {
    const each = code[at]!
    // it did not come this way: the jump was taken
    if (TELLING.has(each)) return []
    steps.push({ pc: at, opcode: each, top: undefined })
  }
  return end > pc ? steps : []
}

function next(code: Uint8Array, pc: number): number {
  const opcode = code[pc]!
  return opcode >= PUSH1 && opcode <= PUSH32 ? pc + opcode - PUSH1 + 2 : pc + 1
}
