// What came of a run: read from the engine's memory, and written back to the overlay when the run has held.
import { type Address, EMPTY_BYTES, type Hash, wordFromBigint } from '../../core/hex.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type { Log } from '../../protocol/receipt.ts'
import type { AccessListEntry } from '../../protocol/transaction.ts'
import type { Failure } from '../executor.ts'
import { type MachineJob, type MachineResult, MEMORY_LIMIT_REASON } from '../machine.ts'
import { describeHalt, describeRevert } from '../reasons.ts'
import type { Core } from './instance.ts'
import {
  ACCESSES,
  ACCESSES_USED,
  ACCOUNT_BALANCE,
  ACCOUNT_BEFORE,
  ACCOUNT_BYTES,
  ACCOUNT_CODE,
  ACCOUNT_CODE_LENGTH,
  ACCOUNT_CODE_WRITTEN,
  ACCOUNT_CREATED,
  ACCOUNT_DESTROYED,
  ACCOUNT_EXISTS,
  ACCOUNT_FLAGS,
  ACCOUNT_NONCE,
  ACCOUNT_SLOTS,
  ACCOUNT_TOUCHED,
  ACCOUNT_TOUCHED_EVER,
  ACCOUNT_WRITTEN,
  CREATED_ACCOUNT,
  END_BALANCE,
  END_CODE_SIZE,
  END_CODE_UNPAID,
  END_COLLISION,
  END_INIT_CODE_SIZE,
  END_INVALID_CODE,
  END_INVALID_JUMP,
  END_INVALID_OPCODE,
  END_MEMORY_LIMIT,
  END_OUT_OF_GAS,
  END_PRECOMPILE,
  END_REASON,
  END_REVERT,
  END_STACK_OVERFLOW,
  END_STACK_UNDERFLOW,
  END_STATIC,
  END_VALUE_OVERFLOW,
  GAS_LEFT,
  GAS_MATTERS,
  GAS_NEED,
  LAST_ACCOUNT,
  LAST_OPCODE,
  LOG_ACCOUNT,
  LOG_BODY,
  LOG_LENGTH,
  LOG_SIZE,
  LOG_TOPICS,
  LOGS,
  LOGS_USED,
  OUTPUT,
  OUTPUT_LENGTH,
  REFUND,
  SLOT_ACCOUNT,
  SLOT_BEFORE,
  SLOT_FLAGS,
  SLOT_KEY,
  SLOT_ORIGINAL,
  SLOT_VALUE,
  SLOT_WRITTEN,
} from './layout.ts'
import type { Session } from './run.ts'

/** The halts in the words that `describeHalt` knows. */
const HALTS: ReadonlyMap<number, string> = new Map([
  [END_OUT_OF_GAS, 'out of gas'],
  [END_INVALID_OPCODE, 'invalid opcode'],
  [END_STACK_UNDERFLOW, 'stack underflow'],
  [END_STACK_OVERFLOW, 'stack overflow'],
  [END_INVALID_JUMP, 'invalid JUMP'],
  [END_STATIC, 'static state change'],
  [END_INIT_CODE_SIZE, 'initcode exceeds max initcode size'],
  [END_MEMORY_LIMIT, MEMORY_LIMIT_REASON],
  [END_COLLISION, 'create collision'],
  [END_CODE_SIZE, 'code size to deposit exceeds maximum code size'],
  [END_INVALID_CODE, 'invalid bytecode deployed'],
  [END_VALUE_OVERFLOW, 'value overflow'],
  [END_BALANCE, 'insufficient balance'],
  [END_PRECOMPILE, 'precompile failed'],
])

/** Reads the result of a job that has ended, and writes its changes to the overlay. */
export function resultOf(session: Session, job: MachineJob): MachineResult {
  const { core } = session
  const end = core.number(END_REASON)
  const isKept = end < END_REVERT || end === END_CODE_UNPAID
  const output = core.slice(core.number(OUTPUT), core.number(OUTPUT_LENGTH))
  const changes = isKept ? writeBack(session, job) : { destroyed: [], touched: forgiven(session) }
  const created = core.number(CREATED_ACCOUNT)
  return {
    failure: isKept ? undefined : failureOf(end, output, core.number(LAST_OPCODE)),
    gasUsed: job.gas - core.long(GAS_LEFT),
    gasNeed: isKept
      ? { gas: core.long(GAS_NEED), isCertain: core.number(GAS_MATTERS) === 0 }
      : undefined,
    refund: isKept ? core.long(REFUND) : 0n,
    output: output.length === 0 ? EMPTY_BYTES : output,
    logs: isKept ? logsOf(core) : [],
    created: created === 0 ? undefined : core.addressAt(created + ACCOUNT_BYTES),
    destroyed: changes.destroyed,
    touched: changes.touched,
    accessed: accessedBy(core, job),
  }
}

function failureOf(end: number, output: Uint8Array, opcode: number): Failure {
  if (end === END_REVERT) return { kind: 'revert', reason: describeRevert(output) }
  const word = HALTS.get(end)
  if (word === undefined) throw new Error(`the engine ended with ${end}`)
  return { kind: 'halt', reason: describeHalt(word, opcode) }
}

