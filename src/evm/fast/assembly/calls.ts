// Calls, creations and SELFDESTRUCT: gas, value transfer and new frames.
import { keccak } from '../../../core/crypto/assembly/keccak'
import * as layout from '../layout'
import {
  accessGas, accountAt, addBalance, delegateOf, has, isDead, meet, readyCode, setNonce, takeBalance, touch, warm, wouldOverflow,
  zeroBalance,
} from './state/accounts'
import { analyze } from './state/code'
import { depthOf, isTraced, reportDestroy, reportEnter, reportUnrun } from './events'
import { begin, STIPEND } from './frames'
import { isReachWatched, reachCode, reachCreation } from './reached'
import { closeStep } from './steps'
import { reportConsole } from './state/host'
import { raiseNeed } from './state/gasneed'
import { raise } from './state/journal'
import { NEW_ACCOUNT_STATE_GAS, payState, returnState } from './state/stategas'
import { endOf, endWanting, expandFor, expansionGas, isStatic, isWithin, logTransfer, payWords } from './memory'
import { CALL, CALLCODE, CREATE, CREATE2, DELEGATECALL, STATICCALL } from '../opcodes.generated'
import { copyWord, isBelow, isZero, setShort, turnWord } from './arithmetic/words'

const VALUE_GAS: i64 = 9000
const NEW_ACCOUNT_GAS: i64 = 25_000
const INIT_WORD_GAS: u64 = 2
const HASH_WORD_GAS: u64 = 6
const DESTRUCTION_GAS: i64 = 5000
const DESTRUCTION_REFUND: i64 = 24_000
/** Since amsterdam (EIP-8038): the write of an account, with the stipend in a call. */
const ACCOUNT_WRITE_GAS: i64 = 9000
const CALL_VALUE_GAS: i64 = ACCOUNT_WRITE_GAS + STIPEND

/** All but one 64th since tangerine whistle (EIP-150). */
@inline
function largestGrant(gas: i64): i64 {
  return load<u32>(layout.FORK) >= layout.TANGERINE_WHISTLE ? gas - ((gas as u64) >> 6) as i64 : gas
}

/** Replaces the operation's arguments, the first of which is at `top - 32 * count`, by the result. */
@inline
function pushResult(frame: usize, place: usize, result: u64, gas: i64): i32 {
  setShort(place, result)
  store<u32>(frame, (place + 32) as u32, layout.FRAME_STACK_TOP)
  store<i64>(frame, gas, layout.FRAME_GAS)
  store<u32>(layout.RETURN_LENGTH, 0)
  return layout.EXIT_NEXT
}

/**
 * CALL, CALLCODE, DELEGATECALL, STATICCALL with arguments below `top`. The frame's pc is past the operation, and its base gas
 * is paid.
 * @returns EXIT_NEXT, EXIT_FRAME, EXIT_PRECOMPILE or how the frame ends
 */
