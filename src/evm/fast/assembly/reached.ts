// Counts which operations ran: at jumps, jump targets and frame ends, as all between ran equally often. Each code has one
// record per run. Init code is reported when its frame ends.
import * as layout from '../layout'
import { JUMPDEST, JUMPI } from '../opcodes.generated'
import { isZero } from './arithmetic/words'
import { take } from './state/heap'
import { reportReached } from './state/host'

@inline
export function isReachWatched(): bool {
  return (load<u32>(layout.WATCHED) & layout.WATCH_REACHED) != 0
}

export function reachCode(frame: usize, account: usize): void {
  const length = load<u32>(account, layout.ACCOUNT_CODE_LENGTH)
  store<u32>(frame, 0, layout.FRAME_REACHED)
  if (length == 0) return
  const code = load<u32>(account, layout.ACCOUNT_CODE)
  let record = load<u32>(account, layout.ACCOUNT_REACHED) as usize
  // an account may have new code after its creation was reverted
  if (record == 0 || load<u32>(record, layout.REACHED_CODE) != code) {
    record = newRecord(length)
    store<u32>(record, code, layout.REACHED_CODE)
    store<u32>(record, load<u32>(layout.REACHED), layout.REACHED_BEFORE)
    store<u32>(layout.REACHED, record as u32)
    store<u32>(account, record as u32, layout.ACCOUNT_REACHED)
  }
  start(frame, record)
}

export function reachCreation(frame: usize): void {
  const length = load<u32>(frame, layout.FRAME_CODE_LENGTH)
  const record = freeRecord(length)
  store<u32>(record, load<u32>(frame, layout.FRAME_CODE), layout.REACHED_CODE)
  start(frame, record)
}

@inline
function start(frame: usize, record: usize): void {
  store<u32>(record, load<u32>(record, layout.REACHED_STARTS) + 1, layout.REACHED_STARTS)
  store<u32>(frame, record as u32, layout.FRAME_REACHED)
}

/** Counts jumps and jump targets; of JUMPI only jumps taken. */
export function reach(frame: usize, pc: usize, opcode: u32, sp: usize, canRun: bool): void {
  const counts = opcode == JUMPDEST || (opcode == JUMPI && canRun && !isZero(sp - 64))
  if (counts) raise(load<u32>(frame, layout.FRAME_REACHED), pc, layout.MARK_COUNT)
}

export function leaveReached(frame: usize, end: i32, isCreation: bool): void {
  const record = load<u32>(frame, layout.FRAME_REACHED) as usize
  if (record == 0) return
  const pc = load<u32>(frame, layout.FRAME_PC) as usize
  // no operation is behind the code; a JUMPI with an invalid target counts as a jump
  const isCounted = end == layout.END_INVALID_JUMP && load<u8>((load<u32>(frame, layout.FRAME_CODE) as usize) + pc) == JUMPI
  if (!isCounted && pc < (load<u32>(record, layout.REACHED_LENGTH) as usize)) raise(record, pc, layout.MARK_ENDS)
  store<u32>(frame, 0, layout.FRAME_REACHED)
  if (!isCreation) return
  reportReached(record)
  clear(record)
  store<u32>(record, load<u32>(layout.REACHED_FREE), layout.REACHED_BEFORE)
  store<u32>(layout.REACHED_FREE, record as u32)
}

function raise(record: usize, pc: usize, field: usize): void {
  const place = record + layout.REACHED_PLACES + (pc << 2)
  let mark = load<u32>(place) as usize
  if (mark == 0) {
    mark = take(layout.MARK)
    store<u32>(mark, load<u32>(record, layout.REACHED_MARKS), layout.MARK_BEFORE)
    store<u32>(mark, pc as u32, layout.MARK_PC)
    store<u32>(mark, 0, layout.MARK_COUNT)
    store<u32>(mark, 0, layout.MARK_ENDS)
    store<u32>(place, mark as u32)
    store<u32>(record, mark as u32, layout.REACHED_MARKS)
  }
  store<u32>(mark + field, load<u32>(mark + field) + 1)
}

function newRecord(length: u32): usize {
  const size = (layout.REACHED_PLACES as usize) + ((length as usize) << 2)
  const record = take(size)
  memory.fill(record, 0, size)
  store<u32>(record, length, layout.REACHED_LENGTH)
  store<u32>(record, length, layout.REACHED_ROOM)
  return record
}

/** Reuses the record of a finished creation, so that many creations need little room. */
function freeRecord(length: u32): usize {
  let link: usize = layout.REACHED_FREE
  for (let record = load<u32>(link) as usize; record != 0; record = load<u32>(link) as usize) {
    if (load<u32>(record, layout.REACHED_ROOM) >= length) {
      store<u32>(link, load<u32>(record, layout.REACHED_BEFORE))
      store<u32>(record, length, layout.REACHED_LENGTH)
      return record
    }
    link = record + layout.REACHED_BEFORE
  }
  return newRecord(length)
}

function clear(record: usize): void {
  for (let mark = load<u32>(record, layout.REACHED_MARKS) as usize; mark != 0; mark = load<u32>(mark, layout.MARK_BEFORE)) {
    store<u32>(record + layout.REACHED_PLACES + ((load<u32>(mark, layout.MARK_PC) as usize) << 2), 0)
  }
  store<u32>(record, 0, layout.REACHED_MARKS)
  store<u32>(record, 0, layout.REACHED_STARTS)
}
