// A frame's memory: expansion and its cost, copies, hashes, logs. Functions take the gas left and return what remains, or below
// 0 if gas or memory is exceeded.
import { keccak } from '../../../core/crypto/assembly/keccak'
import * as layout from '../layout'
import { isTraced, reportLog } from './events'
import { closeStep } from './steps'
import { reserve } from './state/heap'
import { copyWord, isEqual, isShort, isZero, mulHigh, setShort, turnWord } from './arithmetic/words'

export const OUT_OF_GAS: i64 = -1
/** The result is this minus the gas that would be left. */
const MEMORY_LIMIT: i64 = -2

const COPY_GAS: u64 = 3
const HASH_WORD_GAS: u64 = 6
const LOG_TOPIC_GAS: i64 = 375
const LOG_BYTE_GAS: u64 = 8

/** From 2^41 bytes on, memory costs more than 2^63 gas. */
const BEYOND: u64 = 1 << 41

@inline
export function endOf(gas: i64): i32 {
  return gas < OUT_OF_GAS ? layout.END_MEMORY_LIMIT : layout.END_OUT_OF_GAS
}

/** As `endOf`, for an operation with a further demand: missing gas takes precedence. */
export function endWanting(gas: i64, wanted: usize): i32 {
  return gas < OUT_OF_GAS && isWithin(wanted, MEMORY_LIMIT - gas) ? layout.END_MEMORY_LIMIT : layout.END_OUT_OF_GAS
}

@inline
export function isWithin(asked: usize, gas: i64): bool {
  return isShort(asked) && load<u64>(asked) <= (gas as u64)
}

@inline
function memoryCost(words: u64): u64 {
  return 3 * words + ((mulHigh(words, words) << 55) | ((words * words) >> 9))
}

@inline
export function expand(frame: usize, offset: u64, length: u64, gas: i64): i64 {
  if (length == 0) return gas
  const isNear = offset < BEYOND && length < BEYOND
  if (isNear && offset + length <= (load<u32>(frame, layout.FRAME_MEMORY_SIZE) as u64)) return gas
  return grow(frame, offset, length, gas)
}

export function expandMemory(frame: usize, offset: u64, length: u64, gas: i64): i64 {
  return expand(frame, offset, length, gas)
}

function grow(frame: usize, offset: u64, length: u64, gas: i64): i64 {
  const size = load<u32>(frame, layout.FRAME_MEMORY_SIZE)
  if (offset >= BEYOND || length >= BEYOND) return OUT_OF_GAS
  const words = (offset + length + 31) >> 5
  if (words >= BEYOND >> 5) return OUT_OF_GAS
  gas -= (memoryCost(words) - memoryCost((size as u64) >> 5)) as i64
  if (gas < 0) return OUT_OF_GAS
  const base = load<u32>(frame, layout.FRAME_MEMORY)
  const wanted = words << 5
  if ((base as u64) + wanted > (load<u32>(layout.MEMORY_END) as u64)) return MEMORY_LIMIT - gas
  memory.fill((base + size) as usize, 0, (wanted - (size as u64)) as usize)
  store<u32>(frame, wanted as u32, layout.FRAME_MEMORY_SIZE)
  return gas
}

export function expandFor(frame: usize, offset: usize, length: usize, gas: i64): i64 {
  if (isZero(length)) return gas
  if (!isShort(offset) || !isShort(length)) return OUT_OF_GAS
  return expand(frame, load<u64>(offset), load<u64>(length), gas)
}

const ENDLESS: i64 = 1 << 62

/** The cost of an expansion that does not happen yet, for up to two ranges. */
export function expansionGas(frame: usize, offset: usize, length: usize, otherOffset: usize, otherLength: usize): i64 {
  const end = endOfRange(offset, length)
  const other = endOfRange(otherOffset, otherLength)
  if (end >= BEYOND || other >= BEYOND) return ENDLESS
  const words = (max(end, other) + 31) >> 5
  const size = (load<u32>(frame, layout.FRAME_MEMORY_SIZE) as u64) >> 5
  return words <= size ? 0 : ((memoryCost(words) - memoryCost(size)) as i64)
}

