// Traces operations. A step is written before its operation runs, and reported when its cost is known: at the next operation, a
// new frame, a log, or the frame's end.
import * as layout from '../layout'
import {
  BALANCE, CALL, CALLCODE, DELEGATECALL, EXP, EXTCODEHASH, EXTCODESIZE, SELFDESTRUCT, SLOAD, SSTORE, STATICCALL,
} from '../opcodes.generated'
import { copyWord, isIndex, setShort } from './arithmetic/words'
import { areStepsTraced, depthOf } from './events'
import { isReachWatched, reach } from './reached'
import { flushEvents, reportMemory } from './state/host'

@inline
export function count(steps: i64): void {
  store<i64>(layout.STEPS, load<i64>(layout.STEPS) + steps)
}

/** Counts and reports an operation; the STOP behind the code is none, but may be watched. */
export function watch(frame: usize, pc: usize, opcode: u32, sp: usize, gas: i64, canRun: bool): void {
  if (pc >= (load<u32>(frame, layout.FRAME_CODE_LENGTH) as usize)) {
    if (load<u32>(layout.WATCHED) & layout.WATCH_END) return openStep(frame, pc, opcode, sp, gas)
    return closeStep(gas, sp)
  }
  count(1)
  if (isReachWatched()) reach(frame, pc, opcode, sp, canRun)
  if (areStepsTraced()) openStep(frame, pc, opcode, sp, gas)
}

/** The minimum cost of SELFDESTRUCT, which its table row lacks. */
const DESTRUCTION_GAS: i64 = 5000

function openStep(frame: usize, pc: usize, opcode: u32, sp: usize, gas: i64): void {
  closeStep(gas, sp)
  const watchesMemory = (load<u32>(layout.WATCHED) & layout.WATCH_MEMORY) != 0
  if (watchesMemory || load<u32>(layout.EVENTS_TOP) + layout.STEP > layout.EVENTS_END) flushEvents()
  if (watchesMemory) reportMemory(depthOf(frame), load<u32>(frame, layout.FRAME_MEMORY), load<u32>(frame, layout.FRAME_MEMORY_SIZE))
  const place = load<u32>(layout.EVENTS_TOP) as usize
  const stack = load<u32>(frame, layout.FRAME_STACK) as usize
  store<u32>(place, layout.EVENT_STEP, layout.EVENT_KIND)
  store<u32>(place, layout.STEP, layout.EVENT_SIZE)
  store<u32>(place, load<u32>(frame, layout.FRAME_ACCOUNT), layout.EVENT_ACCOUNT)
  store<u32>(place, pc as u32, layout.STEP_PC)
  store<u32>(place, depthOf(frame), layout.EVENT_DEPTH)
  store<u32>(place, opcode, layout.EVENT_OPCODE)
  store<u32>(place, ((sp - stack) >> 5) as u32, layout.STEP_HEIGHT)
  store<i64>(place, gas, layout.EVENT_GAS)
  store<i64>(place, load<i64>(layout.REFUND), layout.STEP_REFUND)
  store<u32>(place, load<u8>((load<u32>(frame, layout.FRAME_CODE) as usize) + pc, 1), layout.STEP_IMMEDIATE)
  store<i64>(place, load<i64>(layout.STATE_GAS), layout.STEP_RESERVOIR)
  // an empty stack yields other bytes, which nobody reads
  copyWord(place + layout.STEP_TOP, sp - 32)
  store<u32>(layout.OPEN_STEP, place as u32)
  store<i64>(layout.OPEN_SPILLED, load<i64>(frame, layout.FRAME_STATE_SPILLED))
}

/** `gas` is what the operation left; the stack ends at `sp`. */
export function closeStep(gas: i64, sp: usize): void {
  const place = load<u32>(layout.OPEN_STEP) as usize
  if (place == 0) return
  const opcode = load<u32>(place, layout.EVENT_OPCODE)
  if (opcode == SLOAD) copyWord(place + layout.STEP_LOADED, sp - 32)
  // its refund counts from the operation itself on
  else if (opcode == SSTORE) store<i64>(place, load<i64>(layout.REFUND), layout.STEP_REFUND)
  const taken = load<i64>(place, layout.STEP_RESERVOIR) - load<i64>(layout.STATE_GAS)
  const frame = layout.FRAMES + load<u32>(place, layout.EVENT_DEPTH) * layout.FRAME
  const spilled = load<i64>(frame, layout.FRAME_STATE_SPILLED) - load<i64>(layout.OPEN_SPILLED)
  store<i64>(place, taken + spilled, layout.STEP_STATE_COST)
  reportStep(place, load<i64>(place, layout.EVENT_GAS) - gas - spilled)
}

export function endStep(frame: usize, end: i32, gas: i64, sp: usize): void {
  const place = load<u32>(layout.OPEN_STEP) as usize
  if (place == 0) return
  if (end < layout.FIRST_HALT) return closeStep(gas, sp)
  const opcode = load<u32>(place, layout.EVENT_OPCODE)
  const before = load<i64>(place, layout.EVENT_GAS)
  const isKnown = opcode == SLOAD || opcode == SSTORE || opcode == BALANCE || opcode == EXTCODESIZE || opcode == EXTCODEHASH || opcode == EXP
  if (end == layout.END_OUT_OF_GAS && gas < 0 && isKnown && gas > i64.MIN_VALUE) {
    closeStep(gas, sp)
    // since amsterdam a slot is read only if there is the gas for it
    if (opcode == SLOAD && load<u32>(layout.FORK) >= layout.AMSTERDAM) setShort(place + layout.STEP_LOADED, 0)
    return
  }
  const isDestruction = opcode == SELFDESTRUCT && load<u32>(layout.FORK) >= layout.TANGERINE_WHISTLE
  const base: i64 = isDestruction ? DESTRUCTION_GAS : (load<u16>(layout.RULES + (opcode << 3)) as i64)
  setShort(place + layout.STEP_LOADED, 0)
  store<i64>(place, 0, layout.STEP_STATE_COST)
  const isCall = opcode == CALL || opcode == CALLCODE || opcode == DELEGATECALL || opcode == STATICCALL
  reportStep(place, isCall && sp > (load<u32>(frame, layout.FRAME_STACK) as usize) ? base + passedOn(sp - 32, before - base) : base)
}

/** Gas that a failed call would have passed on. */
function passedOn(asked: usize, left: i64): i64 {
  if (left <= 0) return 0
  const isOld = load<u32>(layout.FORK) < layout.TANGERINE_WHISTLE
  const most = isOld ? left : left - (((left as u64) >> 6) as i64)
  if (isIndex(asked) && load<i64>(asked) <= most) return load<i64>(asked)
  return isOld ? 0 : most
}

@inline
function reportStep(place: usize, cost: i64): void {
  store<i64>(place, cost, layout.STEP_COST)
  store<u32>(layout.EVENTS_TOP, (place as u32) + layout.STEP)
  store<u32>(layout.OPEN_STEP, 0)
}
