// Encodes what a run read and changed, by account: geth's prestateTracer and OpenEthereum's stateDiff.
import {
  EMPTY_BYTES,
  equalBytes,
  hexFromBytes,
  quantityFromBigint,
  wordFromBigint,
} from '../../../core/hex.ts'
import type { Touched } from '../../../evm/executor.ts'
import type { TracedRun } from '../../../node/calls/replay.ts'
import type { Json } from '../../../rpc/schema.ts'
import { type Account, accountAt, isEmpty, slotValue } from '../../../state/world.ts'

export interface PrestateOptions {
  readonly diffMode?: boolean | undefined
  readonly disableCode?: boolean | undefined
  readonly disableStorage?: boolean | undefined
  /** Also accounts that did not exist before. */
  readonly includeEmpty?: boolean | undefined
}

type Members = Record<string, Json | undefined>

/**
 * Touched accounts before the run: `{address: {balance, nonce?, code?, storage?}}`, the nonce a JSON number; zero
 * and empty members are omitted except touched slots. With `diffMode` `{pre, post}` of changed accounts, where `post` has
 * only changes.
 */
export function prestateOf(run: TracedRun, touched: Touched, options: PrestateOptions): Json {
  if (options.diffMode === true) return differenceOf(run, touched, options)
  const accounts: Members = {}
  for (const [address, slots] of touched) {
    const account = accountAt(run.before, address)
    if (isNothing(account) && options.includeEmpty !== true) continue
    accounts[address] = accountMembers(account, options.disableStorage ? [] : slots, options)
  }
  return accounts
}

function accountMembers(
  account: Account | undefined,
  slots: Iterable<bigint>,
  { disableCode }: PrestateOptions,
): Members {
  const { balance = 0n, nonce = 0n, code } = account ?? {}
  return {
    balance: quantityFromBigint(balance),
    nonce: nonce === 0n ? undefined : Number(nonce),
    code: disableCode || code === undefined || code.length === 0 ? undefined : hexFromBytes(code),
    storage: storageMembers(slots, (slot) => slotOf(account, slot)),
  }
}

function storageMembers(
  slots: Iterable<bigint>,
  read: (slot: bigint) => bigint,
): Members | undefined {
  const members: Members = {}
  for (const slot of slots) members[wordFromBigint(slot)] = wordFromBigint(read(slot))
  return Object.keys(members).length === 0 ? undefined : members
}

function differenceOf(run: TracedRun, touched: Touched, options: PrestateOptions): Json {
  const pre: Members = {}
  const post: Members = {}
  for (const { address, before, after, changed } of changesOf(run, touched)) {
    const slots = options.disableStorage ? [] : changed
    const members = after && changedMembers(before, after, slots, options)
    const isSame =
      members !== undefined && Object.values(members).every((each) => each === undefined)
    if (isSame) continue
    const held = slots.filter((slot) => slotOf(before, slot) !== 0n)
    const isShown = !isNothing(before) || options.includeEmpty === true
    if (isShown) pre[address] = accountMembers(before, held, options)
    if (members !== undefined) post[address] = members
  }
  return { pre, post }
}

function changedMembers(
  before: Account | undefined,
  after: Account,
  slots: readonly bigint[],
  { disableCode }: PrestateOptions,
): Members {
  const left = slots.filter((slot) => slotOf(after, slot) !== 0n)
  const storage = storageMembers(left, (slot) => slotOf(after, slot))
  const isSameCode = equalBytes(before?.code ?? EMPTY_BYTES, after.code)
  return {
    balance:
      after.balance === (before?.balance ?? 0n) ? undefined : quantityFromBigint(after.balance),
    nonce: after.nonce === (before?.nonce ?? 0n) ? undefined : Number(after.nonce),
    code: disableCode || isSameCode ? undefined : hexFromBytes(after.code),
    // only `pre` shows a slot that was cleared
    storage: storage ?? (slots.length > 0 ? {} : undefined),
  }
}

/**
 * Changes: `{address: {balance, nonce, code, storage}}`, each member `"="` if unchanged, `{"*": {from, to}}`
 * if changed, `{"+": value}` in a new account and `{"-": value}` in a deleted one.
 */
export function stateDiffOf(run: TracedRun, touched: Touched): Json {
  const accounts: Members = {}
  for (const { address, before, after, changed } of changesOf(run, touched)) {
    if (before === undefined && after === undefined) continue
    const isSame =
      before?.balance === after?.balance &&
      before?.nonce === after?.nonce &&
      before?.codeHash === after?.codeHash
    if (isSame && changed.length === 0) continue
    const storage: Members = {}
    for (const slot of changed) {
      const word = (account: Account | undefined): string | undefined =>
        account && wordFromBigint(slotOf(account, slot))
      storage[wordFromBigint(slot)] = change(word(before), word(after))
    }
    accounts[address] = {
      balance: change(quantity(before?.balance), quantity(after?.balance)),
      code: change(before && hexFromBytes(before.code), after && hexFromBytes(after.code)),
      nonce: change(quantity(before?.nonce), quantity(after?.nonce)),
      storage,
    }
  }
  return accounts
}

function change(from: string | undefined, to: string | undefined): Json {
  if (from === to) return '='
  if (from === undefined) return { '+': to }
  return to === undefined ? { '-': from } : { '*': { from, to } }
}

function quantity(value: bigint | undefined): string | undefined {
  return value === undefined ? undefined : quantityFromBigint(value)
}

/** Touched accounts, each with the touched slots whose value changed. */
function* changesOf({ before: from, outcome }: TracedRun, touched: Touched) {
  for (const [address, slots] of touched) {
    const [before, after] = [accountAt(from, address), accountAt(outcome.world, address)]
    const changed = [...slots].filter((slot) => slotOf(before, slot) !== slotOf(after, slot))
    yield { address, before, after, changed }
  }
}

function slotOf(account: Account | undefined, slot: bigint): bigint {
  return account === undefined ? 0n : slotValue(account.storage, slot)
}

function isNothing(account: Account | undefined): boolean {
  return account === undefined || isEmpty(account)
}
