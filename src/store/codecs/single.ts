// Codecs of single values.
import type { Address, Hash } from '../../core/hex.ts'
import type { Codec } from '../objects.ts'

function hexOf<Text extends string>(size: number): Codec<Text> {
  return { write: (value, to) => to.hex(value, size), read: (from) => from.hex(size) }
}

export const hash: Codec<Hash> = hexOf(32)

export const address: Codec<Address> = hexOf(20)

export const text: Codec<string> = {
  write: (value, to) => to.text(value),
  read: (from) => from.text(),
}

export const bytes: Codec<Uint8Array> = {
  write: (value, to) => to.bytes(value),
  read: (from) => from.bytes(),
}
