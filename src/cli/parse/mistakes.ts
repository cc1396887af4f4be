// One-line messages for wrong arguments.
import type { Command, CommanderError } from 'commander'
import { printValue } from '../../core/errors.ts'
import { hintOf, nearest } from '../../core/nearest.ts'
import { flagOf, OPTION_KEYS, optionOf } from '../../options/derived.ts'
import { SUBCOMMANDS } from './subcommands.ts'

/** Without the pointer to help. */
export function mistakeOf(command: Command, { code, message }: CommanderError): string {
  const named = /'([^']*)'/.exec(message)?.[1] ?? ''
  switch (code) {
    case 'commander.unknownOption':
      return unknownOption(command, named)
    case 'commander.optionMissingArgument':
      return missingValue(named)
    case 'commander.missingArgument':
      return `<${named}> is missing: ${usage(command)}`
    case 'commander.excessArguments':
      return excess(command)
    case 'commander.invalidArgument':
      return message.replace(
        /^.*?'(--[\w-]+).*?' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s,
        (_, flag, value, words) => `${flag}: expected one of ${words}, got ${printValue(value)}`,
      )
    default:
      return message.replace(/^error: /, '').replaceAll('\n', ' ')
  }
}

function unknownOption(command: Command, text: string): string {
  const flags = [...command.options.map(({ long }) => long ?? ''), '--help']
  const [flag = text, value] = text.split('=', 2)
  // commander reports a flag with a superfluous value as unknown
  if (flags.includes(flag)) return `${flag} takes no value, got ${printValue(value)}`
  if (/^-\d/.test(flag))
    return `unknown option ${flag}; to pass it as an argument, write it after --`
  const ours = FOREIGN.get(flag)
  if (ours !== undefined) return `unknown option ${flag}; did you mean ${ours}?`
  const why = NEEDLESS.get(flag)
  if (why !== undefined) return `unknown option ${flag}; omit it: ${why}`
  return `unknown option ${flag}${hintOf(flag, flags)}`
}

/** Flags of other nodes whose names are too different to be suggested. */
const FOREIGN = byFlag({
  '--fork URL': '-f --fork-url --rpc-url --fork.url --fork.network',
  '--fork URL@BLOCK': '--fork-block-number --fork.blockNumber',
  '--fork URL@-N': '--fork.preLatestConfirmations',
  '--fork https://USER:PASSWORD@HOST': '--fork.username --fork.password',
  '--fork-header': '--fork.headers --fork.jwt --fork.userAgent --fork.origin',
  '--no-fork-cache': '--fork.disableCache --no-storage-caching',
  'devchain fork-cache --clear': '--fork.deleteCache',
  '--fork-retries': '--fork-retry-backoff --retries',
  '--fork-timeout': '--timeout',
  '--fork-transaction': '--fork-transaction-hash',
  '--state DIR': '--database.dbPath --db',
})

/** Flags of other nodes without a counterpart here, and why. */
const NEEDLESS = byFlag({
  'devchain learns the rate limits of a forked network and logs waits':
    '--compute-units-per-second --no-rate-limit --no-rpc-rate-limit --fork.requestsPerSecond',
  'devchain detects the network by its chain id and blocks':
    '--network -n --optimism --celo --chain-type',
})

function byFlag(flags: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const pairs = Object.entries(flags).flatMap(([ours, theirs]) =>
    theirs.split(' ').map((each) => [each, ours] as const),
  )
  return new Map(pairs)
}

/** @param declared the option as declared: `--port <PORT>` */
function missingValue(declared: string): string {
  const [flag, placeholder = ''] = declared.split(' ')
  const key = OPTION_KEYS.find((candidate) => flagOf(candidate) === flag)
  const isChains = key !== undefined && optionOf(key).type.placeholder === placeholder.slice(1, -1)
  return `${flag} needs a value: ${isChains ? optionOf(key).type.expected : placeholder.slice(1, -1)}`
}

function excess(command: Command): string {
  const { mnemonic } = command.opts<{ readonly mnemonic?: string }>()
  // a mnemonic is secret
  if (mnemonic !== undefined && !/\s/.test(mnemonic)) {
    return '--mnemonic needs its phrase in quotes'
  }
  const surplus = command.args[command.registeredArguments.length] ?? ''
  if (command.parent !== null) {
    return `too many arguments, from ${printValue(surplus)} on: ${usage(command)}`
  }
  const name = nearest(
    surplus,
    SUBCOMMANDS.map((each) => each.name),
  )
  // other nodes have a command for it, and ours are not what is meant by these
  const starts = ['start', 'node', 'run', 'serve'].includes(surplus)
  const hint =
    name === undefined || starts
      ? 'options alone, such as --port 8545, start a chain'
      : `did you mean ${name}?`
  return `unknown command ${printValue(surplus)}: ${hint}`
}

function usage(command: Command): string {
  return `devchain ${command.name()} ${command.usage()}`.trim()
}
