// Computes how often each operation of a code ran from the machines' marks.
import type { ReachedCode } from '../executor.ts'
import { nextOperation, OP } from '../opcodes.ts'

export interface ReachCounts {
  starts: number
  readonly marks: Map<number, ReachMark>
}

interface ReachMark {
  /** How often a JUMPDEST was reached, or a JUMPI jumped. */
  count: number
  ends: number
}

/** By position: how often the operation was tried, and how often a JUMPI jumped. */
export type Hits = Readonly<Record<'hits' | 'jumped', Float64Array>>

export function noCounts(): ReachCounts {
  return { starts: 0, marks: new Map() }
}

export function addReached(sum: ReachCounts, { starts, marks }: Omit<ReachedCode, 'code'>): void {
  sum.starts += starts
  for (let i = 0; i + 2 < marks.length; i += 3) {
    const mark = sum.marks.get(marks[i]!)
    if (mark === undefined) {
      sum.marks.set(marks[i]!, { count: marks[i + 1]!, ends: marks[i + 2]! })
    } else {
      mark.count += marks[i + 1]!
      mark.ends += marks[i + 2]!
    }
  }
}

export function hitsOf(code: Uint8Array, { starts, marks }: ReachCounts): Hits {
  const hits = new Float64Array(code.length)
  const jumped = new Float64Array(code.length)
  let passing = starts
  for (let pc = 0; pc < code.length; pc = nextOperation(code, pc)) {
    const opcode = code[pc]!
    const mark = marks.get(pc)
    // counted even as the first operation, or behind a JUMPI
    if (opcode === OP.JUMPDEST) passing = mark?.count ?? 0
    hits[pc] = passing
    passing -= mark?.ends ?? 0
    if (opcode === OP.JUMPI) {
      jumped[pc] = mark?.count ?? 0
      passing -= jumped[pc]!
    } else if (opcode === OP.JUMP) passing = 0
  }
  return { hits, jumped }
}
