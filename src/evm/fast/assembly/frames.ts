// Opens and closes frames: journal checkpoints, return data, deployment of code.
import * as layout from '../layout'
import { depthOf, isTraced, reportExit } from './events'
import { take } from './state/heap'
import { isReachWatched, leaveReached } from './reached'
import { raiseNeed } from './state/gasneed'
import { checkpoint, saveNoCode, revertJournal } from './state/journal'
import { codeStateGas, NEW_ACCOUNT_STATE_GAS, payState, restoreState, returnState } from './state/stategas'
import { CALL, CALLCODE, CREATE, CREATE2 } from '../opcodes.generated'
import { copyWord, isZero, setShort } from './arithmetic/words'

const DEPOSIT_GAS: i64 = 200
/** Per 32 bytes of deployed code since amsterdam, beside its state gas. */
const HASH_WORD_GAS: i64 = 6

@inline
export function isCreation(kind: u32): bool {
  return kind == CREATE || kind == CREATE2
}

export const STIPEND: i64 = 2300

export function begin(frame: usize): void {
  store<u32>(frame, load<u32>(layout.JOURNAL_USED), layout.FRAME_JOURNAL)
  store<u32>(frame, load<u32>(layout.LOGS_USED), layout.FRAME_LOGS)
  store<i64>(frame, load<i64>(layout.REFUND), layout.FRAME_REFUND)
  store<u32>(frame, checkpoint(), layout.FRAME_CHECKPOINT_ID)
  store<i64>(frame, 0, layout.FRAME_GAS_NEED)
  store<i64>(frame, load<i64>(layout.STATE_GAS), layout.FRAME_STATE_BASELINE)
  store<i64>(frame, 0, layout.FRAME_STATE_SPILLED)
  store<u32>(frame, 0, layout.FRAME_PC)
  store<u32>(frame, 0, layout.FRAME_OUTPUT_LENGTH)
  store<u32>(layout.CURRENT_FRAME, frame as u32)
  store<u32>(layout.RETURN_LENGTH, 0)
}

export function returnRoom(length: u32): usize {
  if (length > load<u32>(layout.RETURN_CAPACITY)) {
    const capacity = max(length, 2 * load<u32>(layout.RETURN_CAPACITY))
    store<u32>(layout.RETURN_DATA, take((capacity + 64) as usize) as u32)
    store<u32>(layout.RETURN_CAPACITY, capacity)
  }
  return load<u32>(layout.RETURN_DATA) as usize
}

/** The bytes must not overlap. Short runs are copied inline, as memory.copy is slow to start. */
@inline
function copyBytes(target: usize, source: usize, length: usize): void {
  if (length > 256) {
    memory.copy(target, source, length)
    return
  }
  let i: usize = 0
  for (; i + 16 <= length; i += 16) v128.store(target + i, v128.load(source + i))
  for (; i < length; i++) store<u8>(target + i, load<u8>(source + i))
}

/** @returns the frame to continue, with the result on its stack; 0 if the outermost has ended */
export function close(frame: usize, end: i32): usize {
  const kind = load<u32>(frame, layout.FRAME_KIND)
  if (isCreation(kind) && end < layout.END_REVERT) end = deploy(frame)
  const isKept = end < layout.END_REVERT || end == layout.END_CODE_UNPAID
  if (!isKept) fail(frame)
  if (end >= layout.FIRST_HALT) {
    store<u32>(frame, 0, layout.FRAME_OUTPUT_LENGTH)
    const keepsGas = end == layout.END_CODE_UNPAID || end == layout.END_VALUE_OVERFLOW || end == layout.END_BALANCE
    if (!keepsGas) store<i64>(frame, 0, layout.FRAME_GAS)
  }
  raiseNeed(frame, load<i64>(frame, layout.FRAME_GAS_LIMIT) - load<i64>(frame, layout.FRAME_GAS))
  if (load<u32>(layout.WATCHED)) {
    if (isReachWatched()) leaveReached(frame, end, isCreation(kind))
    if (isTraced()) reportEnd(frame, end, kind)
  }
  store<u32>(layout.MEMORY_END, load<u32>(layout.MEMORY_END) - load<u32>(frame, layout.FRAME_ROOM))
  if (frame == layout.FRAMES) return finish(frame, end)
  const opener = frame - layout.FRAME
  giveBack(frame, opener, kind, isKept)
  return opener
}

