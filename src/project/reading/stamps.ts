// What tells one version of a file or of a source from another.
import { type Stats, statSync } from 'node:fs'
import { keccak256 } from '../../core/crypto/keccak.ts'
import { hexFromBytes } from '../../core/hex.ts'

/** Changes when a file does. @throws node's error where there is none */
export function stampOf(file: string): string {
  return stampIn(statSync(file))
}

export function stampIn({ size, mtimeMs }: Stats): string {
  return `${size} ${mtimeMs}`
}

/** As the compiler's metadata has it for each source. */
export function hashOfSource(content: string): string {
  return hexFromBytes(keccak256(Buffer.from(content, 'utf8')))
}
