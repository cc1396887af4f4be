// The gas report as a table, and beside an earlier one: pure, so that the command for a running chain needs no chain.
import { DevchainError, printValue } from '../../core/errors.ts'
import { number } from '../../core/format.ts'
import type { GasRow } from '../../project/gas/report.ts'
import { aligned } from './columns.ts'

/** A row whose average is not what it was. */
export interface GasDifference extends GasRow {
  readonly before: number
  /** Of the average. */
  readonly percent: number
}

const HEADINGS = ['Contract', 'Function', 'Calls', 'Failed', 'Min', 'Average', 'Median', 'Max']

/** The report as text; the contract's name stands in the first of its rows. */
export function gasTable(rows: readonly GasRow[]): string {
  if (rows.length === 0) return 'no transaction to a contract of the project yet'
  const cells = rows.map((row, i) => [
    rows[i - 1]?.contract === row.contract ? '' : row.contract,
    functionText(row),
    number(row.calls),
    number(row.failed),
    ...[row.min, row.average, row.median, row.max].map((amount) =>
      row.calls === 0 ? '–' : number(amount),
    ),
  ])
  return aligned([HEADINGS, ...cells], 2)
}

/** What changed, the worst first. */
export function differenceTable(differences: readonly GasDifference[]): string {
  if (differences.length === 0) return 'no average changed'
  const cells = differences.map((each) => [
    each.contract,
    functionText(each),
    number(each.before),
    number(each.average),
    percentText(each.percent),
  ])
  return aligned([['Contract', 'Function', 'Was', 'Is', 'Change'], ...cells], 2)
}

function functionText({ function: name, kind }: GasRow): string {
  return kind === 'inner' ? `${name} (inner)` : name
}

function percentText(percent: number): string {
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`
}

/** The functions whose average is another than in an earlier report; those that are in one of them alone are left out. */
export function gasDifferences(
  rows: readonly GasRow[],
  earlier: readonly GasRow[],
): readonly GasDifference[] {
  const before = new Map(earlier.map((row) => [keyOf(row), row.average]))
  return rows
    .flatMap((row) => {
      const was = before.get(keyOf(row))
      // of calls that all failed there is no average
      if (was === undefined || was === row.average || was === 0 || row.average === 0) return []
      return [{ ...row, before: was, percent: (100 * (row.average - was)) / was }]
    })
    .sort((a, b) => b.percent - a.percent)
}

/** Earlier versions knew no other kind. */
function keyOf({ contract, function: name, kind = 'transaction' }: GasRow): string {
  return `${kind} ${contract} ${name}`
}

/**
 * Reads an earlier report: what `devchain gas-report --json` printed.
 * @throws {DevchainError} `INVALID_PARAMS` for what is none
 */
export function parseGasReport(text: string, file: string): readonly GasRow[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    const message = `${file} is no valid JSON: ${(error as Error).message}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  if (Array.isArray(json) && json.every(isRow)) return json
  const message = `${file}: expected what devchain gas-report --json prints, got ${printValue(json)}`
  throw new DevchainError('INVALID_PARAMS', message)
}

function isRow(value: unknown): value is GasRow {
  const { contract, function: name, average } = (value ?? {}) as Partial<GasRow>
  return typeof contract === 'string' && typeof name === 'string' && typeof average === 'number'
}

/** Reads a percentage: `5`, `0.5`, `5%`. @throws {DevchainError} `INVALID_PARAMS` for what is none */
export function parseThreshold(text: string): number {
  const digits = /^(\d+(?:\.\d+)?) ?%?$/.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  const message = `expected a percentage such as 5 or 0.5, got ${printValue(text)}`
  throw new DevchainError('INVALID_PARAMS', message)
}
