// The command line as commander reads it: help, version, and what is wrong with arguments. Loaded for these alone.
import { Command, CommanderError, Option } from 'commander'
import { DevchainError, printValue } from '../core/errors.ts'
import { hintOf } from '../core/nearest.ts'
import {
  defaultTextOf,
  environmentNameOf,
  flagOf,
  OPTION_KEYS,
  type OptionKey,
  optionOf,
} from '../options/table.ts'
import { PROGRAM } from '../program.ts'
import type { GivenFlags } from './flags.ts'
import { SUBCOMMANDS, usageOf } from './subcommands.ts'

const HELP_WIDTH = 100

const EPILOGUE = `
Every option can also be given in the environment (--chain-id as ${environmentNameOf('chainId')}) or in a JSON
file (--config FILE, {"chainId": 33}). A flag has precedence over the environment, the environment
over the file.

  devchain                                     a block a transaction, http://127.0.0.1:8545
  devchain --port 0 --ready-file chain.json    a free port, written to chain.json: for CI
  devchain --block-time 2 --base-fee 1gwei     blocks and fees as on a real network
  devchain --import chain.rlp                  begin with the blocks that devchain export wrote`

/** The subcommands, a line each. */
function subcommandHelp(): string {
  const rows = SUBCOMMANDS.map((each) => [usageOf(each), each.sentence] as const)
  const width = Math.max(...rows.map(([usage]) => usage.length))
  const lines = rows.map(([usage, sentence]) => `  ${usage.padEnd(width)}  ${sentence}`)
  return ['', 'Commands (devchain COMMAND --help tells more):', ...lines].join('\n')
}

/**
 * Reads any arguments, and prints what is asked for.
 * @returns what they say, or undefined when they ask for help or the version alone
 * @throws {DevchainError} `INVALID_PARAMS` naming what is wrong, and the nearest valid option where that helps
 */
export function readFlags(argv: readonly string[]): GivenFlags | undefined {
  const command = createCommand()
  try {
    command.parse([...argv], { from: 'user' })
    return givenFlags(command)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return undefined
    throw new DevchainError('INVALID_PARAMS', usageMessage(error))
  }
}

/** The command line as commander wants it declared, from the list of options. */
function createCommand(): Command {
  const command = new Command('devchain')
    .description('A local Ethereum-style chain for development.')
    .usage('[options] | devchain <command>')
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({ writeErr: () => undefined })
    .allowExcessArguments(false)
    .exitOverride()
  for (const key of OPTION_KEYS) command.addOption(createOption(key))
  command.optionsGroup('Help:')
  command.version(PROGRAM.version, '-V, --version', 'Print the version')
  command.helpOption('-h, --help', 'Print this help')
  return command.addHelpText('after', subcommandHelp()).addHelpText('after', EPILOGUE)
}

function createOption(key: OptionKey): Option {
  const { type, group, sentence } = optionOf(key)
  const preset = defaultTextOf(key)
  const value = type.placeholder === undefined ? '' : ` <${type.placeholder}>`
  const isPlain = type.placeholder === undefined || preset === 'none'
  const shown = preset.length > 40 ? preset.replace(/ .* /, ' … ') : preset
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
function givenFlags(command: Command): GivenFlags {
  const values: Partial<Record<OptionKey, unknown>> = {}
  for (const key of OPTION_KEYS) {
    const option = command.options.find(({ long }) => long === flagOf(key))
    const name = option?.attributeName() ?? key
    if (command.getOptionValueSource(name) !== 'cli') continue
    values[key] = option?.negate ? true : command.getOptionValue(name)
  }
  return values
}

/** One line for people. */
function usageMessage(error: CommanderError): string {
  const named = /'([^']*)'/.exec(error.message)?.[1] ?? ''
  const flags = OPTION_KEYS.map(flagOf)
  switch (error.code) {
    case 'commander.unknownOption': {
      const [flag = named, value] = named.split('=', 2)
      // commander knows no flag of this name that takes a value
      if (flags.includes(flag)) return `${flag} takes no value, got ${printValue(value)}`
      const hint = hintOf(flag, [...flags, '--help', '--version'])
      return `unknown option ${flag}${hint} (--help lists all)`
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
  return key === undefined ? printValue(flags) : optionOf(key).type.expected
}
