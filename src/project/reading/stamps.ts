// Identifies versions of files and sources.
import { type Stats, statSync } from 'node:fs'
import { keccak256 } from '../../core/crypto/keccak.ts'
import { hexFromBytes } from '../../core/hex.ts'

/** Changes with the file. @throws node's error if there is none */
export function stampOf(file: string): string {
  return stampIn(statSync(file))
}

export function stampIn({ size, mtimeMs }: Stats): string {
  return `${size} ${mtimeMs}`
}

/** As the compiler hashes sources and signatures. */
export function hashOfText(content: string): string {
  return hexFromBytes(keccak256(Buffer.from(content, 'utf8')))
}
