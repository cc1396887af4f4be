// How often each operation of a code ran, out of the marks that machines make of their runs.
import type { ReachedCode } from '../executor.ts'
import { nextOperation, OP } from '../opcodes.ts'

/** Marks of many runs of one code, added up. */
export interface ReachCounts {
  starts: number
  /** By the places of operations. */
  readonly marks: Map<number, ReachMark>
}

interface ReachMark {
  /** Of a JUMPDEST how often it was come to, of a JUMPI how often it jumped. */
  count: number
  /** How often a frame ended there. */
  ends: number
}

/** Of each place in the code: how often the operation there was tried, and of a JUMPI how often it jumped. */
export interface Hits {
  readonly hits: Float64Array
  readonly jumped: Float64Array
}

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

/** Follows the control from mark to mark. */
export function hitsOf(code: Uint8Array, { starts, marks }: ReachCounts): Hits {
  const hits = new Float64Array(code.length)
  const jumped = new Float64Array(code.length)
  let passing = starts
  for (let pc = 0; pc < code.length; pc = nextOperation(code, pc)) {
    const opcode = code[pc]!
    const mark = marks.get(pc)
    // counted also where it is the first operation, or one behind a JUMPI
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
