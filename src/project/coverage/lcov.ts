// Writes a report's counts in lcov format, and a row for each file.
// @see https://manpages.debian.org/unstable/lcov/geninfo.1.en.html
import type { Range } from '../solidity/tokens.ts'
import type { BranchTally, FunctionTally, MeasuredFile, Tally } from './measure.ts'

export interface Share {
  readonly hit: number
  readonly found: number
}

export interface CoverageRow {
  readonly file: string
  readonly lines: Share
  readonly functions: Share
  readonly branches: Share
}

type Begun = Pick<Range, 'start' | 'head'>

/** A file's lcov section and row; undefined if nothing in it is executable. */
export function recordOf(file: MeasuredFile): { lcov: string; row: CoverageRow } | undefined {
  const counts = countsOf(file)
  const { functions, branches, lines } = counts
  if (functions.length === 0) return undefined
  const ways = branches.flatMap((each) => each.ways)
  const row = {
    file: file.path,
    lines: shareOf([...lines.values()]),
    functions: shareOf(functions.map(({ count }) => count)),
    branches: shareOf(ways),
  }
  return { lcov: textOf(row, counts), row }
}

function shareOf(counts: readonly number[]): Share {
  return { hit: counts.filter((count) => count > 0).length, found: counts.length }
}

function textOf(
  row: CoverageRow,
  { functions, branches, lines }: ReturnType<typeof countsOf>,
): string {
  const text = [
    'TN:',
    `SF:${row.file}`,
    ...functions.map(({ line, name }) => `FN:${line},${name}`),
    ...functions.map(({ count, name }) => `FNDA:${count},${name}`),
    `FNF:${row.functions.found}`,
    `FNH:${row.functions.hit}`,
    ...branches.flatMap(({ line, count, ways }, block) =>
      ways.map((taken, way) => `BRDA:${line},${block},${way},${count === 0 ? '-' : taken}`),
    ),
    `BRF:${row.branches.found}`,
    `BRH:${row.branches.hit}`,
    ...[...lines].map(([line, count]) => `DA:${line},${count}`),
    `LF:${row.lines.found}`,
    `LH:${row.lines.hit}`,
    'end_of_record',
  ]
  return `${text.join('\n')}\n`
}

function countsOf({ functions, source }: MeasuredFile) {
  const lineOf = ({ start, head = start }: Begun): number => source.outline.lineAt(head).line
  const names = functions.map(nameOf)
  const lines = new Map<number, number>()
  const count = (range: Begun, times: number): void => {
    const line = lineOf(range)
    lines.set(line, Math.max(lines.get(line) ?? 0, times))
  }
  for (const each of functions) {
    const { function: own, statements, branches, isPresent } = each
    count(own, each.count)
    for (const tally of statements) {
      // the compiler removed it from an existing function, so it can never run
      if (!isPresent || tally.isPresent) count(tally.range, tally.count)
    }
    for (const tally of branches) if (tally.isPresent) count(tally.branch.at, tally.count)
  }
  return {
    functions: functions.map((each, i) => {
      const line = lineOf(each.function)
      const name = names[i]!
      // functions of one name are distinguished by line
      const isOnly = names.indexOf(name) === names.lastIndexOf(name)
      return { line, name: isOnly ? name : `${name}:${line}`, count: each.count }
    }),
    branches: functions.flatMap((owner) =>
      owner.branches.flatMap((each) => {
        const line = lineOf(each.branch.at)
        const counts = branchOf(owner, each)
        // readers expect a branch on a counted line
        return counts === undefined || !lines.has(line) ? [] : [{ line, ...counts }]
      }),
    ),
    /** The highest count of any function or statement that starts on the line. */
    lines: new Map([...lines].sort(([a], [b]) => a - b)),
  }
}

/** `Vault.deposit` */
function nameOf({ function: { contract, name } }: FunctionTally): string {
  return contract === undefined ? name : `${contract}.${name}`
}

/** Undefined if the compiler removed it, or no way has a count. */
function branchOf(
  owner: FunctionTally,
  tally: BranchTally,
): { readonly count: number; readonly ways: readonly number[] } | undefined {
  const { branch, count, byJump, isPresent } = tally
  if (!owner.isPresent) return { count: 0, ways: branch.ways.map(() => 0) }
  const wayCounts = tally.ways.map((way) => way && wayOf(owner, way))
  switch (branch.kind) {
    case 'require':
      return isPresent ? { count, ways: byJump } : undefined
    case 'if': {
      const [good = isPresent ? byJump[0] : undefined, bad] = wayCounts
      if (good === undefined) return undefined
      const before = isPresent ? count : countAt(owner, branch.at)
      const rest = bad ?? (before === undefined ? undefined : Math.max(0, before - good))
      return rest === undefined ? undefined : { count: before ?? good + rest, ways: [good, rest] }
    }
    default: {
      const counted = wayCounts.filter((each) => each !== undefined)
      const before = branch.kind === 'try' ? countAt(owner, branch.at) : undefined
      // an empty clause has no code: it ran when no other did
      if (before !== undefined && counted.length === wayCounts.length - 1) {
        const rest = Math.max(0, before - sumOf(counted))
        return { count: before, ways: wayCounts.map((each) => each ?? rest) }
      }
      return counted.length < wayCounts.length
        ? undefined
        : { count: sumOf(counted), ways: counted }
    }
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, each) => sum + each, 0)
}

/** Counts a way by its first statement or its operations; undefined if it has neither. */
function wayOf(
  { statements }: FunctionTally,
  { range, isPresent, count }: Tally,
): number | undefined {
  const first = statements.find(
    (each) => each.isPresent && each.range.start >= range.start && each.range.end <= range.end,
  )
  return first?.count ?? (isPresent ? count : undefined)
}

function countAt({ statements }: FunctionTally, { start }: Range): number | undefined {
  const found = statements.find(({ range }) => range.start === start)
  return found?.isPresent ? found.count : undefined
}
