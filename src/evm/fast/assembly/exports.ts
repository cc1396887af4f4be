// Functions that the host and compiled code call.
import * as layout from '../layout'
import { close } from './frames'
import { execute } from './interpreter'

export { accountAt } from './state/accounts'
export { analyze } from './state/code'
export { addMod, div, mod, signedDiv, signedMod } from './arithmetic/division'
export { mulMod } from './arithmetic/modular'
export { returnRoom } from './frames'
export { take } from './state/heap'
export { copyIn, copyWithin, expandMemory, hashMemory, loadInput, log, prepareMemo } from './memory'
export { openCreation, openMessage } from './message'
export { blobHash, blockHash, payExponent } from './operations'
export { preWarmSlot, sloadOrLeave, sstoreOrLeave, tload, tstore } from './state/storage'
export { byteAt, exp, leadingZeros, mul, shiftLeft, shiftRight, shiftRightSigned, signExtend } from './arithmetic/words'

/** Clears the state of the last job in a few stores: a new tag empties the hash tables. */
export function beginJob(): void {
  let generation = load<u32>(layout.GENERATION) + 1
  if (generation == 0) {
    // tags repeat after 4 billion jobs
    memory.fill(layout.FIRST_SLOTS, 0, (layout.FIRST_SLOTS_MASK + 1) << 3)
    memory.fill(layout.FIRST_ACCOUNTS, 0, (layout.FIRST_ACCOUNTS_MASK + 1) << 3)
    generation = 1
  }
  store<u32>(layout.GENERATION, generation)
  store<u32>(layout.CHECKPOINT_ID, 0)
  store<u32>(layout.LAST_CHECKPOINT_ID, 0)
  store<i64>(layout.REFUND, 0)
  store<u32>(layout.DEPENDS_ON_GAS, 0)
  store<u32>(layout.DEPENDS_ON_TIME, 0)
  store<u32>(layout.HAS_MORE_FRAMES, 0)
  store<u32>(layout.EVENTS_TOP, layout.EVENTS)
  store<i64>(layout.STEPS, 0)
  store<u32>(layout.OPEN_STEP, 0)
  store<u32>(layout.IS_UNPREPARED, 0)
  store<u32>(layout.REACHED, 0)
  store<u32>(layout.REACHED_FREE, 0)
  store<u32>(layout.HEAP_TOP, layout.FIRST_HEAP)
  store<u32>(layout.LAST_ACCOUNT, 0)
  list(layout.JOURNAL, layout.FIRST_JOURNAL, layout.FIRST_JOURNAL_SIZE)
  list(layout.LOGS, layout.FIRST_LOGS, layout.FIRST_LOGS_SIZE)
  list(layout.ACCESSES, layout.FIRST_ACCESSES, layout.FIRST_ACCESSES_SIZE)
  table(layout.ACCOUNTS, layout.FIRST_ACCOUNTS, layout.FIRST_ACCOUNTS_MASK)
  table(layout.SLOTS, layout.FIRST_SLOTS, layout.FIRST_SLOTS_MASK)
  store<u32>(layout.RETURN_DATA, layout.FIRST_RETURN)
  store<u32>(layout.RETURN_CAPACITY, layout.FIRST_RETURN_CAPACITY - 64)
  store<u32>(layout.RETURN_LENGTH, 0)
}

@inline
function list(globals: usize, place: u32, size: u32): void {
  store<u32>(globals, place)
  store<u32>(globals, 0, 4)
  store<u32>(globals, size, 8)
}

@inline
function table(globals: usize, place: u32, mask: u32): void {
  store<u32>(globals, place)
  store<u32>(globals, mask, 4)
  store<u32>(globals, 0, 8)
}

export function run(): i32 {
  let frame = load<u32>(layout.CURRENT_FRAME) as usize
  while (true) {
    const exit = execute(frame)
    if (exit >= layout.FIRST_END) {
      frame = close(frame, exit)
      if (frame == 0) return layout.EXIT_DONE
    } else if (exit == layout.EXIT_FRAME) {
      frame = load<u32>(layout.CURRENT_FRAME) as usize
    } else {
      return exit
    }
  }
}

/**
 * The `length` bytes of output are at the result of `returnRoom`.
 * @returns the exit
 */
export function endPrecompile(end: i32, gasLeft: i64, length: u32): i32 {
  const frame = load<u32>(layout.CURRENT_FRAME) as usize
  store<i64>(frame, gasLeft, layout.FRAME_GAS)
  store<u32>(frame, load<u32>(layout.RETURN_DATA), layout.FRAME_OUTPUT)
  store<u32>(frame, length, layout.FRAME_OUTPUT_LENGTH)
  return close(frame, end) == 0 ? layout.EXIT_DONE : run()
}
