// Reads a run's results from the instance's memory, and writes them to the overlay on success.
import { type Address, EMPTY_BYTES, type Hash, wordFromBigint } from '../../core/hex.ts'
import { getOrMake } from '../../core/lrucache.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type { AccessListEntry } from '../../protocol/transactions/transaction.ts'
import type { Failure, Touched } from '../executor.ts'
import {
  type MachineJob,
  type MachineResult,
  MEMORY_LIMIT_REASON,
  PRECOMPILE_REASON,
  type StateResult,
} from '../machine.ts'
import { describeHalt, describeRevert } from '../reasons.ts'
import type { Instance } from './instance.ts'
import type { Interpreter } from './interpreter.ts'
import * as layout from './layout.ts'

const HALTS: ReadonlyMap<number, string> = new Map([
  [layout.END_OUT_OF_GAS, 'out of gas'],
  [layout.END_INVALID_OPCODE, 'invalid opcode'],
  [layout.END_STACK_UNDERFLOW, 'stack underflow'],
  [layout.END_STACK_OVERFLOW, 'stack overflow'],
  [layout.END_INVALID_JUMP, 'invalid JUMP'],
  [layout.END_STATIC, 'static state change'],
  [layout.END_INIT_CODE_SIZE, 'initcode exceeds max initcode size'],
  [layout.END_MEMORY_LIMIT, MEMORY_LIMIT_REASON],
  [layout.END_COLLISION, 'create collision'],
  [layout.END_CODE_SIZE, 'code size to deposit exceeds maximum code size'],
  [layout.END_INVALID_CODE, 'invalid bytecode deployed'],
  [layout.END_VALUE_OVERFLOW, 'value overflow'],
  [layout.END_BALANCE, 'insufficient balance'],
  [layout.END_PRECOMPILE, PRECOMPILE_REASON],
  [layout.END_DEPTH, 'max call depth exceeded'],
  [layout.END_NONCE, 'nonce uint64 overflow'],
])

export function resultOf(interpreter: Interpreter, job: MachineJob): MachineResult {
  const { instance } = interpreter
  const end = instance.number(layout.END_REASON)
  const isKept = end < layout.END_REVERT || end === layout.END_CODE_UNPAID
  const output = instance.slice(
    instance.number(layout.OUTPUT),
    instance.number(layout.OUTPUT_LENGTH),
  )
  const changes = isKept
    ? writeBack(interpreter, job)
    : { destroyed: [], touched: touchedDespiteRevert(interpreter) }
  const created = instance.number(layout.CREATED_ACCOUNT)
  return {
    failure: failureOf(end, output, instance.number(layout.LAST_OPCODE)),
    gasUsed: job.gas - instance.long(layout.GAS_LEFT),
    gasNeed: isKept
      ? {
          gas: instance.long(layout.GAS_NEED),
          isCertain: instance.number(layout.DEPENDS_ON_GAS) === 0,
        }
      : undefined,
    refund: isKept ? instance.long(layout.REFUND) : 0n,
    output: output.length === 0 ? EMPTY_BYTES : output,
    logs: isKept ? logsOf(instance) : [],
    created: created === 0 ? undefined : instance.addressAt(created + layout.ACCOUNT_BYTES),
    destroyed: changes.destroyed,
    touched: changes.touched,
    accessed: accessedBy(instance, job),
    isAlone: instance.number(layout.HAS_MORE_FRAMES) === 0,
    dependsOnTime: instance.number(layout.DEPENDS_ON_TIME) === 1,
    state: isAtLeast(job.block.hardfork, 'amsterdam') ? stateOf(interpreter, job) : undefined,
  }
}

const NOTHING_READ: Touched = new Map()

function stateOf(interpreter: Interpreter, { reportsRead }: MachineJob): StateResult {
  const { instance } = interpreter
  return {
    reservoir: instance.long(layout.STATE_GAS),
    spilled: instance.long(layout.STATE_SPILLED),
    isUnprepared: instance.number(layout.IS_UNPREPARED) === 1,
    read: reportsRead ? touchedBy(interpreter, true) : NOTHING_READ,
  }
}

/** Undefined on success. `opcode` is the last operation. */
export function failureOf(end: number, output: Uint8Array, opcode: number): Failure | undefined {
  if (end < layout.END_REVERT || end === layout.END_CODE_UNPAID) return undefined
  if (end === layout.END_REVERT) return { kind: 'revert', reason: describeRevert(output) }
  const word = HALTS.get(end)
  if (word === undefined) throw new Error(`the instance ended with the unknown reason ${end}`)
  return { kind: 'halt', reason: describeHalt(word, opcode) }
}

function writeBack(
  interpreter: Interpreter,
  { overlay, block }: MachineJob,
): Pick<MachineResult, 'destroyed' | 'touched'> & { readonly touched: Address[] } {
  const { instance } = interpreter
  const keepsOld = isAtLeast(block.hardfork, 'cancun')
  const destroyed: Address[] = []
  const touched: Address[] = []
  for (const place of accountPlaces(instance)) {
    const flags = instance.number(place + layout.ACCOUNT_FLAGS)
    const { address } = interpreter.loaded(place)
    if (flags & (layout.ACCOUNT_TOUCHED | layout.ACCOUNT_TOUCHED_EVER)) touched.push(address)
    if (flags & layout.ACCOUNT_DESTROYED && !(keepsOld && !(flags & layout.ACCOUNT_CREATED))) {
      destroyed.push(address)
    }
    if (flags & layout.ACCOUNT_WRITTEN && flags & layout.ACCOUNT_EXISTS) {
      const nonce = instance.long(place + layout.ACCOUNT_NONCE)
      const balance = instance.word(place + layout.ACCOUNT_BALANCE)
      overlay.set(address, { nonce, balance })
      const length = instance.number(place + layout.ACCOUNT_CODE_LENGTH)
      if (flags & layout.ACCOUNT_CODE_WRITTEN && length > 0) {
        overlay.setCode(
          address,
          instance.slice(instance.number(place + layout.ACCOUNT_CODE), length),
        )
      }
    }
    writeSlots(instance, place, (slot, value) => overlay.setStorage(address, slot, value))
  }
  return { destroyed, touched }
}