function reportEnd(frame: usize, end: i32, kind: u32): void {
  const last = load<u32>(frame, layout.FRAME_CODE) + load<u32>(frame, layout.FRAME_PC)
  const created = isCreation(kind) ? load<u32>(frame, layout.FRAME_ACCOUNT) : 0
  const gasUsed = load<i64>(frame, layout.FRAME_GAS_LIMIT) - load<i64>(frame, layout.FRAME_GAS)
  const spilled = load<i64>(frame, layout.FRAME_STATE_SPILLED)
  const state = load<i64>(frame, layout.FRAME_STATE_BASELINE) - load<i64>(layout.STATE_GAS) + spilled
  reportExit(
    end, depthOf(frame), created, load<u8>(last as usize), gasUsed, state, spilled,
    load<u32>(frame, layout.FRAME_OUTPUT), load<u32>(frame, layout.FRAME_OUTPUT_LENGTH),
  )
}

function fail(frame: usize): void {
  if (load<u32>(layout.FORK) >= layout.AMSTERDAM) restoreState(frame)
  revertJournal(load<u32>(frame, layout.FRAME_JOURNAL))
  store<u32>(layout.LOGS_USED, load<u32>(frame, layout.FRAME_LOGS))
  store<i64>(layout.REFUND, load<i64>(frame, layout.FRAME_REFUND))
}

function finish(frame: usize, end: i32): usize {
  store<u32>(layout.END_REASON, end)
  store<u32>(layout.OUTPUT, load<u32>(frame, layout.FRAME_OUTPUT))
  store<u32>(layout.OUTPUT_LENGTH, load<u32>(frame, layout.FRAME_OUTPUT_LENGTH))
  store<i64>(layout.GAS_LEFT, load<i64>(frame, layout.FRAME_GAS))
  store<i64>(layout.STATE_SPILLED, load<i64>(frame, layout.FRAME_STATE_SPILLED))
  store<i64>(layout.GAS_NEED, load<i64>(frame, layout.FRAME_GAS_NEED))
  const last = load<u32>(frame, layout.FRAME_CODE) + load<u32>(frame, layout.FRAME_PC)
  store<u32>(layout.LAST_OPCODE, load<u8>(last as usize))
  const created = isCreation(load<u32>(frame, layout.FRAME_KIND)) ? load<u32>(frame, layout.FRAME_ACCOUNT) : 0
  store<u32>(layout.CREATED_ACCOUNT, created)
  return 0
}

/** A caller needs its callee's gas and the 64th that it keeps back (EIP-150). */
@inline
function countNeed(frame: usize, opener: usize, kind: u32): void {
  const isPaid = (kind == CALL || kind == CALLCODE) && !isZero(frame + layout.FRAME_VALUE)
  const stipend = isPaid ? STIPEND : 0
  let need = load<i64>(frame, layout.FRAME_GAS_NEED) - stipend
  if (need > 0 && load<u32>(layout.FORK) >= layout.TANGERINE_WHISTLE) need += (need - 1) / 63
  const left = load<i64>(opener, layout.FRAME_GAS) + load<i64>(frame, layout.FRAME_GAS_LIMIT) - stipend
  raiseNeed(opener, load<i64>(opener, layout.FRAME_GAS_LIMIT) - left + max<i64>(need, 0))
}

