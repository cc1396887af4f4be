// The command: reads its arguments, then starts a chain and waits for its end.
import { readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { DevchainError, printValue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import {
  type AllSettings,
  environmentNameOf,
  environmentSource,
  fileSource,
  flagOf,
  OPTION_KEYS,
  OPTIONS,
  type OptionKey,
  type OptionSource,
  resolveOptions,
} from '../options.ts'
import { PROGRAM } from '../program.ts'

const HELP_WIDTH = 100

const EXIT = { ok: 0, failure: 1, usage: 2 } as const

const EPILOGUE = `
Every option can also be given in the environment (--chain-id as ${environmentNameOf('chainId')}) or in a JSON
file (--config FILE, {"chainId": 33}). A flag has precedence over the environment, the environment
over the file.

  devchain                                     a block a transaction, http://127.0.0.1:8545
  devchain --port 0 --ready-file chain.json    a free port, written to chain.json: for CI
  devchain --block-time 2 --base-fee 1gwei     blocks and fees as on a real network
  devchain export chain.rlp                    write the blocks of a running chain (export --help)
  devchain --import chain.rlp                  begin with them`

/**
 * Runs the command.
 * @param argv the arguments after the program's name
 * @returns the exit code, once the chain has stopped
 */
export async function main(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv
  if (first === 'export') {
    const { exportCommand } = await import('./export.ts')
    return await exportCommand(rest)
  }
  const settings = readArguments(argv)
  if (typeof settings === 'number') return settings
  const { start } = await import('./start.ts')
  return await start(settings)
}

/** The settings, or the exit code when there is nothing to start. */
function readArguments(argv: readonly string[]): AllSettings | number {
  const command = createCommand()
  try {
    command.parse([...argv], { from: 'user' })
    const given: OptionSource = { kind: 'flag', values: givenFlags(command) }
    const environment = environmentSource(process.env)
    const path = given.values.config ?? environment.values.config
    const files = typeof path === 'string' ? [readConfig(path)] : []
    return resolveOptions([given, environment, ...files])
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
    if (!(error instanceof CommanderError || error instanceof DevchainError)) throw error
    process.stderr.write(`devchain: ${usageMessage(error)}\n`)
    return EXIT.usage
  }
}

/** The command line as commander wants it declared, from the list of options. */
export function createCommand(): Command {
  const command = new Command('devchain')
    .description('A local Ethereum-style chain for development.')
    .usage('[options]')
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({ writeErr: () => undefined })
    .allowExcessArguments(false)
    .exitOverride()
  for (const key of OPTION_KEYS) command.addOption(createOption(key))
  command.optionsGroup('Help:')
  command.version(PROGRAM.version, '-V, --version', 'Print the version')
  command.helpOption('-h, --help', 'Print this help')
  return command.addHelpText('after', EPILOGUE)
}

function createOption(key: OptionKey): Option {
  const { type, group, sentence, fallbackText } = OPTIONS[key]
  const value = type.placeholder === undefined ? '' : ` <${type.placeholder}>`
  const isPlain = type.placeholder === undefined || fallbackText === 'none'
  const shown = fallbackText.length > 40 ? 'test … junk' : fallbackText
  const option = new Option(`${flagOf(key)}${value}`, isPlain ? sentence : `${sentence} (${shown})`)
  if (type.repeatable) {
    option.argParser((text: string, former: readonly string[] | undefined) => [
      ...(former ?? []),
      text,
    ])
  }
  return option.helpGroup(`${group}:`)
}

/** What the command line gave, by key. `--no-…` flags are options of their own here, unlike in commander. */
function givenFlags(command: Command): Partial<Record<OptionKey, unknown>> {
  const values: Partial<Record<OptionKey, unknown>> = {}
  for (const key of OPTION_KEYS) {
    const option = command.options.find(({ long }) => long === flagOf(key))
    const name = option?.attributeName() ?? key
    if (command.getOptionValueSource(name) !== 'cli') continue
    values[key] = option?.negate ? true : command.getOptionValue(name)
  }
  return values
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

/** One line for people, naming the nearest valid option where that helps. */
function usageMessage(error: Error): string {
  if (!(error instanceof CommanderError)) return error.message
  const named = /'([^']*)'/.exec(error.message)?.[1] ?? ''
  const flags = OPTION_KEYS.map(flagOf)
  switch (error.code) {
    case 'commander.unknownOption': {
      const flag = named.split('=')[0] ?? named
      const proposal = nearest(flag, [...flags, '--help', '--version'], Infinity)
      return `unknown option ${flag}; did you mean ${proposal}? (--help lists all)`
    }
    case 'commander.optionMissingArgument':
      return `${named.split(' ')[0]} needs a value: ${expectedOf(named)}`
    case 'commander.excessArguments':
      return 'expected options only, such as --port 8545 (--help lists all)'
    default:
      return error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  }
}

function expectedOf(flags: string): string {
  const key = OPTION_KEYS.find((candidate) => flags.startsWith(`${flagOf(candidate)} `))
  return key === undefined ? printValue(flags) : OPTIONS[key].type.expected
}
