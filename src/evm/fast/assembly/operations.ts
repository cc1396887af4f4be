// Longer operations, and why the interpreter refuses one.
import { keccak } from '../../../core/crypto/assembly/keccak'
import * as layout from '../layout'
import { DUPN, EXCHANGE } from '../opcodes.generated'
import { has, isDead } from './state/accounts'
import { loadBlockHash, loadCodeHash } from './state/host'
import { bitLength, copyWord, isShort, isZero, setEmptyHash, setShort, turnWord } from './arithmetic/words'

const ANCESTORS: u64 = 256

/** Stack errors take precedence over missing gas. */
export function refuse(opcode: u32, height: u32): i32 {
  const info = load<u64>(layout.RULES + (opcode << 3))
  const needed = ((info >> 16) & 0xffff) as u32
  if (needed == layout.INVALID) return layout.END_INVALID_OPCODE
  if (height < needed) return layout.END_STACK_UNDERFLOW
  return height - needed > ((info >> 32) as u32) ? layout.END_STACK_OVERFLOW : layout.END_OUT_OF_GAS
}

/** Words below the top, of DUPN and SWAPN (EIP-8024). */
@inline
function farDepth(immediate: u32): u32 {
  return (immediate + 145) & 0xff
}

/** Of EXCHANGE: the lower byte has the nearer word, the upper byte the other one. */
function farPair(immediate: u32): u32 {
  const first = (immediate ^ 0x8f) >> 4
  const second = (immediate ^ 0x8f) & 15
  return first < second ? first + 1 + ((second + 1) << 8) : second + 1 + ((29 - first) << 8)
}

/** @returns 0 if DUPN, SWAPN or EXCHANGE can run */
export function reachedBy(opcode: u32, immediate: u32, height: u32): i32 {
  const last: u32 = opcode == EXCHANGE ? 0x51 : 0x5a
  if (immediate > last && immediate < 0x80) return layout.END_INVALID_OPCODE
  const depth = opcode == EXCHANGE ? farPair(immediate) >> 8 : farDepth(immediate)
  const needed = opcode == DUPN ? depth : depth + 1
  return height < needed ? layout.END_STACK_UNDERFLOW : 0
}

export function dupFar(top: usize, immediate: u32): void {
  copyWord(top, top - ((farDepth(immediate) as usize) << 5))
}

export function swapFar(word: usize, immediate: u32): void {
  swapWords(word, word - ((farDepth(immediate) as usize) << 5))
}

export function exchange(word: usize, immediate: u32): void {
  const pair = farPair(immediate)
  swapWords(word - (((pair & 0xff) as usize) << 5), word - (((pair >> 8) as usize) << 5))
}

function swapWords(one: usize, other: usize): void {
  const low = v128.load(one)
  const high = v128.load(one, 16)
  copyWord(one, other)
  v128.store(other, low)
  v128.store(other, high, 16)
}

export function payExponent(exponent: usize, gas: i64): i64 {
  const byteGas: i64 = load<u32>(layout.FORK) >= layout.SPURIOUS_DRAGON ? 50 : 10
  return gas - byteGas * (((bitLength(exponent) + 7) >> 3) as i64)
}

/** PUSH9 to PUSH31: `count` bytes that end at `end`. */
export function pushLong(target: usize, end: usize, count: u32): void {
  store<u64>(target, bswap<u64>(load<u64>(end - 8)))
  if (count <= 16) {
    store<u64>(target, lastBytes(end - 16, 16 - count), 8)
    v128.store(target, i64x2.splat(0), 16)
    return
  }
  store<u64>(target, bswap<u64>(load<u64>(end - 16)), 8)
  if (count <= 24) {
    store<u64>(target, lastBytes(end - 24, 24 - count), 16)
    store<u64>(target, 0, 24)
    return
  }
  store<u64>(target, bswap<u64>(load<u64>(end - 24)), 16)
  store<u64>(target, lastBytes(end - 32, 32 - count), 24)
}

@inline
function lastBytes(place: usize, without: u32): u64 {
  const shift = (without << 3) as u64
  return (bswap<u64>(load<u64>(place)) << shift) >> shift
}

/** 0 for a missing or empty account (EIP-1052, EIP-161). */
export function codeHash(account: usize, target: usize): void {
  if (isDead(account)) return setShort(target, 0)
  const hash = account + layout.ACCOUNT_CODE_HASH
  const length = load<u32>(account, layout.ACCOUNT_CODE_LENGTH)
  if (length == 0) setEmptyHash(hash)
  else if (isZero(hash)) setHash(account, hash, length)
  copyWord(target, hash)
}

function setHash(account: usize, target: usize, length: u32): void {
  if (!has(account, layout.ACCOUNT_CODE_WRITTEN)) return loadCodeHash(account)
  // deployed by this transaction
  keccak(load<u32>(account, layout.ACCOUNT_CODE), length, layout.SCRATCH + 448)
  turnWord(target, layout.SCRATCH + 448)
}

/** Replaces the number at `word`; 0 outside of the last 256 blocks. */
export function blockHash(word: usize): void {
  const current = load<u64>(layout.ENV_NUMBER)
  const number = load<u64>(word)
  if (!isShort(word) || number >= current || current - number > ANCESTORS) return setShort(word, 0)
  loadBlockHash(number, word)
}

export function blobHash(word: usize): void {
  if (!isShort(word) || load<u64>(word) >= (load<u32>(layout.BLOBS_COUNT) as u64)) return setShort(word, 0)
  copyWord(word, (load<u32>(layout.BLOBS) as usize) + ((load<u32>(word) as usize) << 5))
}