function endOfRange(offset: usize, length: usize): u64 {
  if (isZero(length)) return 0
  const isNear = isShort(offset) && isShort(length) && load<u64>(offset) < BEYOND && load<u64>(length) < BEYOND
  return isNear ? load<u64>(offset) + load<u64>(length) : BEYOND
}

/** Whether `copyIn` has gas enough. */
export function canCopy(frame: usize, target: usize, length: usize, gas: i64): bool {
  if (gas < 0) return false
  if (isZero(length)) return true
  gas = payWords(length, COPY_GAS, gas)
  return gas >= 0 && gas >= expansionGas(frame, target, length, target, length)
}

/** Per 32 bytes, rounded up. */
export function payWords(length: usize, wordGas: u64, gas: i64): i64 {
  if (!isShort(length) || load<u64>(length) >= BEYOND) return OUT_OF_GAS
  return gas - ((((load<u64>(length) + 31) >> 5) * wordGas) as i64)
}

/**
 * CALLDATACOPY, CODECOPY, EXTCODECOPY, RETURNDATACOPY: `size` bytes at `from`, padded with zeros. `target`, `offset` and
 * `length` point to words.
 */
export function copyIn(frame: usize, target: usize, offset: usize, length: usize, from: usize, size: u32, gas: i64): i64 {
  if (isZero(length)) return gas
  gas = payWords(length, COPY_GAS, gas)
  if (gas < 0) return OUT_OF_GAS
  gas = expandFor(frame, target, length, gas)
  if (gas < 0) return gas
  const place = (load<u32>(frame, layout.FRAME_MEMORY) + load<u32>(target)) as usize
  const count = load<u32>(length)
  let there: u32 = 0
  if (isShort(offset) && load<u64>(offset) < (size as u64)) there = min(size - load<u32>(offset), count)
  if (there > 0) memory.copy(place, from + (load<u32>(offset) as usize), there)
  if (there < count) memory.fill(place + there, 0, count - there)
  return gas
}

/** MCOPY; all three point to words. */
export function copyWithin(frame: usize, target: usize, source: usize, length: usize, gas: i64): i64 {
  if (isZero(length)) return gas
  gas = payWords(length, COPY_GAS, gas)
  if (gas < 0) return OUT_OF_GAS
  if (!isShort(target) || !isShort(source)) return OUT_OF_GAS
  gas = expand(frame, max(load<u64>(target), load<u64>(source)), load<u64>(length), gas)
  if (gas < 0) return gas
  const base = load<u32>(frame, layout.FRAME_MEMORY) as usize
  memory.copy(base + load<u32>(target), base + load<u32>(source), load<u32>(length))
  return gas
}

/** Replaces the offset at `word`. */
export function loadInput(frame: usize, word: usize): void {
  const length = load<u32>(frame, layout.FRAME_INPUT_LENGTH)
  if (!isShort(word) || load<u64>(word) >= (length as u64)) return setShort(word, 0)
  const offset = load<u32>(word)
  const place = (load<u32>(frame, layout.FRAME_INPUT) + offset) as usize
  const rest = length - offset
  if (rest >= 32) return turnWord(word, place)
  setShort(layout.SCRATCH, 0)
  memory.copy(layout.SCRATCH, place, rest)
  turnWord(word, layout.SCRATCH)
}

/** Offset and length are words; the hash goes to `target`. */
export function hashMemory(frame: usize, offset: usize, length: usize, target: usize, gas: i64): i64 {
  gas = payWords(length, HASH_WORD_GAS, gas)
  if (gas < 0) return OUT_OF_GAS
  gas = expandFor(frame, offset, length, gas)
  if (gas < 0) return gas
  const size = load<u32>(length)
  const place = (load<u32>(frame, layout.FRAME_MEMORY) as usize) + (size ? load<u32>(offset) : 0)
  if (size == 64) hashPair(place)
  else keccak(place, size, layout.SCRATCH + 448)
  turnWord(target, layout.SCRATCH + 448)
  return gas
}

