// Reads accounts from what the prestate tracer returns.
import { isBytes } from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import { isObject, isQuantity } from './answers.ts'

/** Members that the tracer leaves out are empty, or unchanged in its diff mode. */
export interface TracedAccount {
  readonly balance?: string
  /** Some nodes write hex digits. */
  readonly nonce?: number | string
  readonly code?: string
  readonly codeHash?: string
  readonly storage?: Readonly<Record<string, string>>
}

export type TracedAccounts = Readonly<Record<string, TracedAccount>>

export function areTracedAccounts(value: unknown): value is Json & TracedAccounts {
  return isObject(value) && Object.entries(value).every(isTracedAccount)
}

export function isTracedAccount(entry: readonly [string, unknown]): boolean {
  const [address, account] = entry
  if (!isAddress(address) || !isObject(account)) return false
  const { balance = '0x0', nonce = 0, code = '0x', storage } = account
  return (
    isQuantity(balance) &&
    (Number.isSafeInteger(nonce) || isQuantity(nonce)) &&
    isBytes(String(code)) &&
    Object.entries(storage ?? {}).every((pair) => pair.every(isQuantity))
  )
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)
}
