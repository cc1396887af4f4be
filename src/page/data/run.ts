// A recorded run for the debugger: which code each step is of, and where one step or one line further is.
import { firstIndex } from '../../core/search.ts'
import type { RpcSources, RpcStructLog, RpcTransaction } from './shapes.ts'

/** What runs: the code of an account, by its address, or code that makes a contract. */
type RunningCode = string | { readonly creation: string }

interface RunFrame {
  readonly code: RunningCode
  /** `CALL`, `DELEGATECALL`, …; `SEND` for the outermost, which nothing called. */
  readonly kind: string
  readonly caller: RunFrame | undefined
}

export interface RecordedRun {
  readonly steps: readonly RpcStructLog[]
  /** Of each step. */
  readonly frameOf: readonly RunFrame[]
}

/** A line of a source. */
export interface LinePlace {
  readonly source: number
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
}

export function runOf(steps: readonly RpcStructLog[], { to, input }: RpcTransaction): RecordedRun {
  const outermost = to ?? { creation: input }
  let frame: RunFrame = { code: outermost, kind: 'SEND', caller: undefined }
  const frameOf = steps.map((step, i) => {
    const before = steps[i - 1] ?? step
    if (step.depth > before.depth)
      frame = { code: codeEnteredBy(before), kind: before.op, caller: frame }
    for (let { depth } = before; depth > step.depth; depth--) frame = frame.caller ?? frame
    return frame
  })
  return { steps, frameOf }
}

/** By the stack of the instruction that calls or creates. */
function codeEnteredBy({ op, stack = [], memory = [] }: RpcStructLog): RunningCode {
  if (!op.startsWith('CREATE')) {
    const target = BigInt(stack.at(-2) ?? 0) & ((1n << 160n) - 1n)
    return `0x${target.toString(16).padStart(40, '0')}`
  }
  const [offset, size] = [Number(stack.at(-2) ?? 0), Number(stack.at(-3) ?? 0)]
  const bytes = memory.map((word) => word.replace(/^0x/, '')).join('')
  return { creation: `0x${bytes.slice(2 * offset, 2 * (offset + size))}` }
}

/** The frames around a step, the outermost first. */
export function framesAround({ frameOf }: RecordedRun, step: number): readonly RunFrame[] {
  const around: RunFrame[] = []
  for (let at = frameOf[step]; at !== undefined; at = at.caller) around.unshift(at)
  return around
}

/** Undefined where no source is known. */
export function placeIn(sources: RpcSources | null | undefined, pc: number): LinePlace | undefined {
  const places = sources?.places ?? []
  const found = places[firstIndex(places.length, (i) => places[i]![0] > pc) - 1]
  if (found === undefined || found[1] < 0) return undefined
  const [, source, line, column, endLine, endColumn] = found
  return { source, line, column, endLine, endColumn }
}

/**
 * The next step, forward or back, at another line. A place that spans lines, such as a whole function, is none.
 * @param lineOf a text for the line of a step; empty where there is none
 */
export function otherLine(
  { steps }: RecordedRun,
  from: number,
  direction: 1 | -1,
  lineOf: (step: number) => string,
): number {
  const start = lineOf(from)
  let at = from + direction
  while (at > 0 && at < steps.length - 1) {
    const line = lineOf(at)
    if (line !== '' && line !== start) return at
    at += direction
  }
  return Math.min(Math.max(at, 0), steps.length - 1)
}

/** Slots that the frame's account read or wrote up to a step. */
export function storageAt(run: RecordedRun, step: number): Readonly<Record<string, string>> {
  const { steps, frameOf } = run
  const frame = frameOf[step]
  for (let at = step; at >= 0; at--) {
    const { storage } = steps[at]!
    if (storage !== undefined && frameOf[at] === frame) return storage
  }
  return {}
}
