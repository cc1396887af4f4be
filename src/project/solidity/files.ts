// Finds files that artifacts refer to, in parent folders.
import { readFileSync, type Stats, statSync } from 'node:fs'
import path from 'node:path'
import { attempt } from '../../core/errors.ts'
import { hashOfText } from '../reading/stamps.ts'

const HIGHEST = 6

const LARGEST_SOURCE = 10_000_000

/** A file or folder of this name in the nearest parent folder. */
export function nearest(
  file: string,
  name: string,
  isMeant: (found: Stats) => boolean = () => true,
): string | undefined {
  let folder = path.dirname(file)
  for (let i = 0; i < HIGHEST; i++) {
    const candidate = path.join(folder, name)
    const found = attempt(() => statSync(candidate, { throwIfNoEntry: false }))
    if (found !== undefined && isMeant(found)) return candidate
    folder = path.dirname(folder)
  }
  return undefined
}

/**
 * A source on disk.
 * @param file an artifact
 * @param hash of the compiled text; undefined: any text
 * @returns undefined if it cannot be read or is not the compiled text
 */
export function textNear(file: string, name: string, hash?: string): string | undefined {
  const found = path.isAbsolute(name) ? name : nearest(file, name)
  if (found === undefined) return undefined
  const content = textOf(found)
  if (content === undefined || hash === undefined || hashOfText(content) === hash) return content
  // Foundry compiles sources without carriage returns
  return hashOfText(plain(content)) === hash ? plain(content) : undefined
}

/** Undefined if the file is missing, too large or unreadable. */
export function textOf(file: string): string | undefined {
  return attempt(() =>
    statSync(file).size > LARGEST_SOURCE ? undefined : readFileSync(file, 'utf8'),
  )
}

export function isSameText(one: string, other: string): boolean {
  return one === other || plain(one) === plain(other)
}

function plain(content: string): string {
  return content.replaceAll('\r\n', '\n')
}
