// Storage and transient storage by account and key; the host reads each slot at most once per job.
import * as layout from '../../layout'
import { has, listPlace, WARM_GAS } from './accounts'
import { raiseNeed } from './gasneed'
import { NEW_SLOT_STATE_GAS, payState, returnState } from './stategas'
import { enter, take } from './heap'
import { loadSlot } from './host'
import { saveCold, saveSlot } from './journal'
import { copyWord, isEqual, isZero } from '../arithmetic/words'

const COLD_SLOT_GAS: i64 = 2100
/** SSTORE requires more than this, so that a callee can log (EIP-2200). */
const SENTRY_GAS: i64 = 2300
const SET_GAS: i64 = 20_000
const RESET_GAS: i64 = 5000
/** The first change of a slot, and the refund for clearing it, since amsterdam (EIP-8038). */
const WRITE_GAS: i64 = 10_000
const CLEAR_REFUND: i64 = 11_616

const TRANSIENT: u32 = 1

/** Too little gas. For compiled code also: the interpreter must run it. */
const NONE: i64 = -1

/** `owner` is the account; for transient storage it is marked. */
function slotAt(owner: u32, key: usize): usize {
  const k0 = load<u64>(key)
  const k1 = load<u64>(key, 8)
  const k2 = load<u64>(key, 16)
  const k3 = load<u64>(key, 24)
  const mixed = (k0 ^ rotl<u64>(k1, 17) ^ rotl<u64>(k2, 34) ^ rotl<u64>(k3, 51) ^ ((owner as u64) << 20)) * 0x9e3779b97f4a7c15
  const hash = ((mixed >> 32) ^ mixed) as u32
  const table = load<u32>(layout.SLOTS) as usize
  const mask = load<u32>(layout.SLOTS_MASK)
  const generation = load<u32>(layout.GENERATION)
  for (let i = hash & mask; ; i = (i + 1) & mask) {
    const place = table + ((i as usize) << 3)
    if (load<u32>(place) != generation) break
    const slot = load<u32>(place, 4) as usize
    if (
      load<u64>(slot) == k0 &&
      load<u64>(slot, 8) == k1 &&
      load<u64>(slot, 16) == k2 &&
      load<u64>(slot, 24) == k3 &&
      load<u32>(slot, layout.SLOT_ACCOUNT) == owner
    ) {
      return slot
    }
  }
  return addSlot(owner, key, hash)
}

function addSlot(owner: u32, key: usize, hash: u32): usize {
  const slot = take(layout.SLOT)
  memory.fill(slot + layout.SLOT_VALUE, 0, layout.SLOT - layout.SLOT_VALUE)
  copyWord(slot + layout.SLOT_KEY, key)
  store<u32>(slot, owner, layout.SLOT_ACCOUNT)
  store<u32>(slot, hash, layout.SLOT_HASH)
  enter(layout.SLOTS, slot, layout.SLOT_HASH)
  if (owner & TRANSIENT) return slot
  const account = owner as usize
  store<u32>(slot, load<u32>(account, layout.ACCOUNT_SLOTS), layout.SLOT_BEFORE)
  store<u32>(account, slot as u32, layout.ACCOUNT_SLOTS)
  if (has(account, layout.ACCOUNT_HAS_STORAGE)) {
    loadSlot(account, slot + layout.SLOT_KEY, slot + layout.SLOT_VALUE)
    copyWord(slot + layout.SLOT_ORIGINAL, slot + layout.SLOT_VALUE)
  }
  return slot
}

@inline
function slotOf(frame: usize, key: usize): usize {
  return slotAt(load<u32>(frame, layout.FRAME_ACCOUNT), key)
}

/** EIP-2929. Slots of the access list start warm. */
@inline
function isCold(slot: usize): bool {
  const flags = load<u32>(slot, layout.SLOT_FLAGS)
  if (flags & layout.SLOT_WARM) return false
  if (!(flags & layout.SLOT_PREWARMED)) return true
  store<u32>(slot, flags | layout.SLOT_WARM, layout.SLOT_FLAGS)
  return false
}