/** Hashes 64 bytes, mostly slots of mappings, through a cache. */
function hashPair(place: usize): void {
  const key = load<u64>(place, 16) ^ rotl<u64>(load<u64>(place, 24), 29) ^ rotl<u64>(load<u64>(place, 8), 43)
  const slot = rotl<u64>(load<u64>(place, 56), 11) ^ load<u64>(place, 48) ^ rotl<u64>(load<u64>(place, 32), 7)
  const mixed = (key ^ slot) * 0x9e3779b97f4a7c15
  const entry: usize = layout.MEMO + ((mixed >> 52) as usize) * layout.MEMO_ENTRY
  if (!isEqual(entry, place) || !isEqual(entry + 32, place + 32)) {
    copyWord(entry, place)
    copyWord(entry + 32, place + 32)
    keccak(place, 64, entry + 64)
  }
  copyWord(layout.SCRATCH + 448, entry + 64)
}

/** Otherwise an empty cache entry would match 64 zeros. */
export function prepareMemo(): void {
  keccak(layout.MEMO, 64, layout.MEMO + 64)
}

/** `topics` points to the first one; the others are below. The base gas is paid. */
export function log(frame: usize, count: u32, offset: usize, length: usize, topics: usize, gas: i64): i64 {
  gas = payLog(frame, count, offset, length, gas)
  if (gas < 0) return gas
  const size = load<u32>(length)
  const data = (count << 5) as usize
  const whole = (layout.LOG_BODY + data + size + 7) & ~7
  const place = reserve(layout.LOGS, whole)
  store<u32>(layout.LOGS_USED, load<u32>(layout.LOGS_USED) + (whole as u32))
  store<u32>(place, load<u32>(frame, layout.FRAME_ACCOUNT), layout.LOG_ACCOUNT)
  store<u32>(place, count, layout.LOG_TOPICS)
  store<u32>(place, size, layout.LOG_LENGTH)
  store<u32>(place, whole as u32, layout.LOG_SIZE)
  for (let i: usize = 0; i < (count as usize); i++) turnWord(place + layout.LOG_BODY + (i << 5), topics - (i << 5))
  if (size) memory.copy(place + layout.LOG_BODY + data, (load<u32>(frame, layout.FRAME_MEMORY) + load<u32>(offset)) as usize, size)
  if (isTraced()) {
    closeStep(gas, 0)
    reportLog(place)
  }
  return gas
}

/** Without the base cost, with memory. */
function payLog(frame: usize, count: u32, offset: usize, length: usize, gas: i64): i64 {
  if (!isShort(length) || load<u64>(length) >= BEYOND) return OUT_OF_GAS
  gas -= LOG_TOPIC_GAS * (count as i64) + ((LOG_BYTE_GAS * load<u64>(length)) as i64)
  if (gas < 0) return OUT_OF_GAS
  return expandFor(frame, offset, length, gas)
}

/** Ether that moved, as if a token (EIP-7708). */
export function logTransfer(sender: usize, receiver: usize, value: usize): void {
  const size: u32 = layout.LOG_BODY + 128
  const place = reserve(layout.LOGS, size)
  store<u32>(layout.LOGS_USED, load<u32>(layout.LOGS_USED) + size)
  store<u32>(place, layout.SYSTEM_BYTES - layout.ACCOUNT_BYTES, layout.LOG_ACCOUNT)
  store<u32>(place, 3, layout.LOG_TOPICS)
  store<u32>(place, 32, layout.LOG_LENGTH)
  store<u32>(place, size, layout.LOG_SIZE)
  const body = place + layout.LOG_BODY
  copyWord(body, layout.TRANSFER_TOPIC)
  turnWord(body + 32, sender + layout.ACCOUNT_ADDRESS)
  turnWord(body + 64, receiver + layout.ACCOUNT_ADDRESS)
  turnWord(body + 96, value)
  if (isTraced()) reportLog(place)
}

@inline
export function isStatic(frame: usize): bool {
  return (load<u32>(frame, layout.FRAME_FLAGS) & layout.FLAG_STATIC) != 0
}
