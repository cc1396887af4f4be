// Lines as wide as a terminal: broken between words, hashes shortened where they have no room.
import { stripVTControlCharacters } from 'node:util'
import { short } from '../../core/format.ts'

/** Columns from which on addresses stand in full. */
export const WIDE = 100
/** Columns below which names have no column of their own. */
export const NARROW = 80

/** What a line that goes on is indented by, besides its own indentation. */
const HANG = 4

/**
 * A line as it is, or in several rows where it has not room in one. Escape sequences take none.
 * @param shortened makes a word shorter that is longer than a row; else it stands as it is
 */
export function wrapped(
  line: string,
  columns: number,
  shortened: (word: string) => string = withShortHex,
): string {
  if (widthOf(line) <= columns) return line
  const indent = /^ */.exec(line)?.[0] ?? ''
  const hanging = ' '.repeat(Math.min(indent.length + HANG, columns >> 1))
  const room = columns - hanging.length
  const rows: string[] = []
  let row = indent
  let width = indent.length
  let isEmpty = true
  for (const word of line.slice(indent.length).split(' ')) {
    const fitting = widthOf(word) <= room ? word : shortened(word)
    const size = widthOf(fitting)
    if (!isEmpty && width + 1 + size > columns) {
      rows.push(row.trimEnd())
      row = hanging
      width = hanging.length
      isEmpty = true
      if (size === 0) continue
    }
    row += isEmpty ? fitting : ` ${fitting}`
    width += isEmpty ? size : size + 1
    isEmpty = false
  }
  return [...rows, row.trimEnd()].join('\n')
}

export function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length
}

function withShortHex(word: string): string {
  return word.replace(/0x[0-9a-f]{40,64}/gi, short)
}
