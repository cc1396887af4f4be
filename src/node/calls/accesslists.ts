// Access lists, put together and counted.
import type { Address, Hash } from '../../core/hex.ts'
import type { AccessListEntry } from '../../protocol/transaction.ts'

/** The entries of both lists, each address and key once. */
export function union(
  known: readonly AccessListEntry[],
  touched: readonly AccessListEntry[],
): AccessListEntry[] {
  const keys = new Map<Address, Set<Hash>>()
  for (const { address, storageKeys } of [...known, ...touched]) {
    const all = keys.get(address) ?? new Set()
    for (const key of storageKeys) all.add(key)
    keys.set(address, all)
  }
  return [...keys].map(([address, storageKeys]) => ({ address, storageKeys: [...storageKeys] }))
}

/** How many addresses and keys a list names. */
export function sizeOf(list: readonly AccessListEntry[]): number {
  return list.reduce((sum, { storageKeys }) => sum + 1 + storageKeys.length, 0)
}
