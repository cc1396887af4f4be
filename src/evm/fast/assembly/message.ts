// Opens the outermost frame: a message, or a creation by a transaction. The host has set gas, CALLER, CALLVALUE and input or
// init code.
import * as layout from '../layout'
import { accountAt, delegateOf, has, isDead, meet, warm, wouldOverflow } from './state/accounts'
import { beginContract, createdAddress, isTaken, leaveToPrecompile, takeCode, transfer } from './calls'
import { analyze } from './state/code'
import { isTraced, reportEnter } from './events'
import { begin, close } from './frames'
import { isReachWatched, reachCreation } from './reached'
import { take } from './state/heap'
import { reportConsole } from './state/host'
import { NEW_ACCOUNT_STATE_GAS, payState } from './state/stategas'
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

/**
 * Pays for accesses before the first operation, since amsterdam (EIP-2780, EIP-8037): a new account, and the delegate.
 * @returns false if the gas is too little
 */
function prepare(account: usize, isNew: bool): bool {
  if (load<u32>(layout.FORK) < layout.AMSTERDAM) return true
  const frame: usize = layout.FRAMES
  let gas = load<i64>(frame, layout.FRAME_GAS)
  if (isNew) gas = payState(frame, NEW_ACCOUNT_STATE_GAS, gas)
  if (gas >= 0 && has(account, layout.ACCOUNT_DELEGATED)) gas -= warm(delegateOf(account))
  if (gas < 0) {
    store<u32>(layout.IS_UNPREPARED, 1)
    return false
  }
  store<i64>(frame, gas, layout.FRAME_GAS)
  return true
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
  const isPrecompile = has(target, layout.ACCOUNT_PRECOMPILE)
  if (isPrecompile) store<u32>(layout.HAS_MORE_FRAMES, 1)
  if (!prepare(target, !isZero(value) && isDead(target))) return endWith(layout.END_OUT_OF_GAS)
  transfer(sender, target, value, !isZero(value))
  if (isPrecompile) {
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
  if (isTaken(created)) {
    store<u32>(layout.IS_UNPREPARED, 1)
    return endWith(layout.END_COLLISION)
  }
  if (sender != created && wouldOverflow(created, value)) return endWith(layout.END_VALUE_OVERFLOW)
  if (!prepare(created, isDead(created))) return endWith(layout.END_OUT_OF_GAS)
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