export function call(frame: usize, kind: u32, top: usize, gas: i64): i32 {
  const takesValue = kind == CALL || kind == CALLCODE
  const value = top - 96
  const hasValue = takesValue && !isZero(value)
  if (hasValue && kind == CALL && isStatic(frame)) return layout.END_STATIC
  const place = top - (takesValue ? 224 : 192)
  const target = accountAt(top - 64)
  const isForState = load<u32>(layout.FORK) >= layout.AMSTERDAM
  gas = isForState ? payReach(frame, place, target, hasValue, gas) : payCall(kind, target, hasValue, gas)
  if (gas < 0) return layout.END_OUT_OF_GAS
  const asked = top - 32
  gas = expandFor(frame, place + 96, place + 64, gas)
  if (gas >= 0) gas = expandFor(frame, place + 32, place, gas)
  if (gas < 0) return load<u32>(layout.FORK) < layout.TANGERINE_WHISTLE ? endWanting(gas, asked) : endOf(gas)
  const isNew = isForState && hasValue && kind == CALL && isDead(target)
  if (isNew) {
    gas = payState(frame, NEW_ACCOUNT_STATE_GAS, gas)
    if (gas < 0) return layout.END_OUT_OF_GAS
  }
  let granted = largestGrant(gas)
  if (isWithin(asked, granted)) granted = load<i64>(asked)
  else if (load<u32>(layout.FORK) < layout.TANGERINE_WHISTLE) return layout.END_OUT_OF_GAS
  // before EIP-150 the requested gas must be there in full
  if (load<u32>(layout.FORK) < layout.TANGERINE_WHISTLE) {
    raiseNeed(frame, load<i64>(frame, layout.FRAME_GAS_LIMIT) - gas + granted)
  }
  if (hasValue) raiseNeed(frame, load<i64>(frame, layout.FRAME_GAS_LIMIT) - gas)
  gas -= granted
  if (hasValue) granted += STIPEND
  store<u32>(layout.HAS_MORE_FRAMES, 1)
  if (isTraced()) closeStep(gas, top)
  if (has(target, layout.ACCOUNT_DELEGATED)) meet(delegateOf(target))
  const self = load<u32>(frame, layout.FRAME_ACCOUNT) as usize
  if (isDeepest(frame) || (hasValue && isBelow(self + layout.ACCOUNT_BALANCE, value))) {
    if (isTraced()) {
      reportCallOpened(frame, kind, place, target, takesValue ? value : 0, granted)
      reportUnrun(isDeepest(frame) ? layout.END_DEPTH : layout.END_BALANCE, depthOf(frame) + 1, 0, 0)
    }
    return pushUnrun(frame, place, isNew, gas + granted)
  }
  if (isTraced()) {
    const shown = takesValue ? value : kind == DELEGATECALL ? frame + layout.FRAME_VALUE : 0
    reportCallOpened(frame, kind, place, target, shown, granted)
  }
  const receiver = kind == CALL || kind == STATICCALL ? target : self
  if (hasValue && receiver != self && wouldOverflow(receiver, value)) {
    if (isTraced()) reportUnrun(layout.END_VALUE_OVERFLOW, depthOf(frame) + 1, 0, 0)
    return pushUnrun(frame, place, isNew, gas + granted)
  }
  const codeAccount = has(target, layout.ACCOUNT_PRECOMPILE) ? target : delegateOf(target)
  const isPrecompile = codeAccount == target && has(target, layout.ACCOUNT_PRECOMPILE)
  if (has(target, layout.ACCOUNT_CONSOLE)) reportConsoleCall(frame, kind, place)
  if (!isPrecompile && load<u32>(codeAccount, layout.ACCOUNT_CODE_LENGTH) == 0) {
    if (kind != DELEGATECALL) transfer(self, receiver, value, hasValue)
    if (isTraced()) reportUnrun(layout.END_STOP, depthOf(frame) + 1, 0, 0)
    return pushResult(frame, place, 1, gas + granted)
  }
  openCall(frame, kind, place, receiver, codeAccount, gas, granted)
  const child = frame + layout.FRAME
  if (isNew) markNewAccount(child)
  if (kind != DELEGATECALL) transfer(self, receiver, value, hasValue)
  setCallValue(frame, child, kind, value, hasValue)
  if (!isPrecompile) return layout.EXIT_FRAME
  return leaveToPrecompile(child, target)
}

/** A call or creation without a frame: state gas for its account goes back. */
function pushUnrun(frame: usize, place: usize, isNew: bool, gas: i64): i32 {
  return pushResult(frame, place, 0, isNew ? returnState(frame, NEW_ACCOUNT_STATE_GAS, gas) : gas)
}

@inline
function markNewAccount(child: usize): void {
  store<u32>(child, load<u32>(child, layout.FRAME_FLAGS) | layout.FLAG_NEW_ACCOUNT, layout.FRAME_FLAGS)
}

/**
 * `payCall` since amsterdam: an account is read only once the gas covers all that is known before, its own cost and memory
 * included (EIP-7928).
 */
function payReach(frame: usize, place: usize, target: usize, hasValue: bool, gas: i64): i64 {
  const memoryGas = expansionGas(frame, place + 96, place + 64, place + 32, place)
  const left = gas - accessGas(target) - (hasValue ? CALL_VALUE_GAS : 0)
  if (left < memoryGas) return left - memoryGas
  meet(target)
  warm(target)
  if (!has(target, layout.ACCOUNT_DELEGATED)) return left
  const delegate = delegateOf(target)
  const rest = left - accessGas(delegate)
  if (rest < memoryGas) return rest - memoryGas
  meet(delegate)
  warm(delegate)
  return rest
}

function reportCallOpened(frame: usize, kind: u32, place: usize, target: usize, value: usize, gas: i64): void {
  const length = load<u32>(place, 64)
  const input = (load<u32>(frame, layout.FRAME_MEMORY) + (length ? load<u32>(place, 96) : 0)) as usize
  reportEnter(kind, depthOf(frame) + 1, load<u32>(frame, layout.FRAME_ACCOUNT), target, value, gas, input, length)
}