/** Changes all accounts that were written. The engine has taken back already what frames that failed wrote. */
function writeBack(
  session: Session,
  { overlay, block }: MachineJob,
): Pick<MachineResult, 'destroyed' | 'touched'> & { readonly touched: Address[] } {
  const { core } = session
  const keepsOld = isAtLeast(block.hardfork, 'cancun')
  const destroyed: Address[] = []
  const touched: Address[] = []
  for (const place of accountPlaces(core)) {
    const flags = core.number(place + ACCOUNT_FLAGS)
    const { address } = session.loaded(place)
    if (flags & (ACCOUNT_TOUCHED | ACCOUNT_TOUCHED_EVER)) touched.push(address)
    if (flags & ACCOUNT_DESTROYED && !(keepsOld && !(flags & ACCOUNT_CREATED))) {
      destroyed.push(address)
    }
    if (flags & ACCOUNT_WRITTEN && flags & ACCOUNT_EXISTS) {
      const nonce = core.long(place + ACCOUNT_NONCE)
      overlay.setNonceAndBalance(address, nonce, core.word(place + ACCOUNT_BALANCE))
      const length = core.number(place + ACCOUNT_CODE_LENGTH)
      if (flags & ACCOUNT_CODE_WRITTEN && length > 0) {
        overlay.setCode(address, core.slice(core.number(place + ACCOUNT_CODE), length))
      }
    }
    writeSlots(core, place, (slot, value) => overlay.setStorage(address, slot, value))
  }
  return { destroyed, touched }
}

function writeSlots(
  core: Core,
  account: number,
  write: (slot: bigint, value: bigint) => void,
): void {
  let slot = core.number(account + ACCOUNT_SLOTS)
  for (; slot !== 0; slot = core.number(slot + SLOT_BEFORE)) {
    if ((core.number(slot + SLOT_FLAGS) & SLOT_WRITTEN) === 0) continue
    if (!isEqualWord(core, slot + SLOT_VALUE, slot + SLOT_ORIGINAL)) {
      write(core.word(slot + SLOT_KEY), core.word(slot + SLOT_VALUE))
    }
  }
}

function isEqualWord({ words64 }: Core, a: number, b: number): boolean {
  const i = a >> 3
  const j = b >> 3
  return (
    words64[i] === words64[j] &&
    words64[i + 1] === words64[j + 1] &&
    words64[i + 2] === words64[j + 2] &&
    words64[i + 3] === words64[j + 3]
  )
}

/** Touched though all was taken back: the precompile 0x03. */
function forgiven(session: Session): Address[] {
  const { core } = session
  return [...accountPlaces(core)]
    .filter((place) => core.number(place + ACCOUNT_FLAGS) & ACCOUNT_TOUCHED_EVER)
    .map((place) => session.loaded(place).address)
}

function* accountPlaces(core: Core): Generator<number> {
  let place = core.number(LAST_ACCOUNT)
  for (; place !== 0; place = core.number(place + ACCOUNT_BEFORE)) yield place
}

function logsOf(core: Core): Log[] {
  const logs: Log[] = []
  let place = core.number(LOGS)
  const end = place + core.number(LOGS_USED)
  while (place < end) {
    const count = core.number(place + LOG_TOPICS)
    const data = place + LOG_BODY + 32 * count
    const topics: Hash[] = []
    for (let at = place + LOG_BODY; at < data; at += 32) topics.push(hashAt(core, at))
    logs.push({
      address: core.addressAt(core.number(place + LOG_ACCOUNT) + ACCOUNT_BYTES),
      topics,
      data: core.slice(data, core.number(place + LOG_LENGTH)),
    })
    place += core.number(place + LOG_SIZE)
  }
  return logs
}

function hashAt({ buffer }: Core, place: number): Hash {
  return `0x${buffer.toString('hex', place, place + 32)}` as Hash
}

/** The transaction's access list, then what turned warm, in that order. */
function accessedBy(
  core: Core,
  { accessList, block, reportsAccess }: MachineJob,
): AccessListEntry[] {
  if (!reportsAccess || !isAtLeast(block.hardfork, 'berlin')) return []
  const entries = new Map<Address, Set<Hash>>()
  const keysOf = (address: Address): Set<Hash> => {
    let keys = entries.get(address)
    if (keys === undefined) {
      keys = new Set()
      entries.set(address, keys)
    }
    return keys
  }
  for (const { address, storageKeys } of accessList) {
    const keys = keysOf(address)
    for (const key of storageKeys) keys.add(key)
  }
  const places = core.number(ACCESSES)
  for (let i = 0; i < core.number(ACCESSES_USED); i += 4) {
    const place = core.number(places + i)
    const isSlot = (place & 1) === 1
    const slot = place - 1
    const account = isSlot ? core.number(slot + SLOT_ACCOUNT) : place
    const keys = keysOf(core.addressAt(account + ACCOUNT_BYTES))
    if (isSlot) keys.add(wordFromBigint(core.word(slot + SLOT_KEY)))
  }
  return [...entries].map(([address, keys]) => ({ address, storageKeys: [...keys] }))
}
