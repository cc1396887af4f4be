// Declares the command line for commander: chain options, subcommands with theirs, help and version.
import { Command, CommanderError, Option } from 'commander'
import { invalidParams, printValue } from '../../core/errors.ts'
import { shellWord } from '../../core/format.ts'
import { hintOf, nearest } from '../../core/nearest.ts'
import {
  defaultTextOf,
  environmentNameOf,
  flagOf,
  OPTION_KEYS,
  type OptionKey,
  optionOf,
} from '../../options/derived.ts'
import { groupOf } from '../../options/table.ts'
import type { Type } from '../../options/values.ts'
import { PROGRAM } from '../../program.ts'
import { reported } from '../output.ts'
import {
  isSubcommand,
  SUBCOMMANDS,
  type Subcommand,
  type SubcommandFlag,
  type SubcommandName,
  subcommandOf,
  usageOf,
} from './subcommands.ts'

/** Given chain options by key: text, a list of texts for repeatable ones, true for flags. */
export type GivenOptions = { readonly [Key in OptionKey]?: unknown }

export interface CommandLine {
  /** Undefined: start a chain. */
  readonly name: SubcommandName | undefined
  readonly words: readonly string[]
  /** The command's own flags, by name without hyphens; true for one without a value. */
  readonly flags: { readonly [name: string]: string | true | undefined }
  readonly options: GivenOptions
}

const HELP_WIDTH = 100

const EPILOGUE = `
Every option also works as an environment variable (--chain-id as ${environmentNameOf('chainId')}) or in a JSON
file (--config FILE, {"chainId": 33}). A flag overrides the environment; the environment overrides
the file.

  devchain                                     mines each transaction, http://127.0.0.1:8545
  devchain --port 0 --ready-file chain.json    a free port, written to chain.json: for CI
  devchain --block-time 2 --base-fee 1gwei     blocks and fees as on a real network
  devchain --import chain.rlp                  starts with the blocks of devchain export`

/**
 * Prints help or the version if asked to, and mistakes to standard error.
 * @returns the parsed arguments, or the exit code if there is nothing to do
 */
export async function readArguments(argv: readonly string[]): Promise<CommandLine | number> {
  const name = isSubcommand(argv[0]) ? argv[0] : undefined
  const isJson = name !== undefined && argv.includes('--json')
  return await reported(name, isJson, async () => readCommandLine(argv))
}

/**
 * @returns the parsed arguments, or the text of help or version to print
 * @throws {DevchainError} `INVALID_PARAMS` naming the mistake, and the nearest valid option where that helps
 */