export function leaveToPrecompile(frame: usize, account: usize): i32 {
  store<u32>(layout.PRECOMPILE_ACCOUNT, account as u32)
  store<u32>(layout.PRECOMPILE_INPUT, load<u32>(frame, layout.FRAME_INPUT))
  store<u32>(layout.PRECOMPILE_LENGTH, load<u32>(frame, layout.FRAME_INPUT_LENGTH))
  store<i64>(layout.PRECOMPILE_GAS, load<i64>(frame, layout.FRAME_GAS))
  return layout.EXIT_PRECOMPILE
}

@inline
function isDeepest(frame: usize): bool {
  return frame >= layout.FRAMES + layout.MAX_DEPTH * layout.FRAME
}

/** The cost besides base and memory. Accounts turn warm, and the target is read, even if the gas is too little. */
@inline
function payCall(kind: u32, target: usize, hasValue: bool, gas: i64): i64 {
  const fork = load<u32>(layout.FORK)
  meet(target)
  if (fork >= layout.BERLIN) gas -= warm(target)
  if (hasValue) gas -= VALUE_GAS
  if (kind == CALL) {
    const isNew = fork >= layout.SPURIOUS_DRAGON ? hasValue && isDead(target) : !has(target, layout.ACCOUNT_EXISTS)
    if (isNew) gas -= NEW_ACCOUNT_GAS
  }
  if (has(target, layout.ACCOUNT_DELEGATED)) gas -= warm(delegateOf(target))
  return gas
}

function reportConsoleCall(frame: usize, kind: u32, place: usize): void {
  const caller = frame + (kind == DELEGATECALL ? layout.FRAME_CALLER : layout.FRAME_ADDRESS)
  const length = load<u32>(place, 64)
  reportConsole(caller, (load<u32>(frame, layout.FRAME_MEMORY) + (length ? load<u32>(place, 96) : 0)) as usize, length)
}

export function transfer(sender: usize, receiver: usize, value: usize, hasValue: bool): void {
  if (hasValue && sender != receiver) {
    takeBalance(sender, value)
    addBalance(receiver, value)
    if (load<u32>(layout.FORK) >= layout.AMSTERDAM) logTransfer(sender, receiver, value)
  }
  touch(sender)
  if (sender != receiver) touch(receiver)
}

@inline
function openChild(frame: usize, kind: u32, place: usize, memoryBase: u32, gas: i64, granted: i64): usize {
  const child = frame + layout.FRAME
  store<i64>(frame, gas, layout.FRAME_GAS)
  store<u32>(frame, place as u32, layout.FRAME_STACK_TOP)
  store<i64>(child, granted, layout.FRAME_GAS)
  store<i64>(child, granted, layout.FRAME_GAS_LIMIT)
  store<u32>(child, (place + 32) as u32, layout.FRAME_STACK)
  store<u32>(child, (place + 32) as u32, layout.FRAME_STACK_TOP)
  store<u32>(child, memoryBase, layout.FRAME_MEMORY)
  store<u32>(child, 0, layout.FRAME_MEMORY_SIZE)
  store<u32>(child, kind, layout.FRAME_KIND)
  return child
}

@inline
function openCall(
  frame: usize, kind: u32, place: usize, receiver: usize, codeAccount: usize, gas: i64, granted: i64,
): void {
  // the precompile may fail while its caller continues
  store<u32>(layout.DEPENDS_ON_GAS, 1)
  const inputLength = load<u32>(place, 64)
  const outputLength = load<u32>(place)
  const ownMemory = load<u32>(frame, layout.FRAME_MEMORY)
  const child = openChild(frame, kind, place, ownMemory + load<u32>(frame, layout.FRAME_MEMORY_SIZE), gas, granted)
  store<u32>(child, ownMemory + (inputLength ? load<u32>(place, 96) : 0), layout.FRAME_INPUT)
  store<u32>(child, inputLength, layout.FRAME_INPUT_LENGTH)
  store<u32>(child, outputLength ? load<u32>(place, 32) : 0, layout.FRAME_TARGET)
  store<u32>(child, outputLength, layout.FRAME_TARGET_LENGTH)
  const flags = load<u32>(frame, layout.FRAME_FLAGS) & layout.FLAG_STATIC
  store<u32>(child, kind == STATICCALL ? flags | layout.FLAG_STATIC : flags, layout.FRAME_FLAGS)
  store<u32>(child, 0, layout.FRAME_ROOM)
  store<u32>(child, receiver as u32, layout.FRAME_ACCOUNT)
  copyWord(child + layout.FRAME_ADDRESS, receiver + layout.ACCOUNT_ADDRESS)
  takeCode(child, codeAccount)
  begin(child)
}

