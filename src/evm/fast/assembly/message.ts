// The outermost frame: a message from outside, or the creation of a contract by a transaction. The host has set its gas,
// CALLER, CALLVALUE, and input or init code.
import {
  ACCOUNT_ADDRESS, ACCOUNT_BALANCE, ACCOUNT_CODE_LENGTH, ACCOUNT_CONSOLE, ACCOUNT_FLAGS, ACCOUNT_PRECOMPILE, ACCOUNT_WARM,
  ADDRESS_SCRATCH,
  BERLIN, CODE_PADDING, END_BALANCE, END_COLLISION, END_STOP, END_VALUE_OVERFLOW, EXIT_DONE, EXIT_FRAME, FORK, FRAME_ACCOUNT,
  FRAME_ADDRESS, FRAME_CALLER, FRAME_CELLS, FRAME_CODE, FRAME_CODE_ACCOUNT, FRAME_CODE_LENGTH, FRAME_FLAGS, FRAME_GAS,
  FRAME_GAS_LIMIT, FRAME_INPUT, FRAME_INPUT_LENGTH, FRAME_JUMPS, FRAME_KIND, FRAME_MEMORY, FRAME_MEMORY_SIZE, FRAME_ROOM,
  FRAME_STACK, FRAME_STACK_TOP, FRAME_TARGET_LENGTH, FRAME_VALUE, FRAMES, MEMORY, STACKS,
} from '../layout'
import { accountAt, delegateOf, has, warm, wouldOverflow } from './state/accounts'
import { beginContract, createdAddress, isTaken, leaveToPrecompile, takeCode, transfer } from './calls'
import { analyze } from './state/code'
import { begin, close } from './frames'
import { take } from './state/heap'
import { tellConsole } from './state/host'
import { CALL, CREATE } from '../opcodes.generated'
import { copyWord, isBelow, isZero } from './arithmetic/words'

function open(kind: u32, account: usize): void {
  const frame: usize = FRAMES
  store<i64>(frame, load<i64>(frame, FRAME_GAS), FRAME_GAS_LIMIT)
  store<u32>(frame, STACKS, FRAME_STACK)
  store<u32>(frame, STACKS, FRAME_STACK_TOP)
  store<u32>(frame, MEMORY, FRAME_MEMORY)
  store<u32>(frame, 0, FRAME_MEMORY_SIZE)
  store<u32>(frame, 0, FRAME_FLAGS)
  store<u32>(frame, 0, FRAME_ROOM)
  store<u32>(frame, 0, FRAME_TARGET_LENGTH)
  store<u32>(frame, kind, FRAME_KIND)
  store<u32>(frame, account as u32, FRAME_ACCOUNT)
  store<u32>(frame, account as u32, FRAME_CODE_ACCOUNT)
  copyWord(frame + FRAME_ADDRESS, account + ACCOUNT_ADDRESS)
  begin(frame)
}

@inline
function endWith(end: i32): i32 {
  close(FRAMES, end)
  return EXIT_DONE
}

/** Opens the frame of a call. @returns EXIT_FRAME: it may run; EXIT_DONE, EXIT_PRECOMPILE */
export function openMessage(sender: usize, target: usize): i32 {
  const frame: usize = FRAMES
  const value = frame + FRAME_VALUE
  open(CALL, target)
  store<u32>(frame, 0, FRAME_CODE)
  store<u32>(frame, 0, FRAME_CODE_LENGTH)
  if (has(target, ACCOUNT_CONSOLE)) {
    tellConsole(frame + FRAME_CALLER, load<u32>(frame, FRAME_INPUT), load<u32>(frame, FRAME_INPUT_LENGTH))
  }
  if (isBelow(sender + ACCOUNT_BALANCE, value)) return endWith(END_BALANCE)
  if (sender != target && wouldOverflow(target, value)) return endWith(END_VALUE_OVERFLOW)
  transfer(sender, target, value, !isZero(value))
  if (has(target, ACCOUNT_PRECOMPILE)) return leaveToPrecompile(frame, target)
  const codeAccount = delegateOf(target)
  if (codeAccount != target) {
    store<u32>(codeAccount, load<u32>(codeAccount, ACCOUNT_FLAGS) | ACCOUNT_WARM, ACCOUNT_FLAGS)
  }
  if (load<u32>(codeAccount, ACCOUNT_CODE_LENGTH) == 0) return endWith(END_STOP)
  takeCode(frame, codeAccount)
  return EXIT_FRAME
}

/** Opens the frame of a creation, whose address comes from the sender's nonce. @returns EXIT_FRAME or EXIT_DONE */
export function openCreation(sender: usize, nonce: u64): i32 {
  const frame: usize = FRAMES
  const value = frame + FRAME_VALUE
  createdAddress(sender, nonce)
  const created = accountAt(ADDRESS_SCRATCH)
  if (load<u32>(FORK) >= BERLIN) warm(created)
  open(CREATE, created)
  if (isBelow(sender + ACCOUNT_BALANCE, value)) return endWith(END_BALANCE)
  if (isTaken(created)) return endWith(END_COLLISION)
  if (sender != created && wouldOverflow(created, value)) return endWith(END_VALUE_OVERFLOW)
  beginContract(sender, created, value)
  const length = load<u32>(frame, FRAME_CODE_LENGTH) as usize
  if (length == 0) return endWith(END_STOP)
  const map = take(length + CODE_PADDING)
  analyze(load<u32>(frame, FRAME_CODE), length, map)
  store<u32>(frame, map as u32, FRAME_JUMPS)
  store<u32>(frame, 0, FRAME_CELLS)
  store<u32>(frame, 0, FRAME_INPUT_LENGTH)
  return EXIT_FRAME
}