function writeSlots(
  instance: Instance,
  account: number,
  write: (slot: bigint, value: bigint) => void,
): void {
  let slot = instance.number(account + layout.ACCOUNT_SLOTS)
  for (; slot !== 0; slot = instance.number(slot + layout.SLOT_BEFORE)) {
    if ((instance.number(slot + layout.SLOT_FLAGS) & layout.SLOT_WRITTEN) === 0) continue
    if (!isEqualWord(instance, slot + layout.SLOT_VALUE, slot + layout.SLOT_ORIGINAL)) {
      write(instance.word(slot + layout.SLOT_KEY), instance.word(slot + layout.SLOT_VALUE))
    }
  }
}

function isEqualWord({ words64 }: Instance, a: number, b: number): boolean {
  const i = a >> 3
  const j = b >> 3
  return (
    words64[i] === words64[j] &&
    words64[i + 1] === words64[j + 1] &&
    words64[i + 2] === words64[j + 2] &&
    words64[i + 3] === words64[j + 3]
  )
}

/** Touched in spite of the revert: precompile 0x03. */
function touchedDespiteRevert(interpreter: Interpreter): Address[] {
  const { instance } = interpreter
  return accountPlaces(instance)
    .filter((place) => instance.number(place + layout.ACCOUNT_FLAGS) & layout.ACCOUNT_TOUCHED_EVER)
    .map((place) => interpreter.loaded(place).address)
}

/** Nearly in the order of first use. @param isExact only slots whose access was paid, since berlin */
export function touchedBy(interpreter: Interpreter, isExact: boolean): Touched {
  const { instance } = interpreter
  const touched = new Map<Address, readonly bigint[]>()
  for (const place of accountPlaces(instance).reverse()) {
    const slots = metSlots(instance, place, isExact)
    const isMet = (instance.number(place + layout.ACCOUNT_FLAGS) & layout.ACCOUNT_MET) !== 0
    if (isMet || slots.length > 0) touched.set(interpreter.loaded(place).address, slots)
  }
  return touched
}

function metSlots(instance: Instance, account: number, isExact: boolean): readonly bigint[] {
  const slots: bigint[] = []
  let slot = instance.number(account + layout.ACCOUNT_SLOTS)
  for (; slot !== 0; slot = instance.number(slot + layout.SLOT_BEFORE)) {
    const flags = instance.number(slot + layout.SLOT_FLAGS)
    const isOnlyListed = flags & layout.SLOT_PREWARMED && !(flags & layout.SLOT_WARM)
    const isPaid = (flags & (layout.SLOT_WARM | layout.SLOT_LISTED)) !== 0
    if (isExact ? isPaid : !isOnlyListed) slots.push(instance.word(slot + layout.SLOT_KEY))
  }
  return slots.reverse()
}

/** The last one first. */
function accountPlaces(instance: Instance): number[] {
  const places: number[] = []
  let place = instance.number(layout.LAST_ACCOUNT)
  for (; place !== 0; place = instance.number(place + layout.ACCOUNT_BEFORE)) places.push(place)
  return places
}

function logsOf(instance: Instance): Log[] {
  const logs: Log[] = []
  let place = instance.number(layout.LOGS)
  const end = place + instance.number(layout.LOGS_USED)
  while (place < end) {
    logs.push(logAt(instance, place))
    place += instance.number(place + layout.LOG_SIZE)
  }
  return logs
}

export function logAt(instance: Instance, place: number): Log {
  const count = instance.number(place + layout.LOG_TOPICS)
  const data = place + layout.LOG_BODY + 32 * count
  const topics: Hash[] = []
  for (let at = place + layout.LOG_BODY; at < data; at += 32) {
    topics.push(`0x${instance.buffer.toString('hex', at, at + 32)}` as Hash)
  }
  return {
    address: instance.addressAt(instance.number(place + layout.LOG_ACCOUNT) + layout.ACCOUNT_BYTES),
    topics,
    data: instance.slice(data, instance.number(place + layout.LOG_LENGTH)),
  }
}

/** The transaction's access list, then what turned warm. */
function accessedBy(
  instance: Instance,
  { message: { accessList }, block, reportsAccess }: MachineJob,
): AccessListEntry[] {
  if (!reportsAccess || !isAtLeast(block.hardfork, 'berlin')) return []
  const entries = new Map<Address, Set<Hash>>()
  const keysOf = (address: Address): Set<Hash> => getOrMake(entries, address, () => new Set())
  for (const { address, storageKeys } of accessList) {
    const keys = keysOf(address)
    for (const key of storageKeys) keys.add(key)
  }
  const places = instance.number(layout.ACCESSES)
  for (let i = 0; i < instance.number(layout.ACCESSES_USED); i += 4) {
    const place = instance.number(places + i)
    const isSlot = (place & 1) === 1
    const slot = place - 1
    const account = isSlot ? instance.number(slot + layout.SLOT_ACCOUNT) : place
    const keys = keysOf(instance.addressAt(account + layout.ACCOUNT_BYTES))
    if (isSlot) keys.add(wordFromBigint(instance.word(slot + layout.SLOT_KEY)))
  }
  return [...entries].map(([address, keys]) => ({ address, storageKeys: [...keys] }))
}
