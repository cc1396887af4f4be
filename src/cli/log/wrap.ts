// Wraps lines to the terminal's width: between words, with hashes shortened where they do not fit.
import { stripVTControlCharacters } from 'node:util'
import { short } from '../../core/format.ts'

/** Columns from which addresses are shown in full. */
export const WIDE = 100
/** Columns below which names have no column of their own. */
export const NARROW = 80

const HANG = 4

/**
 * Splits a line into rows if it is too long. Escape sequences have no width.
 * @param columns undefined: unlimited
 * @param shortened shortens a word longer than a row; if it cannot, the word stays
 */
export function wrapped(
  line: string,
  columns: number | undefined,
  shortened: (word: string) => string = (word) => word.replace(/0x[0-9a-f]{40,64}/gi, short),
): string {
  if (columns === undefined || widthOf(line) <= columns) return line
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
