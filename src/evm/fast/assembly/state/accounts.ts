// The job's accounts: loaded from the host on first use, changed here, written back by the host on success.
import * as layout from '../../layout'
import { analyze } from './code'
import { enter, reserve, take } from './heap'
import { loadAccount, loadCode } from './host'
import { raise, saveBalance, saveNonce } from './journal'
import { add, copyWord, isBelow, isShort, isZero, setShort, sub, turnWord } from '../arithmetic/words'

export const WARM_GAS: i64 = 100

/** The address is the lower 20 bytes of the word. */
export function accountAt(word: usize): usize {
  const low = load<u64>(word)
  const middle = load<u64>(word, 8)
  const high = load<u32>(word, 16)
  const hash = hashOf(low, middle, high)
  const table = load<u32>(layout.ACCOUNTS) as usize
  const mask = load<u32>(layout.ACCOUNTS_MASK)
  const generation = load<u32>(layout.GENERATION)
  for (let i = hash & mask; ; i = (i + 1) & mask) {
    const slot = table + ((i as usize) << 3)
    if (load<u32>(slot) != generation) break
    const account = load<u32>(slot, 4) as usize
    if (
      load<u64>(account, layout.ACCOUNT_ADDRESS) == low &&
      load<u64>(account, layout.ACCOUNT_ADDRESS + 8) == middle &&
      load<u32>(account, layout.ACCOUNT_ADDRESS + 16) == high
    ) {
      return account
    }
  }
  return addAccount(low, middle, high, hash)
}

@inline
function hashOf(low: u64, middle: u64, high: u32): u32 {
  const mixed = (low ^ rotl<u64>(middle, 23) ^ ((high as u64) << 17)) * 0x9e3779b97f4a7c15
  return (mixed >> 32) as u32
}

function addAccount(low: u64, middle: u64, high: u32, hash: u32): usize {
  const account = take(layout.ACCOUNT)
  memory.fill(account, 0, layout.ACCOUNT)
  store<u64>(account, low, layout.ACCOUNT_ADDRESS)
  store<u64>(account, middle, layout.ACCOUNT_ADDRESS + 8)
  store<u32>(account, high, layout.ACCOUNT_ADDRESS + 16)
  store<u32>(account, bswap<u32>(high), layout.ACCOUNT_BYTES)
  store<u64>(account, bswap<u64>(middle), layout.ACCOUNT_BYTES + 4)
  store<u64>(account, bswap<u64>(low), layout.ACCOUNT_BYTES + 12)
  store<u32>(account, hash, layout.ACCOUNT_KEY)
  store<u32>(account, load<u32>(layout.LAST_ACCOUNT), layout.ACCOUNT_BEFORE)
  store<u32>(layout.LAST_ACCOUNT, account as u32)
  enter(layout.ACCOUNTS, account, layout.ACCOUNT_KEY)
  loadAccount(account)
  return account
}

@inline
export function has(account: usize, flags: u32): bool {
  return (load<u32>(account, layout.ACCOUNT_FLAGS) & flags) != 0
}

/** Not journaled. */
@inline
function mark(account: usize, flags: u32): void {
  store<u32>(account, load<u32>(account, layout.ACCOUNT_FLAGS) | flags, layout.ACCOUNT_FLAGS)
}

@inline
export function meet(account: usize): void {
  mark(account, layout.ACCOUNT_MET)
}

/** Empty (EIP-161) or missing. */
export function isDead(account: usize): bool {
  return (
    load<u64>(account, layout.ACCOUNT_NONCE) == 0 &&
    load<u32>(account, layout.ACCOUNT_CODE_LENGTH) == 0 &&
    isZero(account + layout.ACCOUNT_BALANCE)
  )
}

/** The cost of `warm` (EIP-2929, EIP-8038). */
@inline
export function accessGas(account: usize): i64 {
  return has(account, layout.ACCOUNT_WARM) ? WARM_GAS : load<i64>(layout.COLD_ACCOUNT)
}

/** @returns the cost (EIP-2929) */
export function warm(account: usize): i64 {
  if (has(account, layout.ACCOUNT_WARM)) return WARM_GAS
  raise(account, layout.ACCOUNT_WARM)
  list(account)
  return load<i64>(layout.COLD_ACCOUNT)
}

/** Lists an accessed account once; a failing frame does not unlist it. */
function list(account: usize): void {
  if (has(account, layout.ACCOUNT_LISTED) || load<u32>(layout.REPORTS_ACCESS) == 0) return
  mark(account, layout.ACCOUNT_LISTED)
  listPlace(account as u32)
}

