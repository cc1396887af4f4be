// The command without a word: reads its options, then starts a chain and waits for its end. With one, see shell.ts.
import { readFileSync } from 'node:fs'
import { DevchainError } from '../core/errors.ts'
import type { AllSettings } from '../options/table.ts'
import { environmentSource, fileSource, type OptionSource, resolveOptions } from '../settings.ts'
import { plainFlags } from './flags.ts'
import { start } from './start.ts'

const EXIT = { ok: 0, usage: 2 } as const

/** Commands that need the code of a chain. */
export type HeavyName = 'exec' | 'export' | 'completions'

/**
 * Starts a chain.
 * @param argv the arguments after the program's name, none of which is a command
 * @returns the exit code, once the chain has stopped
 */
export async function main(argv: readonly string[]): Promise<number> {
  const settings = await readArguments(argv)
  if (typeof settings === 'number') return settings
  return await start(settings)
}

/**
 * Runs a command that needs the code of a chain.
 * @param argv the arguments after its name
 * @returns the exit code
 */
export async function heavyCommand(name: HeavyName, argv: readonly string[]): Promise<number> {
  switch (name) {
    case 'exec':
      return (await import('./exec.ts')).execCommand(argv, readArguments)
    case 'export':
      return (await import('./export.ts')).exportCommand(argv)
    case 'completions':
      return (await import('./completions.ts')).completionsCommand(argv)
  }
}

/** The settings, or the exit code when there is nothing to start. */
async function readArguments(argv: readonly string[]): Promise<AllSettings | number> {
  try {
    const values = plainFlags(argv) ?? (await import('./command.ts')).readFlags(argv)
    if (values === undefined) return EXIT.ok
    const given: OptionSource = { kind: 'flag', values }
    const environment = environmentSource(process.env)
    const path = given.values.config ?? environment.values.config
    const files = typeof path === 'string' ? [readConfig(path)] : []
    return resolveOptions([given, environment, ...files])
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    process.stderr.write(`devchain: ${error.message}\n`)
    return EXIT.usage
  }
}

function readConfig(path: string): OptionSource {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : (error as Error).message
    throw new DevchainError('INVALID_PARAMS', `cannot read the config file ${path}: ${why}`)
  }
  return fileSource(path, content)
}
