// Formats the coverage table; free of chain code, so that the remote command need not load it.
import type { CoverageRow, Share } from '../../project/coverage/lcov.ts'
import { aligned } from './columns.ts'

const HEADINGS = ['File', 'Lines', 'Functions', 'Branches']

export function coverageTable(rows: readonly CoverageRow[]): string {
  if (rows.length === 0) return 'no sources of the project found'
  const all: CoverageRow = {
    file: 'all files',
    lines: linesOf(rows),
    functions: sumOf(rows.map(({ functions }) => functions)),
    branches: sumOf(rows.map(({ branches }) => branches)),
  }
  const cells = [...rows, all].map((row) => [
    row.file,
    ...[row.lines, row.functions, row.branches].map(shareText),
  ])
  return aligned([HEADINGS, ...cells], 1)
}

export function linesOf(rows: readonly CoverageRow[]): Share {
  return sumOf(rows.map(({ lines }) => lines))
}

function sumOf(shares: readonly Share[]): Share {
  return shares.reduce(
    (sum, { hit, found }) => ({ hit: sum.hit + hit, found: sum.found + found }),
    {
      hit: 0,
      found: 0,
    },
  )
}

/** `93.3 % (14/15)`; 100 only if all are hit. */
export function shareText({ hit, found }: Share): string {
  if (found === 0) return '–'
  const percent = Math.floor((1_000 * hit) / found) / 10
  return `${percent.toFixed(1)} % (${hit}/${found})`
}
