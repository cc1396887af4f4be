// The command without a subcommand: reads options, starts a chain and waits for its end. For subcommands see shell.ts.
import { readFileSync } from 'node:fs'
import {
  environmentSource,
  fileSource,
  type OptionSource,
  resolveOptions,
  unknownVariables,
} from '../app/settings.ts'
import { DevchainError, readFailure } from '../core/errors.ts'
import type { AllSettings } from '../options/derived.ts'
import { complain, withOutput } from './output.ts'
import { type CommandLine, type GivenOptions, readArguments } from './parse/commandline.ts'
import { EXIT, type HeavyName } from './parse/subcommands.ts'
import { start } from './start.ts'

/**
 * @param argv the arguments without the program's name and without a subcommand
 * @returns the exit code, once the chain has stopped
 */
export async function main(argv: readonly string[]): Promise<number> {
  return await withOutput(async () => {
    const line = await readArguments(argv)
    if (typeof line === 'number') return line
    const settings = await readSettings(line.options)
    return typeof settings === 'number' ? settings : await start(settings)
  })
}

/**
 * The shell is bundled apart and has its own copy of output.ts, so it does not recognize a failed write of this bundle.
 * @returns the exit code
 */
export async function heavyCommand(name: HeavyName, line: CommandLine): Promise<number> {
  return await withOutput(() => runHeavy(name, line))
}

async function runHeavy(name: HeavyName, line: CommandLine): Promise<number> {
  switch (name) {
    case 'exec':
      return (await import('./commands/exec.ts')).execCommand(line, readSettings)
    case 'gas-diff':
      return (await import('./commands/gasdiff.ts')).gasDiffCommand(line, readSettings)
    case 'export':
      return (await import('./commands/export.ts')).exportCommand(line)
    case 'fork-merge':
      return (await import('./commands/forkmerge.ts')).forkMergeCommand(line)
    case 'state':
      return (await import('./commands/state.ts')).stateCommand(line)
    case 'completions':
      return (await import('./commands/completions.ts')).completionsCommand(line)
  }
}

/** Reports invalid settings and returns the exit code. */
async function readSettings(values: GivenOptions): Promise<AllSettings | number> {
  try {
    const given: OptionSource = { kind: 'flag', values }
    const environment = environmentSource(process.env)
    const path = values.config ?? environment.values.config
    const files = typeof path === 'string' ? [readConfig(path)] : []
    const settings = withoutGaps(resolveOptions([given, environment, ...files]))
    const unknown = settings.quiet ? [] : unknownVariables(process.env)
    for (const sentence of unknown) await complain(`devchain: ${sentence}\n`)
    return settings
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    await complain(`devchain: ${error.message}\n`)
    return EXIT.usage
  }
}

/** @throws {DevchainError} `INVALID_PARAMS` for an option that requires another */
function withoutGaps(settings: AllSettings): AllSettings {
  if (settings.coverageMin === undefined || settings.coverage !== undefined) return settings
  throw new DevchainError('INVALID_PARAMS', '--coverage-min needs --coverage FILE')
}

function readConfig(path: string): OptionSource {
  let content: string
  try {
    // TextDecoder drops a byte order mark, which editors add
    content = new TextDecoder().decode(readFileSync(path))
  } catch (error) {
    const message = `cannot read the config file ${path}: ${readFailure(error)}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  return fileSource(path, content)
}
