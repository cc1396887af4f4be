// Writes tables of gas and coverage, and reads a gas report; free of chain code, so that the remote command need not load it.
import { invalidParams, printValue } from '../../core/errors.ts'
import { number } from '../../core/format.ts'
import { jsonOf } from '../../core/objects.ts'
import type { CoverageRow, Share } from '../../project/coverage/lcov.ts'
import type { GasRow } from '../../project/gas/report.ts'

/** Columns as wide as their widest cell: the first `texts` left-aligned, numbers right-aligned. */
export function aligned(lines: readonly (readonly string[])[], texts: number): string {
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const pad = (cell: string, i: number): string =>
    i < texts ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n')
}

export interface GasDifference extends GasRow {
  readonly before: number
  /** Infinite if all calls fail now; null in JSON. */
  readonly percent: number
}

const GAS_HEADINGS = ['Contract', 'Function', 'Calls', 'Failed', 'Min', 'Average', 'Median', 'Max']

/** Only a contract's first row has its name. */
export function gasTable(rows: readonly GasRow[]): string {
  if (rows.length === 0) return 'no transactions to contracts of the project yet'
  const hasState = rows.some(({ state }) => state !== undefined)
  const cells = rows.map((row, i) => [
    rows[i - 1]?.contract === row.contract ? '' : row.contract,
    functionText(row),
    number(row.calls),
    number(row.failed),
    ...[row.min, row.average, row.median, row.max].map((amount) =>
      row.calls === 0 ? '–' : number(amount),
    ),
    ...(hasState ? [row.state === undefined ? '–' : number(row.state)] : []),
  ])
  return aligned([hasState ? [...GAS_HEADINGS, 'State'] : GAS_HEADINGS, ...cells], 2)
}

/** The largest increases first. */
export function differenceTable(differences: readonly GasDifference[]): string {
  if (differences.length === 0) return 'no average changed'
  const cells = differences.map((each) => [
    each.contract,
    functionText(each),
    number(each.before),
    each.calls === 0 ? '–' : number(each.average),
    each.calls === 0 ? 'always fails' : changeText(each.percent),
  ])
  return aligned([['Contract', 'Function', 'Was', 'Is', 'Change'], ...cells], 2)
}

/** `+12.5 %` */
export function changeText(percent: number): string {
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`
}

export function functionText({ function: name, kind }: Pick<GasRow, 'function' | 'kind'>): string {
  return kind === 'inner' ? `${name} (inner)` : name
}

/** Functions whose average changed or that always fail now; those in only one report are left out. */
export function gasDifferences(
  rows: readonly GasRow[],
  earlier: readonly GasRow[],
): readonly GasDifference[] {
  const before = new Map(earlier.map((row) => [keyOf(row), row.average]))
  return rows
    .flatMap((row) => {
      const was = before.get(keyOf(row))
      // if all calls failed there is no average
      if (was === undefined || was === row.average || was === 0) return []
      const percent = row.calls === 0 ? Infinity : (100 * (row.average - was)) / was
      return [{ ...row, before: was, percent }]
    })
    .sort((a, b) => b.percent - a.percent)
}

/** Of a function in both reports. Earlier versions had no other kind. */
export function keyOf({ contract, function: name, kind = 'transaction' }: GasRow): string {
  return [kind, contract, name].join('\0')
}

/**
 * Reads the output of `devchain gas-report --json`.
 * @throws {DevchainError} `INVALID_PARAMS`
 */
export function parseGasReport(text: string, file: string): readonly GasRow[] {
  const json = jsonOf(file, text)
  if (Array.isArray(json) && json.every(isRow)) return json
  const message = `${file}: expected the output of devchain gas-report --json, got ${printValue(json)}`
  throw invalidParams(message)
}

function isRow(value: unknown): value is GasRow {
  const { contract, function: name, average } = (value ?? {}) as Partial<GasRow>
  return typeof contract === 'string' && typeof name === 'string' && typeof average === 'number'
}

/** Reads a percentage: `5`, `0.5`, `5%`. @throws {DevchainError} `INVALID_PARAMS` */
export function parseThreshold(text: string): number {
  const digits = /^(\d+(?:\.\d+)?) ?%?$/.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  throw invalidParams(`expected a percentage such as 5 or 0.5, got ${printValue(text)}`)
}

const COVERAGE_HEADINGS = ['File', 'Lines', 'Functions', 'Branches']

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
  return aligned([COVERAGE_HEADINGS, ...cells], 1)
}

export function linesOf(rows: readonly CoverageRow[]): Share {
  return sumOf(rows.map(({ lines }) => lines))
}

function sumOf(shares: readonly Share[]): Share {
  const none = { hit: 0, found: 0 }
  return shares.reduce(
    (sum, each) => ({ hit: sum.hit + each.hit, found: sum.found + each.found }),
    none,
  )
}

/** `93.3 % (14/15)`; 100 only if all are hit. */
export function shareText({ hit, found }: Share): string {
  if (found === 0) return '–'
  const percent = Math.floor((1_000 * hit) / found) / 10
  return `${percent.toFixed(1)} % (${hit}/${found})`
}
