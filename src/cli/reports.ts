// Reports at the end of a run: gas and coverage.
import type { Devchain } from '../devchain.ts'
import type { AllSettings } from '../options/derived.ts'
import type { CoverageRow } from '../project/coverage/lcov.ts'
import { coverageTable, gasTable, linesOf, shareText } from './commands/tables.ts'

export interface EndReports {
  /** As logged; empty if none was requested. */
  readonly text: string
  /** Why the run fails because of them; undefined: it does not. */
  readonly refusal: string | undefined
}

/**
 * Makes the requested reports and writes the coverage file and the dump.
 * @throws an error that says which file cannot be written
 */
export async function endReports(
  devchain: Pick<Devchain, 'gasSummary' | 'writeCoverage' | 'writeDump'>,
  settings: Pick<AllSettings, 'gasReport' | 'coverage' | 'coverageMin' | 'log'>,
): Promise<EndReports> {
  await devchain.writeDump()
  const isJson = settings.log === 'json'
  const reports: string[] = []
  if (settings.gasReport) {
    const { rows, warning } = await devchain.gasSummary()
    const text = `\n${gasTable(rows)}\n${warning === undefined ? '' : `\nwarning: ${warning}\n`}`
    reports.push(isJson ? jsonLine('gasReport', { rows, warning }) : text)
  }
  const { coverage: file, coverageMin } = settings
  let refusal: string | undefined
  if (file !== undefined) {
    const { rows, warning } = await devchain.writeCoverage()
    const warned = warning === undefined ? '' : `warning: ${warning}\n`
    const text = `\n${coverageTable(rows)}\n\ncoverage written to ${file}\n${warned}`
    reports.push(isJson ? jsonLine('coverage', { file, rows, warning }) : text)
    if (coverageMin !== undefined) refusal = shortfall(rows, coverageMin)
  }
  const end = reports.length === 0 || isJson ? '' : '\n'
  return { text: reports.join('') + end, refusal }
}

/** Percent of lines below the required minimum; an empty report lacks all of it. */
function shortfall(rows: readonly CoverageRow[], percent: number): string | undefined {
  const lines = linesOf(rows)
  if (lines.found > 0 && 100 * lines.hit >= percent * lines.found) return undefined
  const reached =
    lines.found === 0
      ? 'the coverage report is empty'
      : `${shareText(lines)} of the lines are covered`
  return `${reached}, less than the ${percent} % of --coverage-min`
}

function jsonLine(event: string, members: object): string {
  return `${JSON.stringify({ time: new Date().toISOString(), event, ...members })}\n`
}