function warmSlot(slot: usize, isPaid: bool = true): void {
  saveCold(slot)
  const flags = load<u32>(slot, layout.SLOT_FLAGS)
  const marks = isPaid ? layout.SLOT_WARM | layout.SLOT_LISTED : layout.SLOT_WARM
  store<u32>(slot, flags | marks, layout.SLOT_FLAGS)
  if (load<u32>(layout.REPORTS_ACCESS) && !(flags & layout.SLOT_LISTED)) listPlace((slot as u32) | 1)
}

export function preWarmSlot(account: usize, key: usize): void {
  const slot = slotAt(account as u32, key)
  store<u32>(slot, load<u32>(slot, layout.SLOT_FLAGS) | layout.SLOT_PREWARMED, layout.SLOT_FLAGS)
}

/**
 * `key` and `target` may be the same word. The base gas is paid.
 * @returns gas left, below 0 if too little
 */
export function sload(frame: usize, key: usize, target: usize, gas: i64): i64 {
  const fork = load<u32>(layout.FORK)
  if (fork >= layout.AMSTERDAM && gas < WARM_GAS) return gas - WARM_GAS
  const slot = slotOf(frame, key)
  if (fork >= layout.BERLIN) {
    if (isCold(slot)) {
      const isPaid = gas >= COLD_SLOT_GAS
      if (fork >= layout.AMSTERDAM && !isPaid) return gas - COLD_SLOT_GAS
      warmSlot(slot, isPaid)
      gas -= COLD_SLOT_GAS
    } else {
      gas -= WARM_GAS
    }
  }
  copyWord(target, slot + layout.SLOT_VALUE)
  return gas
}

/** For compiled code, since berlin: changes nothing if gas is short. */
export function sloadOrLeave(frame: usize, key: usize, target: usize, gas: i64): i64 {
  const slot = slotOf(frame, key)
  const isFirst = isCold(slot)
  gas -= isFirst ? COLD_SLOT_GAS : WARM_GAS
  if (gas < 0) return NONE
  if (isFirst) warmSlot(slot)
  copyWord(target, slot + layout.SLOT_VALUE)
  return gas
}

/** @returns gas left; below 0 the missing gas, or the minimum number */
export function sstore(frame: usize, key: usize, value: usize, gas: i64): i64 {
  const fork = load<u32>(layout.FORK)
  if (fork >= layout.ISTANBUL) {
    if (gas <= SENTRY_GAS) return i64.MIN_VALUE
    raiseNeed(frame, load<i64>(frame, layout.FRAME_GAS_LIMIT) - gas + SENTRY_GAS + 1)
    if (fork >= layout.AMSTERDAM) return writeForState(frame, key, value, gas)
  }
  return write(frame, key, value, gas, fork)
}

/** Since amsterdam: the gas covers the access. A new slot costs state gas, which goes back when it is cleared again. */
function writeForState(frame: usize, key: usize, value: usize, gas: i64): i64 {
  const slot = slotOf(frame, key)
  if (isCold(slot)) {
    warmSlot(slot)
    gas -= COLD_SLOT_GAS
  } else {
    gas -= WARM_GAS
  }
  const current = slot + layout.SLOT_VALUE
  if (isEqual(current, value)) return gas
  const original = slot + layout.SLOT_ORIGINAL
  if (isEqual(current, original)) {
    gas -= WRITE_GAS
    if (gas < 0) return gas
    if (isZero(original)) gas = payState(frame, NEW_SLOT_STATE_GAS, gas)
    else if (isZero(value)) refund(CLEAR_REFUND)
    if (gas < 0) return gas
  } else {
    refundDirty(current, original, value, CLEAR_REFUND, WRITE_GAS, WRITE_GAS)
    if (isZero(original) && isZero(value)) gas = returnState(frame, NEW_SLOT_STATE_GAS, gas)
  }
  saveSlot(slot)
  copyWord(current, value)
  store<u32>(slot, load<u32>(slot, layout.SLOT_FLAGS) | layout.SLOT_WRITTEN, layout.SLOT_FLAGS)
  return gas
}