function giveBack(frame: usize, opener: usize, kind: u32, isKept: bool): void {
  countNeed(frame, opener, kind)
  store<i64>(opener, load<i64>(opener, layout.FRAME_GAS) + load<i64>(frame, layout.FRAME_GAS), layout.FRAME_GAS)
  if (load<u32>(layout.FORK) >= layout.AMSTERDAM) giveBackState(frame, opener, isKept)
  store<u32>(layout.CHECKPOINT_ID, load<u32>(opener, layout.FRAME_CHECKPOINT_ID))
  store<u32>(layout.CURRENT_FRAME, opener as u32)
  const result = load<u32>(opener, layout.FRAME_STACK_TOP) as usize
  store<u32>(opener, (result + 32) as u32, layout.FRAME_STACK_TOP)
  const length = isKept && isCreation(kind) ? 0 : load<u32>(frame, layout.FRAME_OUTPUT_LENGTH)
  if (length) {
    const source = load<u32>(frame, layout.FRAME_OUTPUT) as usize
    const target = returnRoom(length)
    if (source != target) copyBytes(target, source, length)
    const wanted = min(length, load<u32>(frame, layout.FRAME_TARGET_LENGTH))
    if (wanted) {
      copyBytes((load<u32>(opener, layout.FRAME_MEMORY) + load<u32>(frame, layout.FRAME_TARGET)) as usize, target, wanted)
    }
  }
  store<u32>(layout.RETURN_LENGTH, length)
  if (isKept && isCreation(kind)) {
    copyWord(result, (load<u32>(frame, layout.FRAME_ACCOUNT) as usize) + layout.ACCOUNT_ADDRESS)
  } else {
    setShort(result, u64(isKept))
  }
}

function giveBackState(frame: usize, opener: usize, isKept: bool): void {
  const spilled = load<i64>(opener, layout.FRAME_STATE_SPILLED) + load<i64>(frame, layout.FRAME_STATE_SPILLED)
  store<i64>(opener, spilled, layout.FRAME_STATE_SPILLED)
  if (isKept || (load<u32>(frame, layout.FRAME_FLAGS) & layout.FLAG_NEW_ACCOUNT) == 0) return
  store<i64>(opener, returnState(opener, NEW_ACCOUNT_STATE_GAS, load<i64>(opener, layout.FRAME_GAS)), layout.FRAME_GAS)
}

/** @returns the gas left, below 0 if too little */
function payDeposit(frame: usize, length: u32, fork: u32): i64 {
  const gas = load<i64>(frame, layout.FRAME_GAS)
  if (fork < layout.AMSTERDAM) return gas - DEPOSIT_GAS * (length as i64)
  const left = gas - HASH_WORD_GAS * ((((length as i64) + 31) >> 5))
  return left < 0 ? left : payState(frame, codeStateGas(length), left)
}

function deploy(frame: usize): i32 {
  const fork = load<u32>(layout.FORK)
  const length = load<u32>(frame, layout.FRAME_OUTPUT_LENGTH)
  const limit = load<u32>(layout.CODE_LIMIT)
  if (fork >= layout.SPURIOUS_DRAGON && length > limit) return layout.END_CODE_SIZE
  // frontier deploys no code if gas is short
  if (fork < layout.HOMESTEAD) store<u32>(layout.DEPENDS_ON_GAS, 1)
  const left = payDeposit(frame, length, fork)
  if (left < 0) return fork >= layout.HOMESTEAD ? layout.END_OUT_OF_GAS : layout.END_CODE_UNPAID
  const source = load<u32>(frame, layout.FRAME_OUTPUT) as usize
  if (fork >= layout.LONDON && length > 0 && load<u8>(source) == 0xef) return layout.END_INVALID_CODE
  store<i64>(frame, left, layout.FRAME_GAS)
  if (length > 0) setCode(load<u32>(frame, layout.FRAME_ACCOUNT), source, length)
  return layout.END_RETURN
}

function setCode(account: usize, source: usize, length: usize): void {
  saveNoCode(account)
  const code = take(length + layout.CODE_PADDING)
  memory.copy(code, source, length)
  memory.fill(code + length, 0, layout.CODE_PADDING)
  store<u32>(account, code as u32, layout.ACCOUNT_CODE)
  store<u32>(account, length as u32, layout.ACCOUNT_CODE_LENGTH)
  store<u32>(account, 0, layout.ACCOUNT_JUMPS)
  store<u32>(account, 0, layout.ACCOUNT_CELLS)
  // hashed on demand: large contracts take long
  setShort(account + layout.ACCOUNT_CODE_HASH, 0)
  const flags = load<u32>(account, layout.ACCOUNT_FLAGS) & ~layout.ACCOUNT_CODE_READY
  store<u32>(account, flags | layout.ACCOUNT_WRITTEN | layout.ACCOUNT_CODE_WRITTEN, layout.ACCOUNT_FLAGS)
}
