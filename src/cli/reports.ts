// What is told at the end of a run: what functions used, and what of the sources was reached.
import type { Devchain } from '../devchain.ts'
import type { AllSettings } from '../options/derived.ts'
import { coverageTable } from './commands/coveragetable.ts'
import { gasTable } from './commands/gastable.ts'

type ReportSettings = Pick<AllSettings, 'gasReport' | 'coverage' | 'log'>

/**
 * The reports that were asked for, as the log has them; the file of the coverage is written.
 * @throws node's error where it cannot be
 */
export async function endReports(
  devchain: Pick<Devchain, 'gasReport' | 'writeCoverage'>,
  settings: ReportSettings,
): Promise<string> {
  const told: string[] = []
  if (settings.gasReport) {
    const rows = await devchain.gasReport()
    told.push(settings.log === 'json' ? jsonLine('gasReport', { rows }) : `\n${gasTable(rows)}\n`)
  }
  if (settings.coverage !== undefined) {
    const { rows, warning } = await devchain.writeCoverage()
    const file = settings.coverage
    const written = [`coverage written to ${file}`, warning].filter(Boolean).join('; ')
    told.push(
      settings.log === 'json'
        ? jsonLine('coverage', { file, rows, warning })
        : `\n${coverageTable(rows)}\n\n${written}\n`,
    )
  }
  if (told.length === 0) return ''
  return settings.log === 'json' ? told.join('') : `${told.join('')}\n`
}

function jsonLine(event: string, members: object): string {
  return `${JSON.stringify({ time: new Date().toISOString(), event, ...members })}\n`
}
