// Opens the outermost frame: a message, or a creation by a transaction. The host has set gas, CALLER, CALLVALUE and input or
// init code.
import * as layout from '../layout'
import { accountAt, delegateOf, has, meet, warm, wouldOverflow } from './state/accounts'
import { beginContract, createdAddress, isTaken, leaveToPrecompile, takeCode, transfer } from './calls'
import { analyze } from './state/code'
import { isTraced, reportEnter } from './events'
import { begin, close } from './frames'
import { isReachWatched, reachCreation } from './reached'
import { take } from './state/heap'
import { reportConsole } from './state/host'
import { CALL, CREATE } from '../opcodes.generated'
import { copyWord, isBelow, isZero } from './arithmetic/words'

function open(kind: u32, account: usize): void {
  const frame: usize = layout.FRAMES
  store<i64>(frame, load<i64>(frame, layout.FRAME_GAS), layout.FRAME_GAS_LIMIT)
  store<u32>(frame, layout.STACKS, layout.FRAME_STACK)
  store<u32>(frame, layout.STACKS, layout.FRAME_STACK_TOP)
  store<u32>(frame, layout.MEMORY, layout.FRAME_MEMORY)
  store<u32>(frame, 0, layout.FRAME_MEMORY_SIZE)
  store<u32>(frame, 0, layout.FRAME_FLAGS)
  store<u32>(frame, 0, layout.FRAME_ROOM)
  store<u32>(frame, 0, layout.FRAME_TARGET_LENGTH)
  store<u32>(frame, kind, layout.FRAME_KIND)
  store<u32>(frame, account as u32, layout.FRAME_ACCOUNT)
  store<u32>(frame, account as u32, layout.FRAME_CODE_ACCOUNT)
  copyWord(frame + layout.FRAME_ADDRESS, account + layout.ACCOUNT_ADDRESS)
  store<u32>(frame, 0, layout.FRAME_REACHED)
  begin(frame)
}

function reportOpened(kind: u32, sender: usize, target: usize, input: usize, length: u32): void {
  const frame: usize = layout.FRAMES
  reportEnter(kind, 0, sender, target, frame + layout.FRAME_VALUE, load<i64>(frame, layout.FRAME_GAS), input, length)
}

@inline
function endWith(end: i32): i32 {
  close(layout.FRAMES, end)
  return layout.EXIT_DONE
}

/** @returns EXIT_FRAME if it may run, EXIT_DONE or EXIT_PRECOMPILE */
export function openMessage(sender: usize, target: usize): i32 {
  const frame: usize = layout.FRAMES
  const value = frame + layout.FRAME_VALUE
  meet(target)
  open(CALL, target)
  store<u32>(frame, 0, layout.FRAME_CODE)
  store<u32>(frame, 0, layout.FRAME_CODE_LENGTH)
  if (isTraced()) {
    // tracers also see the delegate's code
    delegateOf(target)
    reportOpened(CALL, sender, target, load<u32>(frame, layout.FRAME_INPUT), load<u32>(frame, layout.FRAME_INPUT_LENGTH))
  }
  if (has(target, layout.ACCOUNT_CONSOLE)) {
    reportConsole(frame + layout.FRAME_CALLER, load<u32>(frame, layout.FRAME_INPUT), load<u32>(frame, layout.FRAME_INPUT_LENGTH))
  }
  if (isBelow(sender + layout.ACCOUNT_BALANCE, value)) return endWith(layout.END_BALANCE)
  if (sender != target && wouldOverflow(target, value)) return endWith(layout.END_VALUE_OVERFLOW)
  transfer(sender, target, value, !isZero(value))
  if (has(target, layout.ACCOUNT_PRECOMPILE)) {
    store<u32>(layout.HAS_MORE_FRAMES, 1)
    return leaveToPrecompile(frame, target)
  }
  const codeAccount = delegateOf(target)
  if (codeAccount != target) {
    meet(codeAccount)
    store<u32>(codeAccount, load<u32>(codeAccount, layout.ACCOUNT_FLAGS) | layout.ACCOUNT_WARM, layout.ACCOUNT_FLAGS)
  }
  if (load<u32>(codeAccount, layout.ACCOUNT_CODE_LENGTH) == 0) return endWith(layout.END_STOP)
  takeCode(frame, codeAccount)
  return layout.EXIT_FRAME
}

/**
 * The address is derived from the sender's nonce.
 * @returns EXIT_FRAME or EXIT_DONE
 */
export function openCreation(sender: usize, nonce: u64): i32 {
  const frame: usize = layout.FRAMES
  const value = frame + layout.FRAME_VALUE
  createdAddress(sender, nonce)
  const created = accountAt(layout.ADDRESS_SCRATCH)
  if (load<u32>(layout.FORK) >= layout.BERLIN) warm(created)
  meet(created)
  open(CREATE, created)
  if (isTraced()) {
    reportOpened(CREATE, sender, 0, load<u32>(frame, layout.FRAME_CODE), load<u32>(frame, layout.FRAME_CODE_LENGTH))
  }
  if (isBelow(sender + layout.ACCOUNT_BALANCE, value)) return endWith(layout.END_BALANCE)
  if (isTaken(created)) return endWith(layout.END_COLLISION)
  if (sender != created && wouldOverflow(created, value)) return endWith(layout.END_VALUE_OVERFLOW)
  beginContract(sender, created, value)
  const length = load<u32>(frame, layout.FRAME_CODE_LENGTH) as usize
  if (length == 0) return endWith(layout.END_STOP)
  const map = take(length + layout.CODE_PADDING)
  analyze(load<u32>(frame, layout.FRAME_CODE), length, map)
  store<u32>(frame, map as u32, layout.FRAME_JUMPS)
  store<u32>(frame, 0, layout.FRAME_CELLS)
  store<u32>(frame, 0, layout.FRAME_INPUT_LENGTH)
  if (isReachWatched()) reachCreation(frame)
  return layout.EXIT_FRAME
}
