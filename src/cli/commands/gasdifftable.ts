// What `devchain gas-diff` compares of two runs of a command, as JSON and as text.
import { number, plural, shellWord } from '../../core/format.ts'
import type { GasRow, RunTotals } from '../../project/gas/report.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { aligned, changeText, functionText, keyOf } from './tables.ts'

export interface ForkRun {
  readonly hardfork: Hardfork
  readonly exitCode: number
  /** By name; undefined: the command's output does not say. */
  readonly failedTests: readonly string[] | undefined
  readonly totals: RunTotals
  readonly rows: readonly CountedRow[]
  readonly warning: string | undefined
}

interface CountedRow extends GasRow {
  readonly logs: number
}

/** One function in one run. */
interface Side {
  readonly calls: number
  readonly failed: number
  readonly logs: number
  /** Null: no call succeeded. */
  readonly average: number | null
  /** The part of `average` that is state gas. */
  readonly state: number
}

interface FunctionDiff extends Pick<GasRow, 'contract' | 'function' | 'kind'> {
  /** Null: it was not called in that run. */
  readonly before: Side | null
  readonly after: Side | null
  /** Of the average; null without one in both runs. */
  readonly percent: number | null
}

interface RunFacts extends RunTotals {
  readonly hardfork: Hardfork
  readonly exitCode: number
  /** Null: the command's output does not say. */
  readonly failedTests: readonly string[] | null
  /** Those that did not fail in the other run. */
  readonly failedOnlyHere: readonly string[] | null
}

/** The JSON of `--json`. */
export interface GasDiff {
  readonly command: readonly string[]
  readonly runs: readonly [before: RunFacts, after: RunFacts]
  /** The largest increases first. */
  readonly functions: readonly FunctionDiff[]
  /** Why functions are missing; null: none is. */
  readonly warning: string | null
}

export function diffOf(command: readonly string[], before: ForkRun, after: ForkRun): GasDiff {
  const sides = new Map<string, { row: GasRow; before: Side | null; after: Side | null }>()
  for (const row of before.rows) sides.set(keyOf(row), { row, before: sideOf(row), after: null })
  for (const row of after.rows) {
    const known = sides.get(keyOf(row))
    sides.set(keyOf(row), { row, before: known?.before ?? null, after: sideOf(row) })
  }
  const functions = [...sides.values()].map(({ row, before, after }): FunctionDiff => {
    const { contract, function: name, kind } = row
    const percent = percentOf(before?.average ?? null, after?.average ?? null)
    return { contract, function: name, kind, before, after, percent }
  })
  functions.sort((a, b) => (b.percent ?? -Infinity) - (a.percent ?? -Infinity))
  const warning = after.warning ?? before.warning ?? null
  const runs = [factsOf(before, after), factsOf(after, before)] as const
  return { command, runs, functions, warning }
}

function sideOf({ calls, failed, logs, average, state = 0 }: CountedRow): Side {
  return { calls, failed, logs, average: calls === 0 ? null : average, state }
}

function factsOf({ hardfork, exitCode, totals, failedTests }: ForkRun, other: ForkRun): RunFacts {
  const others = other.failedTests && new Set(other.failedTests)
  const failedOnlyHere = (others && failedTests?.filter((name) => !others.has(name))) ?? null
  return { hardfork, exitCode, ...totals, failedTests: failedTests ?? null, failedOnlyHere }
}

function percentOf(before: number | null, after: number | null): number | null {
  return before === null || after === null || before === 0
    ? null
    : (100 * (after - before)) / before
}

/** True if an average rose by more percent or is lost, or the tests ended differently. */
export function isWorse({ runs, functions }: GasDiff, threshold: number): boolean {
  const isOver = functions.some(
    ({ percent, before, after }) =>
      (percent ?? 0) > threshold || (before?.calls && after?.calls === 0),
  )
  return isOver || runs[0].exitCode !== runs[1].exitCode || hasOnly(runs[1])
}

/** @param options of the chain and of `exec`, as words that show its failures again */
export function diffText(diff: GasDiff, options: readonly string[]): string {
  const { functions, warning } = diff
  const parts = functions.length === 0 ? [] : [TITLE, gasTable(diff)]
  if (warning !== null) parts.push(`warning: ${warning}`)
  return [...parts, ...runTexts(diff, options)].join('\n\n')
}

