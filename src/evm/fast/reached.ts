// Reads records of reached code from the instance's memory.
import type { ReachedCode } from '../executor.ts'
import type { Codes } from './codes.ts'
import type { Instance } from './instance.ts'
import * as layout from './layout.ts'

interface ReachingMachine {
  readonly instance: Instance
  readonly codes: Codes
}

/** Without creations, which were reported as they ended. */
export function reachedBy(machine: ReachingMachine): readonly ReachedCode[] {
  const { instance } = machine
  const reached: ReachedCode[] = []
  let record = instance.number(layout.REACHED)
  for (; record !== 0; record = instance.number(record + layout.REACHED_BEFORE)) {
    reached.push(reachedIn(machine, record, false))
  }
  return reached
}

export function reachedIn(
  { instance, codes }: ReachingMachine,
  record: number,
  isCreation: boolean,
): ReachedCode {
  const place = instance.number(record + layout.REACHED_CODE)
  // cached code has a stable identity, which collectors rely on
  const kept = isCreation ? undefined : codes.at(place)?.bytes
  const code = kept ?? instance.slice(place, instance.number(record + layout.REACHED_LENGTH))
  const marks: number[] = []
  let mark = instance.number(record + layout.REACHED_MARKS)
  for (; mark !== 0; mark = instance.number(mark + layout.MARK_BEFORE)) {
    const pc = instance.number(mark + layout.MARK_PC)
    const count = instance.number(mark + layout.MARK_COUNT)
    marks.push(pc, count, instance.number(mark + layout.MARK_ENDS))
  }
  const starts = instance.number(record + layout.REACHED_STARTS)
  return { code, isCreation, starts, marks: Uint32Array.from(marks) }
}
