// Formats the gas report and its difference to an earlier one; free of chain code, so that the remote command need not load
// it.
import { DevchainError, printValue } from '../../core/errors.ts'
import { number } from '../../core/format.ts'
import { jsonOf } from '../../core/objects.ts'
import type { GasRow } from '../../project/gas/report.ts'
import { aligned } from './columns.ts'

export interface GasDifference extends GasRow {
  readonly before: number
  readonly percent: number
}

const HEADINGS = ['Contract', 'Function', 'Calls', 'Failed', 'Min', 'Average', 'Median', 'Max']

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
  return aligned([hasState ? [...HEADINGS, 'State'] : HEADINGS, ...cells], 2)
}

/** The largest increases first. */
export function differenceTable(differences: readonly GasDifference[]): string {
  if (differences.length === 0) return 'no average changed'
  const cells = differences.map((each) => [
    each.contract,
    functionText(each),
    number(each.before),
    number(each.average),
    changeText(each.percent),
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

/** Functions whose average changed; those in only one report are left out. */
export function gasDifferences(
  rows: readonly GasRow[],
  earlier: readonly GasRow[],
): readonly GasDifference[] {
  const before = new Map(earlier.map((row) => [keyOf(row), row.average]))
  return rows
    .flatMap((row) => {
      const was = before.get(keyOf(row))
      // if all calls failed there is no average
      if (was === undefined || was === row.average || was === 0 || row.average === 0) return []
      return [{ ...row, before: was, percent: (100 * (row.average - was)) / was }]
    })
    .sort((a, b) => b.percent - a.percent)
}

/** Earlier versions had no other kind. */
function keyOf({ contract, function: name, kind = 'transaction' }: GasRow): string {
  return `${kind} ${contract} ${name}`
}

/**
 * Reads the output of `devchain gas-report --json`.
 * @throws {DevchainError} `INVALID_PARAMS`
 */
export function parseGasReport(text: string, file: string): readonly GasRow[] {
  const json = jsonOf(file, text)
  if (Array.isArray(json) && json.every(isRow)) return json
  const message = `${file}: expected the output of devchain gas-report --json, got ${printValue(json)}`
  throw new DevchainError('INVALID_PARAMS', message)
}

function isRow(value: unknown): value is GasRow {
  const { contract, function: name, average } = (value ?? {}) as Partial<GasRow>
  return typeof contract === 'string' && typeof name === 'string' && typeof average === 'number'
}

/** Reads a percentage: `5`, `0.5`, `5%`. @throws {DevchainError} `INVALID_PARAMS` */
export function parseThreshold(text: string): number {
  const digits = /^(\d+(?:\.\d+)?) ?%?$/.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  const message = `expected a percentage such as 5 or 0.5, got ${printValue(text)}`
  throw new DevchainError('INVALID_PARAMS', message)
}