export function readCommandLine(argv: readonly string[]): CommandLine | string {
  const output: Output = { line: undefined, printed: '' }
  const meant = withoutShortWords(argv)
  try {
    createProgram(meant, output).parse(withPlainFlags(meant), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
  }
  return output.line ?? output.printed
}

/** Accepts `help`, `help COMMAND` and `-v`, which other programs use for flags. */
function withoutShortWords(argv: readonly string[]): readonly string[] {
  const [first, second] = argv
  if (argv.length === 1 && first === '-v') return ['--version']
  if (first !== 'help') return argv
  if (isSubcommand(second)) return [second, '--help']
  return second === undefined || second.startsWith('-') ? ['--help'] : [second]
}

/**
 * Inserts the default of each flag with an optional value: `exec --trace npm test` runs npm. A word that is no value of the
 * flag begins the command.
 */
function withPlainFlags(argv: readonly string[]): string[] {
  const [name] = argv
  if (!isSubcommand(name) || !subcommandOf(name).startsChain) return [...argv]
  const declared = subcommandOf(name)
  const types = new Map<string, Type<unknown>>(
    chainKeys(declared).map((key) => [flagOf(key), optionOf(key).type]),
  )
  const isOwn = new Map<string, boolean>(
    declared.flags.map((flag) => [flag.name, flag.placeholder !== undefined]),
  )
  const plain = [...argv]
  for (let i = 1; plain[i]?.startsWith('-') && plain[i] !== '--'; i++) {
    const [flag, next] = [plain[i]!, plain[i + 1]]
    const type = types.get(flag)
    const isAlone = type?.alone !== undefined && (next === undefined || !type.read(next))
    if (isAlone) plain[i] = `${flag}=${type.alone}`
    else if (type?.placeholder !== undefined || isOwn.get(flag)) i += 1
  }
  return plain
}

/** What comes of arguments: the options of a command, or help or version. */
interface Output {
  line: CommandLine | undefined
  printed: string
}

/**
 * Declares the options and subcommands. Subcommands that the arguments do not name get only their help
 * text: declaring all would take longer than parsing.
 */
function createProgram(argv: readonly string[], output: Output): Command {
  const program = configured(new Command('devchain'), 'see devchain --help', output)
    .description('A local Ethereum-style chain for development.')
    .usage('[options] | devchain <command>')
    .enablePositionalOptions()
  const [named] = argv
  if (isSubcommand(named)) return program.addCommand(createSubcommand(subcommandOf(named), output))
  for (const key of OPTION_KEYS) program.addOption(createOption(key))
  program.optionsGroup('Help:').version(PROGRAM.version, '-V, --version', 'Print the version')
  addHelp(program).addHelpText('after', EPILOGUE)
  program.commandsGroup('Commands (see devchain COMMAND --help):')
  for (const { name, sentence } of SUBCOMMANDS) {
    program.addCommand(new Command(name).description(sentence))
  }
  return program
    .hook('preSubcommand', (_program, command) => {
      const usage = usageOf(subcommandOf(command.name() as SubcommandName))
      throw invalidParams(`write the command before its options: devchain ${usage}`)
    })
    .action(() => {
      const options = givenOptions(program, OPTION_KEYS)
      output.line = { name: undefined, words: [], flags: {}, options }
    })
}

/** One help format for all commands; mistakes throw. */
function configured(command: Command, help: string, output: Output): Command {
  const writeOut = (text: string): void => {
    output.printed += text
  }
  return command
    .configureHelp({
      helpWidth: HELP_WIDTH,
      subcommandTerm: (each) => usageOf(subcommandOf(each.name() as SubcommandName)),
      // the placeholder lists the choices
      optionDescription: ({ description }) => description,
    })
    .configureOutput({ writeOut, writeErr: () => undefined })
    .helpCommand(false)
    .allowExcessArguments(false)
    .exitOverride((error) => {
      // help or the version was printed
      if (error.exitCode === 0) throw error
      throw invalidParams(`${mistakeOf(command, error)} (${help})`)
    })
}

function createSubcommand(declared: Subcommand, output: Output): Command {
  const { name, sentence, startsChain = false } = declared
  const command = configured(new Command(name), `see devchain ${name} --help`, output)
    .description(sentence)
    .usage(usageOf(declared).slice(name.length + 1))
    .passThroughOptions(startsChain)
  for (const argument of declared.arguments) {
    const term = argument.kind === 'repeated' ? `${argument.name}...` : argument.name
    const isNeeded = argument.kind === 'required' || startsChain
    command.argument(isNeeded ? `<${term}>` : `[${term}]`, argument.sentence)
  }
  for (const flag of declared.flags) command.addOption(createFlag(flag))
  const keys = startsChain ? chainKeys(declared) : []
  for (const key of keys) command.addOption(createOption(key).hideHelp())
  addHelp(command).addHelpText('after', helpAfter(declared))
  const flags = declared.flags.map((flag) => flag.name.slice(2))
  return command.action(() => {
    const given = Object.entries(command.opts()).filter(([flag]) => flags.includes(flag))
    const options = givenOptions(command, keys)
    output.line = { name, words: command.args, flags: Object.fromEntries(given), options }
  })
}

function createFlag({ name, placeholder, repeatable, sentence }: SubcommandFlag): Option {
  const option = new Option(placeholder === undefined ? name : `${name} <${placeholder}>`, sentence)
  const words = placeholder?.split('|') ?? []
  if (words.length > 1) option.choices(words)
  const { parseArg } = option
  if (!repeatable || parseArg === undefined) return option
  return option.argParser((text: string, former: string | undefined) => {
    const values = text.split(',').map((value) => parseArg(value, undefined))
    return [...(former === undefined ? [] : [former]), ...values].join(',')
  })
}

function helpAfter({ exits, notes }: Subcommand): string {
  const codes = exits.map(([code, meaning]) => `  ${code.padEnd(8)}  ${meaning}`)
  return ['', 'Exit codes:', ...codes, ...(notes === undefined ? [] : ['', notes])].join('\n')
}

function addHelp(command: Command): Command {
  return command.helpOption('-h, --help', 'Print this help')
}

/** The chain options of a subcommand, except those that its own flags shadow. */
function chainKeys({ flags }: Subcommand): readonly OptionKey[] {
  return OPTION_KEYS.filter((key) => !flags.some(({ name }) => name === flagOf(key)))
}

function createOption(key: OptionKey): Option {
  const { type, sentence } = optionOf(key)
  const preset = defaultTextOf(key)
  const { placeholder, alone } = type
  // in brackets if optional
  const term = alone === undefined ? ` <${placeholder}>` : ` [${placeholder}]`
  const value = placeholder === undefined ? '' : term
  const isPlain = placeholder === undefined || preset === 'none'
  const shown = preset.length > 40 ? preset.replace(/ .* /, ' … ') : preset
  const option = new Option(`${flagOf(key)}${value}`, isPlain ? sentence : `${sentence} (${shown})`)
  // a flag `--no-…` is an option of its own, and does not negate another
  option.negate = false
  if (alone !== undefined) option.preset(alone)
  if (type.repeatable) {
    option.argParser((text: string, former: readonly string[] | undefined) => [
      ...(former ?? []),
      text,
    ])
  }
  return option.helpGroup(`${groupOf(key)}:`)
}

/** The options as words of a shell that say the same again, but for a mnemonic, which is secret. */
export function wordsOf(options: GivenOptions): string[] {
  return OPTION_KEYS.flatMap((key) => {
    const given = key === 'mnemonic' && options[key] !== undefined ? '…' : options[key]
    return [given].flat().flatMap((value) => {
      if (value === undefined) return []
      return value === true ? [flagOf(key)] : [flagOf(key), shellWord(String(value))]
    })
  })
}

function givenOptions(command: Command, keys: readonly OptionKey[]): GivenOptions {
  const values: Partial<Record<OptionKey, unknown>> = {}
  const byFlag = new Map(command.options.map((option) => [option.long, option]))
  for (const key of keys) {
    const option = byFlag.get(flagOf(key))
    if (option === undefined) continue
    const name = option.attributeName()
    if (command.getOptionValueSource(name) !== 'cli') continue
    values[key] = command.getOptionValue(name)
  }
  return values
}

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
  const startsChain = flags.includes('--port')
  const [ours, why] = startsChain ? [FOREIGN.get(flag), NEEDLESS.get(flag)] : []
  if (ours !== undefined) return `unknown option ${flag}; did you mean ${ours}?`
  if (why !== undefined) return `unknown option ${flag}; omit it: ${why}`
  return `unknown option ${flag}${hintOf(flag, flags)}`
}