@inline
function write(frame: usize, key: usize, value: usize, gas: i64, fork: u32): i64 {
  const slot = slotOf(frame, key)
  const isNet = fork >= layout.ISTANBUL || fork == layout.CONSTANTINOPLE
  gas -= isNet ? netCost(slot, value, fork) : grossCost(slot, value)
  if (fork >= layout.BERLIN && isCold(slot)) {
    warmSlot(slot)
    gas -= COLD_SLOT_GAS
  }
  if (gas < 0) return gas
  if (isEqual(slot + layout.SLOT_VALUE, value)) return gas
  saveSlot(slot)
  copyWord(slot + layout.SLOT_VALUE, value)
  store<u32>(slot, load<u32>(slot, layout.SLOT_FLAGS) | layout.SLOT_WRITTEN, layout.SLOT_FLAGS)
  return gas
}

/**
 * For compiled code since berlin, which has prepaid `ahead` gas. Near the end of the gas and in static frames it changes
 * nothing and the interpreter takes over.
 */
export function sstoreOrLeave(frame: usize, key: usize, value: usize, gas: i64, ahead: i64): i64 {
  if (load<u32>(frame, layout.FRAME_FLAGS) & layout.FLAG_STATIC) return NONE
  const fork = load<u32>(layout.FORK)
  const isForState = fork >= layout.AMSTERDAM
  if (gas + ahead <= SENTRY_GAS || gas < SET_GAS + COLD_SLOT_GAS) return NONE
  if (isForState && gas + load<i64>(layout.STATE_GAS) < COLD_SLOT_GAS + WRITE_GAS + NEW_SLOT_STATE_GAS) return NONE
  raiseNeed(frame, load<i64>(frame, layout.FRAME_GAS_LIMIT) - gas - ahead + SENTRY_GAS + 1)
  if (isForState) return writeForState(frame, key, value, gas)
  return write(frame, key, value, gas, fork)
}

@inline
function refund(gas: i64): void {
  store<i64>(layout.REFUND, load<i64>(layout.REFUND) + gas)
}

/** Warm slots in constantinople (EIP-1283) and since istanbul (EIP-2200, EIP-2929, EIP-3529). */
function netCost(slot: usize, value: usize, fork: u32): i64 {
  const current = slot + layout.SLOT_VALUE
  const original = slot + layout.SLOT_ORIGINAL
  const isBerlin = fork >= layout.BERLIN
  const readGas: i64 = isBerlin ? WARM_GAS : fork >= layout.ISTANBUL ? 800 : 200
  if (isEqual(current, value)) return readGas
  const resetGas: i64 = isBerlin ? RESET_GAS - COLD_SLOT_GAS : RESET_GAS
  const clearRefund: i64 = fork >= layout.LONDON ? 4800 : 15_000
  if (isEqual(current, original)) {
    if (isZero(original)) return SET_GAS
    if (isZero(value)) refund(clearRefund)
    return resetGas
  }
  refundDirty(current, original, value, clearRefund, SET_GAS - readGas, resetGas - readGas)
  return readGas
}

function refundDirty(current: usize, original: usize, value: usize, clear: i64, unset: i64, restore: i64): void {
  if (!isZero(original)) {
    if (isZero(current)) refund(-clear)
    else if (isZero(value)) refund(clear)
  }
  if (isEqual(original, value)) refund(isZero(original) ? unset : restore)
}

/** Before constantinople, and in petersburg. */
function grossCost(slot: usize, value: usize): i64 {
  const current = slot + layout.SLOT_VALUE
  if (isZero(current)) return isZero(value) ? RESET_GAS : SET_GAS
  if (isZero(value)) refund(15_000)
  return RESET_GAS
}

export function tload(frame: usize, key: usize): void {
  copyWord(key, slotAt(load<u32>(frame, layout.FRAME_ACCOUNT) | TRANSIENT, key) + layout.SLOT_VALUE)
}

export function tstore(frame: usize, key: usize, value: usize): void {
  const slot = slotAt(load<u32>(frame, layout.FRAME_ACCOUNT) | TRANSIENT, key)
  saveSlot(slot)
  copyWord(slot + layout.SLOT_VALUE, value)
}
