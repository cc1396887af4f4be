// What a run read and changed, for block access lists (EIP-7928).
import { type Address, equalBytes } from '../core/hex.ts'
import type { AccountAccess } from '../protocol/blocks/accesslist.ts'
import type { Overlay } from '../state/overlay.ts'

/** Accounts, with the slots that were read or written; changed ones are added. */
export type Read = ReadonlyMap<Address, Iterable<bigint>>

const NOTHING: readonly bigint[] = []

export function accessesOf(overlay: Overlay, read: Read): AccountAccess[] {
  const { accounts, slots } = overlay.changes
  const addresses = new Set([...read.keys(), ...accounts.keys(), ...slots.keys()])
  return [...addresses]
    .map((address) => accessOf(overlay, address, read.get(address) ?? NOTHING))
    .filter((access) => read.has(access.address) || isChanged(access))
}

function isChanged({ writes, balance, nonce, code }: AccountAccess): boolean {
  return writes.size > 0 || balance !== undefined || nonce !== undefined || code !== undefined
}

function accessOf(overlay: Overlay, address: Address, reads: Iterable<bigint>): AccountAccess {
  const before = overlay.originalAccount(address)
  const after = overlay.account(address)
  const [balance = 0n, nonce = 0n] = [after?.balance, after?.nonce]
  const code = overlay.code(address)
  const hasCode = before !== undefined && equalBytes(before.code, code)
  const writes = new Map<bigint, bigint>()
  for (const [slot, value] of overlay.changes.slots.get(address)?.slots ?? []) {
    if (overlay.originalStorage(address, slot) !== value) writes.set(slot, value)
  }
  return {
    address,
    reads,
    writes,
    balance: balance === (before?.balance ?? 0n) ? undefined : balance,
    nonce: nonce === (before?.nonce ?? 0n) ? undefined : nonce,
    code: hasCode || (before === undefined && code.length === 0) ? undefined : code,
  }
}
