// The accounts of the node, and what accounts are called.
import { useRead } from './use.ts'

export function useOwned(): readonly string[] {
  return useRead<readonly string[]>('eth_accounts', [], 'now').value ?? []
}

/** Names by address, in lower case; accounts without a name are missing. */
export function useNames(addresses: readonly string[]): ReadonlyMap<string, string> {
  const method = addresses.length === 0 ? '' : 'devchain_names'
  const { value } = useRead<Readonly<Record<string, string>>>(method, [addresses], 'now')
  return new Map(Object.entries(value ?? {}).map(([key, name]) => [key.toLowerCase(), name]))
}
