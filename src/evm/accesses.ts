// What a run read and changed, for block access lists (EIP-7928).
import { type Address, equalBytes } from '../core/hex.ts'
import { type AccountAccess, NO_SLOTS, type SlotWrite } from '../protocol/blocks/accesslist.ts'
import type { Overlay, OverlayChanges } from '../state/overlay.ts'
import { emptyAccount } from '../state/world.ts'

/** Accounts, with the slots that were read or written; changed ones are added. */
export type Read = ReadonlyMap<Address, readonly bigint[]>

export function accessesOf(overlay: Overlay, read: Read): AccountAccess[] {
  const { changes } = overlay
  const accesses: AccountAccess[] = []
  for (const [address, reads] of read) accesses.push(accessOf(overlay, changes, address, reads))
  for (const address of new Set([...changes.accounts.keys(), ...changes.slots.keys()])) {
    const access = read.has(address) ? undefined : accessOf(overlay, changes, address, NO_SLOTS)
    if (access !== undefined && isChanged(access)) accesses.push(access)
  }
  return accesses
}

function isChanged({ writes, balance, nonce, code }: AccountAccess): boolean {
  return writes.length > 0 || balance !== undefined || nonce !== undefined || code !== undefined
}

function accessOf(
  overlay: Overlay,
  { accounts, slots }: OverlayChanges,
  address: Address,
  reads: readonly bigint[],
): AccountAccess {
  const writes = writesTo(overlay, address, slots.get(address)?.slots)
  if (!accounts.has(address)) {
    return { address, reads, writes, balance: undefined, nonce: undefined, code: undefined }
  }
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