export function takeCode(frame: usize, account: usize): void {
  if (load<u32>(account, layout.ACCOUNT_CODE_LENGTH)) readyCode(account)
  store<u32>(frame, account as u32, layout.FRAME_CODE_ACCOUNT)
  store<u32>(frame, load<u32>(account, layout.ACCOUNT_CODE), layout.FRAME_CODE)
  store<u32>(frame, load<u32>(account, layout.ACCOUNT_CODE_LENGTH), layout.FRAME_CODE_LENGTH)
  store<u32>(frame, load<u32>(account, layout.ACCOUNT_JUMPS), layout.FRAME_JUMPS)
  store<u32>(frame, load<u32>(account, layout.ACCOUNT_CELLS), layout.FRAME_CELLS)
  if (isReachWatched()) reachCode(frame, account)
}

/** DELEGATECALL inherits CALLER and CALLVALUE. */
@inline
function setCallValue(frame: usize, child: usize, kind: u32, value: usize, hasValue: bool): void {
  if (kind == DELEGATECALL) {
    copyWord(child + layout.FRAME_CALLER, frame + layout.FRAME_CALLER)
    copyWord(child + layout.FRAME_VALUE, frame + layout.FRAME_VALUE)
    return
  }
  copyWord(child + layout.FRAME_CALLER, frame + layout.FRAME_ADDRESS)
  if (hasValue) copyWord(child + layout.FRAME_VALUE, value)
  else setShort(child + layout.FRAME_VALUE, 0)
}

/** CREATE and CREATE2, as `call`. */
export function create(frame: usize, kind: u32, top: usize, gas: i64): i32 {
  if (isStatic(frame)) return layout.END_STATIC
  const value = top - 32
  const offset = top - 64
  const length = top - 96
  const place = top - (kind == CREATE ? 96 : 128)
  if (load<u32>(layout.FORK) >= layout.SHANGHAI) gas = payWords(length, INIT_WORD_GAS, gas)
  if (kind == CREATE2 && gas >= 0) gas = payWords(length, HASH_WORD_GAS, gas)
  if (gas < 0) return layout.END_OUT_OF_GAS
  gas = expandFor(frame, offset, length, gas)
  if (gas < 0) return endOf(gas)
  const size = load<u32>(length)
  const limit = load<u32>(layout.INIT_CODE_LIMIT)
  if (limit && size > limit) {
    if (isTraced()) closeStep(gas, top)
    return layout.END_INIT_CODE_SIZE
  }
  const self = load<u32>(frame, layout.FRAME_ACCOUNT) as usize
  const nonce = load<u64>(self, layout.ACCOUNT_NONCE)
  const code = (load<u32>(frame, layout.FRAME_MEMORY) as usize) + (size ? load<u32>(offset) : 0)
  const depth = depthOf(frame) + 1
  store<u32>(layout.HAS_MORE_FRAMES, 1)
  const isUnrun = isDeepest(frame) || isBelow(self + layout.ACCOUNT_BALANCE, value) || nonce == u64.MAX_VALUE
  const created = isUnrun ? 0 : accountCreated(kind, self, nonce, top - 128, code, size)
  const isNew = created != 0 && load<u32>(layout.FORK) >= layout.AMSTERDAM && isDead(created)
  if (isNew) {
    gas = payState(frame, NEW_ACCOUNT_STATE_GAS, gas)
    if (gas < 0) return layout.END_OUT_OF_GAS
  }
  const granted = largestGrant(gas)
  if (isTraced()) {
    closeStep(gas, top)
    reportEnter(kind, depth, self, 0, value, granted, code, size)
  }
  if (isUnrun) {
    if (isTraced()) reportUnrun(whyUncreated(frame, self, value), depth, 0, 0)
    return pushResult(frame, place, 0, gas)
  }
  setNonce(self, nonce + 1)
  store<u32>(layout.DEPENDS_ON_GAS, 1)
  if (isTaken(created)) {
    if (isTraced()) reportUnrun(layout.END_COLLISION, depth, created, granted)
    return pushUnrun(frame, place, isNew, gas - granted)
  }
  if (created != self && wouldOverflow(created, value)) {
    if (isTraced()) reportUnrun(layout.END_VALUE_OVERFLOW, depth, created, 0)
    return pushUnrun(frame, place, isNew, gas)
  }
  if (size == 0) {
    beginContract(self, created, value)
    if (isTraced()) reportUnrun(layout.END_STOP, depth, created, 0)
    pushResult(frame, place, 0, gas)
    copyWord(place, created + layout.ACCOUNT_ADDRESS)
    return layout.EXIT_NEXT
  }
  openCreator(frame, kind, place, code, size, gas - granted, granted)
  const child = frame + layout.FRAME
  copyWord(child + layout.FRAME_VALUE, value)
  copyWord(child + layout.FRAME_CALLER, frame + layout.FRAME_ADDRESS)
  copyWord(child + layout.FRAME_ADDRESS, created + layout.ACCOUNT_ADDRESS)
  store<u32>(child, created as u32, layout.FRAME_ACCOUNT)
  store<u32>(child, created as u32, layout.FRAME_CODE_ACCOUNT)
  if (isNew) markNewAccount(child)
  beginContract(self, created, value)
  return layout.EXIT_FRAME
}

