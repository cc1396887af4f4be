// What a run read and changed, for block access lists (EIP-7928).
import { type Address, equalBytes } from '../core/hex.ts'
import { type AccountAccess, NO_SLOTS, type SlotWrite } from '../protocol/blocks/accesslist.ts'
import type { Overlay, OverlayChanges } from '../state/overlay.ts'
import { accessOf } from '../state/systemslots.ts'
import { emptyAccount } from '../state/world.ts'
import type { Touched } from './executor.ts'

/** @param read accounts, with the slots that were read or written; changed ones are added */
export function accessesOf(overlay: Overlay, read: Touched): AccountAccess[] {
  const { changes } = overlay
  const accesses: AccountAccess[] = []
  for (const [address, reads] of read) accesses.push(accessTo(overlay, changes, address, reads))
  const addChanged = (address: Address): void => {
    const access = accessTo(overlay, changes, address, NO_SLOTS)
    if (isChanged(access)) accesses.push(access)
  }
  for (const address of changes.accounts.keys()) if (!read.has(address)) addChanged(address)
  for (const address of changes.slots.keys()) {
    if (!read.has(address) && !changes.accounts.has(address)) addChanged(address)
  }
  return accesses
}

function isChanged({ writes, balance, nonce, code }: AccountAccess): boolean {
  return writes.length > 0 || balance !== undefined || nonce !== undefined || code !== undefined
}

function accessTo(
  overlay: Overlay,
  { accounts, slots }: OverlayChanges,
  address: Address,
  reads: readonly bigint[],
): AccountAccess {
  const writes = writesTo(overlay, address, slots.get(address)?.slots)
  if (!accounts.has(address)) return accessOf(address, reads, writes)
  const before = overlay.originalAccount(address) ?? emptyAccount(address)
  const { balance, nonce, code } = accounts.get(address) ?? emptyAccount(address)
  return {
    address,
    reads,
    writes,
    balance: balance === before.balance ? undefined : balance,
    nonce: nonce === before.nonce ? undefined : nonce,
    code: equalBytes(code, before.code) ? undefined : code,
  }
}

function writesTo(
  overlay: Overlay,
  address: Address,
  written: ReadonlyMap<bigint, bigint> | undefined,
): readonly SlotWrite[] {
  if (written === undefined) return NO_SLOTS
  return [...written].filter(([slot, value]) => overlay.originalStorage(address, slot) !== value)
}