/** An account's address in memory, or a slot's plus 1. */
export function listPlace(place: u32): void {
  store<u32>(reserve(layout.ACCESSES, 4), place)
  store<u32>(layout.ACCESSES_USED, load<u32>(layout.ACCESSES_USED) + 4)
}

/**
 * After a call or payment. Since spurious dragon, touching deletes empty accounts; before, it creates missing ones. Touches of
 * precompile 0x03 survive a failing frame, as in a historic mainnet block.
 */
export function touch(account: usize): void {
  if (load<u32>(layout.FORK) < layout.SPURIOUS_DRAGON) {
    raise(account, layout.ACCOUNT_EXISTS)
    mark(account, layout.ACCOUNT_WRITTEN)
    return
  }
  if (!has(account, layout.ACCOUNT_EXISTS) || !isDead(account)) return
  raise(account, layout.ACCOUNT_TOUCHED)
  if (load<u64>(account, layout.ACCOUNT_ADDRESS) == 3 && isShort(account + layout.ACCOUNT_ADDRESS)) {
    mark(account, layout.ACCOUNT_TOUCHED_EVER)
  }
}

export function addBalance(account: usize, value: usize): void {
  saveBalance(account)
  add(value, account + layout.ACCOUNT_BALANCE)
  raise(account, layout.ACCOUNT_EXISTS)
  mark(account, layout.ACCOUNT_WRITTEN)
}

export function takeBalance(account: usize, value: usize): void {
  saveBalance(account)
  copyWord(layout.ADDRESS_SCRATCH + 128, value)
  sub(account + layout.ACCOUNT_BALANCE, layout.ADDRESS_SCRATCH + 128)
  copyWord(account + layout.ACCOUNT_BALANCE, layout.ADDRESS_SCRATCH + 128)
  mark(account, layout.ACCOUNT_WRITTEN)
}

export function zeroBalance(account: usize): void {
  saveBalance(account)
  setShort(account + layout.ACCOUNT_BALANCE, 0)
  mark(account, layout.ACCOUNT_WRITTEN)
}

export function wouldOverflow(account: usize, value: usize): bool {
  copyWord(layout.ADDRESS_SCRATCH + 128, value)
  add(account + layout.ACCOUNT_BALANCE, layout.ADDRESS_SCRATCH + 128)
  return isBelow(layout.ADDRESS_SCRATCH + 128, value)
}

export function setNonce(account: usize, nonce: u64): void {
  saveNonce(account)
  store<u64>(account, nonce, layout.ACCOUNT_NONCE)
  raise(account, layout.ACCOUNT_EXISTS)
  mark(account, layout.ACCOUNT_WRITTEN)
}

export function readyCode(account: usize): void {
  if (has(account, layout.ACCOUNT_CODE_READY)) return
  if (load<u32>(account, layout.ACCOUNT_CODE) == 0) loadCode(account)
  if (load<u32>(account, layout.ACCOUNT_JUMPS) == 0) mapCode(account)
  mark(account, layout.ACCOUNT_CODE_READY)
}

/** For code that the host does not cache. */
function mapCode(account: usize): void {
  const length = load<u32>(account, layout.ACCOUNT_CODE_LENGTH) as usize
  const map = take(length + layout.CODE_PADDING)
  analyze(load<u32>(account, layout.ACCOUNT_CODE), length, map)
  store<u32>(account, map as u32, layout.ACCOUNT_JUMPS)
}

/** The account whose code a call runs (EIP-7702): mostly itself. */
export function delegateOf(account: usize): usize {
  if (!has(account, layout.ACCOUNT_DELEGATED)) return account
  const known = load<u32>(account, layout.ACCOUNT_DELEGATE)
  if (known) return known
  readyCode(account)
  // the address follows a prefix of three bytes
  turnWord(layout.ADDRESS_SCRATCH + 160, (load<u32>(account, layout.ACCOUNT_CODE) as usize) - 9)
  const delegate = accountAt(layout.ADDRESS_SCRATCH + 160)
  store<u32>(account, delegate as u32, layout.ACCOUNT_DELEGATE)
  return delegate
}

/** Warms the account; returns the gas left, or below 0. Since amsterdam an operation that lacks gas reads nothing (EIP-7928). */
@inline
export function payAccess(account: usize, gas: i64): i64 {
  const fork = load<u32>(layout.FORK)
  if (fork >= layout.AMSTERDAM && gas < accessGas(account)) return gas - accessGas(account)
  meet(account)
  return fork < layout.BERLIN ? gas : gas - warm(account)
}
