// Writes trace events of frames to a buffer that the host reads in pieces.
import * as layout from '../layout'
import { flushEvents } from './state/host'
import { copyWord, setShort } from './arithmetic/words'

@inline
export function isTraced(): bool {
  return (load<u32>(layout.WATCHED) & layout.WATCH_FRAMES) != 0
}

@inline
export function depthOf(frame: usize): u32 {
  return ((frame - layout.FRAMES) / layout.FRAME) as u32
}

@inline
export function areStepsTraced(): bool {
  return (load<u32>(layout.WATCHED) & layout.WATCH_STEPS) != 0
}

/** If a tracer watches each operation, no code is compiled. */
@inline
export function isEachWatched(): bool {
  return (load<u32>(layout.WATCHED) & (layout.WATCH_STEPS | layout.WATCH_REACHED)) != 0
}

/** Copies the event's bytes. Those too long for the buffer are referenced: `flushIfLong` must follow at once. */
function event(kind: u32, account: usize, target: usize, data: usize, length: u32): usize {
  const copied = length > layout.EVENT_BYTES ? 0 : (length + 7) & ~7
  const size = layout.EVENT + copied
  if (load<u32>(layout.EVENTS_TOP) + size > layout.EVENTS_END) flushEvents()
  const place = load<u32>(layout.EVENTS_TOP) as usize
  store<u32>(layout.EVENTS_TOP, (place as u32) + size)
  store<u32>(place, kind, layout.EVENT_KIND)
  store<u32>(place, size, layout.EVENT_SIZE)
  store<u32>(place, account as u32, layout.EVENT_ACCOUNT)
  store<u32>(place, target as u32, layout.EVENT_TARGET)
  store<u32>(place, (copied ? place + layout.EVENT : data) as u32, layout.EVENT_DATA)
  store<u32>(place, length, layout.EVENT_LENGTH)
  if (copied) memory.copy(place + layout.EVENT, data, length)
  return place
}

@inline
function flushIfLong(length: u32): void {
  if (length > layout.EVENT_BYTES) flushEvents()
}

export function reportEnter(
  kind: u32, depth: u32, from: usize, to: usize, value: usize, gas: i64, input: usize, length: u32,
): void {
  const place = event(layout.EVENT_ENTER, from, to, input, length)
  store<u32>(place, depth, layout.EVENT_DEPTH)
  store<u32>(place, kind, layout.EVENT_OPCODE)
  store<i64>(place, gas, layout.EVENT_GAS)
  if (value) copyWord(place + layout.EVENT_VALUE, value)
  else setShort(place + layout.EVENT_VALUE, 0)
  // with steps, the host also reads the frame's code as it is now
  if (areStepsTraced()) flushEvents()
  else flushIfLong(length)
}

export function reportExit(
  end: i32, depth: u32, created: usize, opcode: u32, gasUsed: i64, state: i64, spilled: i64, output: usize, length: u32,
): void {
  const place = event(layout.EVENT_EXIT, created, 0, output, length)
  store<u32>(place, depth, layout.EVENT_DEPTH)
  store<u32>(place, opcode, layout.EVENT_OPCODE)
  store<i64>(place, gasUsed, layout.EVENT_GAS)
  store<u32>(place, end as u32, layout.EVENT_END)
  store<i64>(place, state, layout.EVENT_STATE)
  store<i64>(place, spilled, layout.EVENT_SPILLED)
  flushIfLong(length)
}

export function reportUnrun(end: i32, depth: u32, created: usize, gasUsed: i64): void {
  reportExit(end, depth, created, 0, gasUsed, 0, 0, 0, 0)
}

export function reportLog(log: usize): void {
  const length = load<u32>(log, layout.LOG_SIZE)
  event(layout.EVENT_LOG, 0, 0, log, length)
  flushIfLong(length)
}

export function reportDestroy(account: usize, heir: usize): void {
  const place = event(layout.EVENT_DESTROY, account, heir, 0, 0)
  copyWord(place + layout.EVENT_VALUE, account + layout.ACCOUNT_BALANCE)
}