/** Warms it. */
function accountCreated(kind: u32, creator: usize, nonce: u64, salt: usize, code: usize, size: u32): usize {
  if (kind == CREATE2) saltedAddress(creator, salt, code, size)
  else createdAddress(creator, nonce)
  const created = accountAt(layout.ADDRESS_SCRATCH)
  meet(created)
  if (load<u32>(layout.FORK) >= layout.BERLIN) warm(created)
  return created
}

function whyUncreated(frame: usize, creator: usize, value: usize): i32 {
  if (isDeepest(frame)) return layout.END_DEPTH
  return isBelow(creator + layout.ACCOUNT_BALANCE, value) ? layout.END_BALANCE : layout.END_NONCE
}

/** Address collision (EIP-684, EIP-7610). */
export function isTaken(account: usize): bool {
  return (
    load<u64>(account, layout.ACCOUNT_NONCE) != 0 ||
    load<u32>(account, layout.ACCOUNT_CODE_LENGTH) != 0 ||
    has(account, layout.ACCOUNT_HAS_STORAGE)
  )
}

export function beginContract(creator: usize, created: usize, value: usize): void {
  raise(created, layout.ACCOUNT_CREATED | layout.ACCOUNT_EXISTS)
  setNonce(created, load<u32>(layout.FORK) >= layout.SPURIOUS_DRAGON ? 1 : 0)
  transfer(creator, created, value, !isZero(value))
}

/** Places init code, its jump map and the new memory behind the caller's memory. */
function openCreator(
  frame: usize, kind: u32, place: usize, source: usize, size: u32, gas: i64, granted: i64,
): void {
  const code = load<u32>(frame, layout.FRAME_MEMORY) + load<u32>(frame, layout.FRAME_MEMORY_SIZE)
  const map = code + ((size + layout.CODE_PADDING + 31) & ~31)
  const memoryBase = map + ((size + layout.CODE_PADDING + 31) & ~31)
  const room = memoryBase - code
  const end = load<u32>(layout.MEMORY_END) + room
  // no block has the gas for code of this length
  if (end > load<u32>(layout.ROOM_END)) unreachable()
  store<u32>(layout.MEMORY_END, end)
  memory.copy(code, source, size)
  memory.fill(code + size, 0, layout.CODE_PADDING)
  analyze(code, size, map)
  const child = openChild(frame, kind, place, memoryBase, gas, granted)
  store<u32>(child, room, layout.FRAME_ROOM)
  store<u32>(child, 0, layout.FRAME_INPUT_LENGTH)
  store<u32>(child, 0, layout.FRAME_TARGET_LENGTH)
  store<u32>(child, 0, layout.FRAME_FLAGS)
  store<u32>(child, code, layout.FRAME_CODE)
  store<u32>(child, size, layout.FRAME_CODE_LENGTH)
  store<u32>(child, map, layout.FRAME_JUMPS)
  store<u32>(child, 0, layout.FRAME_CELLS)
  if (isReachWatched()) reachCreation(child)
  begin(child)
}

