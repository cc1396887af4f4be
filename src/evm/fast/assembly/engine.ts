// The engine's doors: what the host and the compiler of hot code call.
import { keccak as hash } from '../../../core/assembly/keccak'
import {
  ACCESSES, ACCESSES_SIZE, ACCESSES_USED, ACCOUNTS, ACCOUNTS_COUNT, ACCOUNTS_MASK, CURRENT_FRAME, EXIT_DONE, EXIT_FRAME,
  FIRST_ACCESSES, FIRST_ACCESSES_SIZE, FIRST_ACCOUNTS, FIRST_ACCOUNTS_MASK, FIRST_END, FIRST_HEAP, FIRST_JOURNAL,
  FIRST_JOURNAL_SIZE, FIRST_LOGS, FIRST_LOGS_SIZE, FIRST_RETURN, FIRST_RETURN_CAPACITY, FIRST_SLOTS, FIRST_SLOTS_MASK,
  FRAME_GAS, FRAME_OUTPUT, FRAME_OUTPUT_LENGTH, GAS_MATTERS, GENERATION, HEAP_TOP, JOURNAL, JOURNAL_SIZE, JOURNAL_USED,
  LAST_ACCOUNT, LAST_SERIAL, LOGS, LOGS_SIZE, LOGS_USED, REFUND, RETURN_CAPACITY, RETURN_DATA, RETURN_LENGTH, SERIAL, SLOTS,
  SLOTS_COUNT, SLOTS_MASK,
} from '../layout'
import { close } from './frames'
import { execute } from './interpreter'
import { prepareMemo } from './memory'

export { accountAt } from './state/accounts'
export { analyze } from './state/code'
export { balanceOrLeave, codeHashOrLeave, codeSizeOrLeave } from './compiled'
export { addMod, div, mod, signedDiv, signedMod } from './arithmetic/division'
export { mulMod } from './arithmetic/modular'
export { returnRoom } from './frames'
export { take } from './state/heap'
export { copyIn, copyWithin, expandMemory, hashMemory, loadInput, log } from './memory'
export { openCreation, openMessage } from './message'
export { blobHash, blockHash, payExponent } from './operations'
export { preWarmSlot, sload, sloadOrLeave, sstore, sstoreOrLeave, tload, tstore } from './state/storage'
export { byteAt, exp, mul, shiftLeft, shiftRight, shiftRightSigned, signExtend } from './arithmetic/words'

/** Once, before the first job. */
export function prepare(): void {
  prepareMemo()
}

/** Clears what the job before left: a handful of stores, and a new tag for the hash tables. */
export function beginJob(): void {
  let generation = load<u32>(GENERATION) + 1
  if (generation == 0) {
    // after 4 billion jobs tags come again
    memory.fill(FIRST_SLOTS, 0, (FIRST_SLOTS_MASK + 1) << 3)
    memory.fill(FIRST_ACCOUNTS, 0, (FIRST_ACCOUNTS_MASK + 1) << 3)
    generation = 1
  }
  store<u32>(GENERATION, generation)
  store<u32>(SERIAL, 0)
  store<u32>(LAST_SERIAL, 0)
  store<i64>(REFUND, 0)
  store<u32>(GAS_MATTERS, 0)
  store<u32>(HEAP_TOP, FIRST_HEAP)
  store<u32>(LAST_ACCOUNT, 0)
  list(JOURNAL, FIRST_JOURNAL, FIRST_JOURNAL_SIZE)
  list(LOGS, FIRST_LOGS, FIRST_LOGS_SIZE)
  list(ACCESSES, FIRST_ACCESSES, FIRST_ACCESSES_SIZE)
  table(ACCOUNTS, FIRST_ACCOUNTS, FIRST_ACCOUNTS_MASK)
  table(SLOTS, FIRST_SLOTS, FIRST_SLOTS_MASK)
  store<u32>(RETURN_DATA, FIRST_RETURN)
  store<u32>(RETURN_CAPACITY, FIRST_RETURN_CAPACITY - 64)
  store<u32>(RETURN_LENGTH, 0)
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

/** Runs from where the job stands. @returns the exit */
export function run(): i32 {
  let frame = load<u32>(CURRENT_FRAME) as usize
  while (true) {
    const exit = execute(frame)
    if (exit >= FIRST_END) {
      frame = close(frame, exit)
      if (frame == 0) return EXIT_DONE
    } else if (exit == EXIT_FRAME) {
      frame = load<u32>(CURRENT_FRAME) as usize
    } else {
      return exit
    }
  }
}

/** Ends the frame of a precompile, whose output of `length` bytes stands where `returnRoom` said. @returns the exit */
export function endPrecompile(end: i32, gasLeft: i64, length: u32): i32 {
  const frame = load<u32>(CURRENT_FRAME) as usize
  store<i64>(frame, gasLeft, FRAME_GAS)
  store<u32>(frame, load<u32>(RETURN_DATA), FRAME_OUTPUT)
  store<u32>(frame, length, FRAME_OUTPUT_LENGTH)
  return close(frame, end) == 0 ? EXIT_DONE : run()
}

/** Keccak-256 of bytes in the engine's memory. */
export function keccak(source: usize, length: usize, target: usize): void {
  hash(source, length, target)
}
