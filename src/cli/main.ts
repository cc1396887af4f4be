// The command without a subcommand: reads options, starts a chain and waits for its end. For subcommands see shell.ts.
import { readFileSync } from 'node:fs'
import { mergeRecordings } from '../app/forking.ts'
import {
  environmentSource,
  fileSource,
  type OptionSource,
  resolveOptions,
  unknownVariables,
} from '../app/settings.ts'
import { plural } from '../core/format.ts'
import type { AllSettings } from '../options/derived.ts'
import { complain, reading, reported } from './output.ts'
import { type CommandLine, type GivenOptions, readArguments } from './parse/commandline.ts'
import { EXIT, type HeavyName } from './parse/subcommands.ts'
import { start } from './start.ts'

/**
 * @param argv the arguments without the program's name and without a subcommand
 * @returns the exit code, once the chain has stopped
 */
export async function main(argv: readonly string[]): Promise<number> {
  return await reported(undefined, false, async () => {
    const line = await readArguments(argv)
    if (typeof line === 'number') return line
    const settings = await readSettings(line.options)
    return typeof settings === 'number' ? settings : await start(settings)
  })
}

/**
 * The shell is bundled apart and has its own copy of output.ts, so it does not recognize the failures of this bundle.
 * @returns the exit code
 */
export async function heavyCommand(name: HeavyName, line: CommandLine): Promise<number> {
  // mistakes in files, which are no mistakes in the arguments
  const mistaken = name === 'state' || name === 'fork-merge' ? EXIT.refused : EXIT.usage
  return await reported(name, line.flags.json === true, () => RUN[name](line), mistaken)
}

/** Each returns the exit code, or the text to print. */
const RUN: Readonly<Record<HeavyName, (line: CommandLine) => Promise<number | string>>> = {
  exec: async (line) => (await import('./commands/exec.ts')).execCommand(line, readSettings),
  'gas-diff': async (line) =>
    (await import('./commands/gasdiff.ts')).gasDiffCommand(line, readSettings),
  export: async (line) => (await import('./commands/export.ts')).exportCommand(line),
  'fork-merge': forkMergeCommand,
  state: async (line) => (await import('./commands/state.ts')).stateCommand(line),
  completions: async (line) => (await import('./commands/completions.ts')).completionsCommand(line),
}

/** `devchain fork-merge`: merges recordings of one fork into the first. */
async function forkMergeCommand({ words }: CommandLine): Promise<string> {
  const [into = '', ...others] = words
  const { items, added } = await mergeRecordings(into, others)
  return `${into}: ${plural(BigInt(items), 'item')}, ${added} of them new\n`
}

/** Reports invalid settings and returns the exit code. */
async function readSettings(values: GivenOptions): Promise<AllSettings | number> {
  return await reported(undefined, false, async () => {
    const given: OptionSource = { kind: 'flag', values }
    const environment = environmentSource(process.env)
    const path = values.config ?? environment.values.config
    const files = typeof path === 'string' ? [readConfig(path)] : []
    const settings = resolveOptions([given, environment, ...files])
    const unknown = settings.quiet ? [] : unknownVariables(process.env)
    for (const sentence of unknown) await complain(`devchain: ${sentence}\n`)
    return settings
  })
}

function readConfig(path: string): OptionSource {
  const bytes = reading(`the config file ${path}`, () => readFileSync(path))
  // TextDecoder drops a byte order mark, which editors add
  return fileSource(path, new TextDecoder().decode(bytes))
}