/** Writes the hash of RLP([creator, nonce]) to ADDRESS_SCRATCH, as a word. */
export function createdAddress(creator: usize, nonce: u64): void {
  const text: usize = layout.ADDRESS_SCRATCH + 32
  store<u8>(text, 0x94, 1)
  memory.copy(text + 2, creator + layout.ACCOUNT_BYTES, 20)
  let size: u32 = 0
  if (nonce < 0x80) {
    store<u8>(text, nonce == 0 ? 0x80 : nonce, 22)
  } else {
    size = 8 - ((clz<u64>(nonce) >> 3) as u32)
    store<u8>(text, 0x80 + size, 22)
    store<u64>(text, bswap<u64>(nonce << ((8 - size) << 3)), 23)
  }
  store<u8>(text, 0xc0 + 22 + size)
  keccak(text, 23 + size, text)
  turnWord(layout.ADDRESS_SCRATCH, text)
}

/** EIP-1014. */
function saltedAddress(creator: usize, salt: usize, code: usize, size: u32): void {
  const text: usize = layout.ADDRESS_SCRATCH + 32
  keccak(code, size, text + 53)
  store<u8>(text, 0xff)
  memory.copy(text + 1, creator + layout.ACCOUNT_BYTES, 20)
  turnWord(text + 21, salt)
  keccak(text, 85, text)
  turnWord(layout.ADDRESS_SCRATCH, text)
}

export function destroy(frame: usize, word: usize, gas: i64): i32 {
  if (isStatic(frame)) return layout.END_STATIC
  const fork = load<u32>(layout.FORK)
  const self = load<u32>(frame, layout.FRAME_ACCOUNT) as usize
  const heir = accountAt(word)
  const balance = self + layout.ACCOUNT_BALANCE
  const hasBalance = !isZero(balance)
  gas = fork >= layout.AMSTERDAM ? paySweep(frame, heir, hasBalance, gas) : payDestruction(heir, hasBalance, fork, gas)
  if (gas < 0) return layout.END_OUT_OF_GAS
  store<i64>(frame, gas, layout.FRAME_GAS)
  if (fork < layout.LONDON && !has(self, layout.ACCOUNT_DESTROYED)) {
    store<i64>(layout.REFUND, load<i64>(layout.REFUND) + DESTRUCTION_REFUND)
  }
  raise(self, layout.ACCOUNT_DESTROYED)
  store<u32>(layout.HAS_MORE_FRAMES, 1)
  if (isTraced()) {
    closeStep(gas, word + 32)
    reportDestroy(self, heir)
  }
  if (heir != self) {
    if (hasBalance) {
      addBalance(heir, balance)
      if (fork >= layout.AMSTERDAM) logTransfer(self, heir, balance)
    }
    touch(heir)
  }
  // its own heir keeps its balance: an old contract since cancun (EIP-6780), any since amsterdam (EIP-8246)
  const burns = fork < layout.CANCUN || (fork < layout.AMSTERDAM && has(self, layout.ACCOUNT_CREATED))
  if (heir != self || burns) zeroBalance(self)
  return layout.END_STOP
}

@inline
function payDestruction(heir: usize, hasBalance: bool, fork: u32, gas: i64): i64 {
  meet(heir)
  if (fork >= layout.TANGERINE_WHISTLE) {
    const isNew = fork >= layout.SPURIOUS_DRAGON ? hasBalance && isDead(heir) : !has(heir, layout.ACCOUNT_EXISTS)
    gas -= DESTRUCTION_GAS + (isNew ? NEW_ACCOUNT_GAS : 0)
  }
  return fork >= layout.BERLIN && !has(heir, layout.ACCOUNT_WARM) ? gas - warm(heir) : gas
}

/** Since amsterdam: the heir is read once the gas covers that, and a new one costs state gas. */
function paySweep(frame: usize, heir: usize, hasBalance: bool, gas: i64): i64 {
  const isCold = !has(heir, layout.ACCOUNT_WARM)
  gas -= DESTRUCTION_GAS + (isCold ? accessGas(heir) : 0)
  if (gas < 0) return gas
  meet(heir)
  if (isCold) warm(heir)
  if (!hasBalance || !isDead(heir)) return gas
  gas -= ACCOUNT_WRITE_GAS
  return gas < 0 ? gas : payState(frame, NEW_ACCOUNT_STATE_GAS, gas)
}