/** Flags of anvil, ganache, hardhat and geth, by what they are here. */
const FOREIGN = byFlag({
  '--port': '-p --server.port --http.port --ws.port',
  '--host': '--hostname --server.host --http.addr --ws.addr',
  '--allow-host': '--http.vhosts',
  '--allow-origin': '--no-cors --http.corsdomain --ws.origins',
  '--chain-id': '--chain.chainId',
  '--network-id': '--networkid --chain.networkId',
  '--hardfork': '--chain.hardfork',
  '--timestamp': '--chain.time',
  '--accounts': '-a --wallet.totalAccounts',
  '--balance': '--wallet.defaultBalance',
  '--mnemonic': '-m --wallet.mnemonic',
  '--mnemonic "myth like bonus scare over problem client lizard pioneer submit female collect"':
    '-d --wallet.deterministic',
  '--derivation-path': '--wallet.hdPath',
  '--ready-file': '--config-out --wallet.accountKeysPath',
  '--auto-impersonate': '--wallet.unlockedAccounts',
  '--block-time': '-b --miner.blockTime --dev.period',
  '--gas-limit': '--miner.blockGasLimit --dev.gaslimit',
  '--tx-gas-cap 16777216': '--enable-tx-gas-limit',
  '--default-gas': '--miner.defaultTransactionGasLimit',
  '--gas-price': '--miner.defaultGasPrice',
  '--base-fee': '--block-base-fee-per-gas',
  '--code-size-limit off': '--disable-code-size-limit --chain.allowUnlimitedContractSize',
  '--no-create2': '--disable-default-create2-deployer',
  '--on-revert throw': '--chain.vmErrorsOnRPCResponse',
  '--quiet': '-q --silent --logging.quiet',
  '--verbose': '--logging.verbose',
  '--log json': '--json --log.format',
  '--log-file': '--logging.file --log.file',
  '--trace all': '--print-traces --steps-tracing',
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
  '--state DIR': '--database.dbPath --db --datadir',
})

/** Flags of other nodes without a counterpart here, and why. */
const NEEDLESS = byFlag({
  'devchain learns the rate limits of a forked network and logs waits':
    '--compute-units-per-second --no-rate-limit --no-rpc-rate-limit --fork.requestsPerSecond',
  'devchain detects the network by its chain id and blocks':
    '--network -n --optimism --celo --chain-type',
  'devchain serves HTTP and WebSocket on one port, and all namespaces':
    '--dev --http --http.api --ws --ws.api --ipc',
  'devchain keeps all states': '--prune-history --max-persisted-states',
  'the highest tip goes first, then the oldest transaction': '--order',
  'devchain has its own format: see --state DIR': '--database.db',
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
  if (mnemonic !== undefined && !/\s/.test(mnemonic)) return '--mnemonic needs its phrase in quotes'
  const surplus = command.args[command.registeredArguments.length] ?? ''
  if (command.parent !== null) {
    return `too many arguments, from ${printValue(surplus)} on: ${usage(command)}`
  }
  // as pnpm run passes it on
  if (/^-/.test(surplus)) return `unknown command ${printValue(surplus)}: omit the -- before it`
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
