// Reads the arguments of a subcommand, with commander.
import { Command, CommanderError } from 'commander'
import { DevchainError } from '../core/errors.ts'
import type { Subcommand } from './subcommands.ts'

const HELP_WIDTH = 100

/** What the arguments say. */
export interface Given {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
}

/**
 * Reads arguments, and prints help where that is asked for.
 * @returns undefined when help alone was asked for
 * @throws {DevchainError} `INVALID_PARAMS` saying what is wrong with them
 */
export function readSubcommand(
  { name, arguments: declared, sentence, flags }: Subcommand,
  argv: readonly string[],
): Given | undefined {
  const command = new Command(`devchain ${name}`)
    .description(`${sentence}.`)
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({ writeErr: () => undefined })
    .helpOption('-h, --help', 'Print this help')
    .allowExcessArguments(false)
    .exitOverride()
  if (declared !== '') command.arguments(declared)
  for (const flag of flags) command.option(flag.flags, flag.sentence)
  try {
    command.parse(withoutSigns(argv), { from: 'user' })
    return { words: command.args, options: command.opts() }
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return undefined
    const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
    throw new DevchainError('INVALID_PARAMS', `${message} (devchain ${name} --help)`)
  }
}

/** Negative numbers are words here, which commander would take for flags. */
function withoutSigns(argv: readonly string[]): string[] {
  const at = argv.findIndex((word) => /^-\d/.test(word))
  return at < 0 || argv.includes('--') ? [...argv] : [...argv.slice(0, at), '--', ...argv.slice(at)]
}
