// `devchain gas-diff`: runs a command beside a chain of each of two hardforks, and compares gas, failures and logs.
import type { Devchain } from '../../devchain.ts'
import type { AllSettings } from '../../options/derived.ts'
import type { GasSummary } from '../../project/gas/report.ts'
import {
  DEFAULT_HARDFORK,
  type Hardfork,
  NEWEST_HARDFORK,
  parseHardfork,
} from '../../protocol/forks.ts'
import { CommandFailure, complain, print } from '../output.ts'
import { type CommandLine, type GivenOptions, wordsOf } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'
import { bringUp, codeOf, environmentFor, failedStart } from '../start.ts'
import { type CommandEnd, run } from './exec.ts'
import { diffOf, diffText, type ForkRun, isWorse } from './gasdifftable.ts'
import { parseThreshold } from './tables.ts'
import { TestOutput } from './testoutput.ts'

/**
 * @param line the hardforks, the chain's options and the command
 * @param readSettings returns the chain's settings, or the exit code if they are invalid
 * @returns the exit code
 * @throws {CommandFailure} unless both runs ended
 */
export async function gasDiffCommand(
  { words, flags, options }: Pick<CommandLine, 'words' | 'flags' | 'options'>,
  readSettings: (options: GivenOptions) => Promise<AllSettings | number>,
): Promise<number> {
  const [from, to] = [
    hardforkOf(flags.from, DEFAULT_HARDFORK),
    hardforkOf(flags.to, NEWEST_HARDFORK),
  ]
  const threshold =
    typeof flags.threshold === 'string' ? parseThreshold(flags.threshold) : undefined
  const settings = await readSettings({ port: 0, ...options })
  if (typeof settings === 'number') return settings
  requireFresh(settings, options)
  const runs: ForkRun[] = []
  for (const hardfork of [from, to]) {
    await complain(`devchain: gas-diff: ${words.join(' ')} under ${hardfork}\n`)
    runs.push(await runUnder(hardfork, words, settings, flags.chains === true))
  }
  const diff = diffOf(words, runs[0]!, runs[1]!)
  const own = [...(flags.chains === true ? ['--chains'] : []), ...wordsOf(options)]
  await print(`${flags.json === true ? JSON.stringify(diff, null, 2) : diffText(diff, own)}\n`)
  if (threshold === undefined) return EXIT.ok
  if (diff.functions.length > 0) return isWorse(diff, threshold) ? EXIT.refused : EXIT.ok
  const why = 'no function of the project ran, so there is no gas to compare'
  throw new CommandFailure(why, EXIT.refused)
}

function hardforkOf(given: string | true | undefined, preset: Hardfork): Hardfork {
  return typeof given === 'string' ? parseHardfork(given) : preset
}

/** @throws {CommandFailure} for options that set the hardfork, or let the second run begin where the first ended */
function requireFresh(settings: AllSettings, given: GivenOptions): void {
  const refuse = (flag: string, why: string): never => {
    throw new CommandFailure(`${flag} ${why}`, EXIT.usage)
  }
  const { coverage, dumpState } = given
  if (coverage !== undefined) refuse('--coverage', 'works with devchain exec')
  if (dumpState !== undefined) refuse('--dump-state', 'works with devchain exec')
  if (given.hardfork !== undefined) refuse('--hardfork', 'is set by --from and --to')
  if (settings.state !== undefined) refuse('--state', 'would give both runs the same chain')
  if (settings.from !== undefined) refuse('a pack (DEVCHAIN_FROM)', 'has a hardfork of its own')
}

async function runUnder(
  hardfork: Hardfork,
  command: readonly string[],
  given: AllSettings,
  hasChains: boolean,
): Promise<ForkRun> {
  const { devchain, url } = await opened({ ...given, hardfork, gasReport: true })
  try {
    const output = new TestOutput()
    const end = await run(command, environmentFor(url, hasChains), output.write)
    if (end.refusal !== undefined) throw new CommandFailure(end.refusal, end.exitCode)
    // without a comparison there is no success, whatever the command made of the signal
    if (end.signal !== undefined) throw new CommandFailure('', end.exitCode || codeOf(end.signal))
    // artifacts that the command built give names to its calls
    await devchain.artifactsReadAgain()
    return runOf(hardfork, end, output.failed, await devchain.gasSummary())
  } finally {
    await devchain.close().catch(() => undefined)
  }
}

async function opened(
  settings: AllSettings,
): Promise<{ readonly devchain: Devchain; readonly url: string }> {
  const onNotice = (text: string): void => void complain(`devchain: ${text}\n`)
  try {
    return await bringUp(settings, { observer: { onNotice }, greet: () => undefined })
  } catch (error) {
    throw failedStart(error, settings)
  }
}

function runOf(
  hardfork: Hardfork,
  { exitCode }: CommandEnd,
  failedTests: readonly string[] | undefined,
  { rows, logs, totals, warning }: GasSummary,
): ForkRun {
  return {
    hardfork,
    exitCode,
    failedTests,
    totals,
    rows: rows.map((row, i) => ({ ...row, logs: logs[i]! })),
    warning,
  }
}