function hasOnly({ failedOnlyHere }: RunFacts): boolean {
  return failedOnlyHere !== null && failedOnlyHere.length > 0
}

const TITLE = 'Average gas of each function, the largest increase first:'

function gasTable({ functions, runs: [before, after] }: GasDiff): string {
  const hasState = isAtLeast(after.hardfork, 'amsterdam')
  const headings = ['Contract', 'Function', before.hardfork, after.hardfork]
  const line = (
    names: string[],
    was: number | null,
    is: number | null,
    state: number,
  ): string[] => [
    ...names,
    shown(number, was),
    shown(number, is),
    ...(hasState ? [shown(number, is === null ? null : state)] : []),
    shown(changeText, percentOf(was, is)),
  ]
  const cells = functions.map((each) => {
    const [was, is] = [each.before?.average ?? null, each.after?.average ?? null]
    return line([each.contract, functionText(each)], was, is, each.after?.state ?? 0)
  })
  const total = line(['', 'all transactions'], before.gasUsed, after.gasUsed, after.stateGasUsed)
  return aligned([[...headings, ...(hasState ? ['State gas'] : []), 'Change'], ...cells, total], 2)
}

function shown(write: (amount: number) => string, amount: number | null): string {
  return amount === null ? '–' : write(amount)
}

const FACTS = [
  ['exit code', 'exitCode'],
  ['transactions', 'transactions'],
  ['failed', 'failed'],
  ['logs', 'logs'],
] as const

function runTexts({ command, functions, runs }: GasDiff, options: readonly string[]): string[] {
  const [before, after] = runs
  const changed = functions.flatMap((each) => {
    const text = behaviourText(each)
    return text === undefined ? [] : [[`${each.contract}.${functionText(each)}`, text]]
  })
  const isAlike = FACTS.every(([, key]) => before[key] === after[key])
  if (isAlike && changed.length === 0 && !runs.some(hasOnly)) {
    const counts = `${plural(after.transactions, 'transaction')} (${number(after.failed)} failed), ${plural(after.logs, 'log')}`
    return [`The tests ran alike: exit code ${after.exitCode}, ${counts}.`]
  }
  const cells = FACTS.map(([name, key]) => [name, number(before[key]), number(after[key])])
  const table = aligned([['Tests', before.hardfork, after.hardfork], ...cells], 1)
  const failures = runs
    .filter(hasOnly)
    .map((run) => [`Failed only under ${run.hardfork}`, ...run.failedOnlyHere!].join('\n'))
  const notes: string[] = []
  if (after.logs > before.logs && hasTransferLogs(after) && !hasTransferLogs(before)) {
    notes.push('Since amsterdam each transfer of ether emits a log (EIP-7708).')
  }
  if (after.exitCode !== 0 && before.exitCode === 0) {
    if (after.failedTests === null) notes.push('The output of the command names no failed tests.')
    const words = ['--hardfork', after.hardfork, ...options, '--', ...command.map(shellWord)]
    notes.push(`See the failures: devchain exec ${words.join(' ')}`)
  }
  const list = changed.length === 0 ? [] : [aligned([['Changed', ''], ...changed], 2)]
  return [table, ...failures, ...list, ...(notes.length === 0 ? [] : [notes.join('\n')])]
}

function hasTransferLogs({ hardfork }: RunFacts): boolean {
  return isAtLeast(hardfork, 'amsterdam')
}

/** Undefined if calls, failures and logs are as before. */
function behaviourText({ before, after, kind }: FunctionDiff): string | undefined {
  const none = { calls: 0, failed: 0, logs: 0 }
  const [was, is] = [before ?? none, after ?? none]
  const keys =
    kind === 'inner' ? (['calls', 'failed'] as const) : (['calls', 'failed', 'logs'] as const)
  const changes = keys.flatMap((key) => {
    const name = key === 'calls' ? 'succeeded' : key
    return was[key] === is[key] ? [] : [`${name} ${number(was[key])} → ${number(is[key])}`]
  })
  return changes.length === 0 ? undefined : changes.join(', ')
}
