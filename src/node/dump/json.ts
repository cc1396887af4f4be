// JSON of a dump's members, as anvil writes them.
import { hexFromBytes, quantityFromBigint } from '../../core/hex.ts'

export type DumpedJson = Readonly<Record<string, unknown>>

/** Integers become quantities, bytes hex; undefined members are left out. */
export function dumped(members: DumpedJson): DumpedJson {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [name, jsonOf(value)]))
}

function jsonOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return hexFromBytes(value)
  return typeof value === 'bigint' ? quantityFromBigint(value) : value
}
