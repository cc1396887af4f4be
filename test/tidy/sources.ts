// The files that the rules of this folder look at.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const root: string = path.resolve(import.meta.dirname, '../..')

export interface SourceFile {
  /** From the repository's root: `src/core/hex.ts`. */
  readonly name: string
  readonly text: string
  readonly lines: readonly string[]
}

/** Packages and output of the projects under test/e2e: none of it is in the repository. */
const FOREIGN = /\/(node_modules|artifacts|cache)(\/|$)/

export function filesBelow(folder: string): SourceFile[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .filter((entry) => !FOREIGN.test(entry.parentPath.slice(root.length)))
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name)
      const text = readFileSync(file, 'utf8')
      return { name: path.relative(root, file), text, lines: text.split('\n') }
    })
}

/** Each place where `pattern` stands, as `file:line: text`. */
export function places(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ name, lines }) =>
    lines.flatMap((line, i) => (pattern.test(line) ? [`${name}:${i + 1}: ${line.trim()}`] : [])),
  )
}
