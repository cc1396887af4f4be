// The subcommands, each once: parsing, help, completions and the table of README.md derive from here.

export type SubcommandName =
  | 'exec'
  | 'wait'
  | 'rpc'
  | 'snapshot'
  | 'revert'
  | 'snapshots'
  | 'reset'
  | 'mine'
  | 'time'
  | 'accounts'
  | 'peers'
  | 'partition'
  | 'trace'
  | 'gas-report'
  | 'coverage'
  | 'export'
  | 'fork-cache'
  | 'fork-merge'
  | 'completions'

export const EXIT = { ok: 0, refused: 1, usage: 2, noChain: 3, noStart: 125 } as const

export interface SubcommandFlag {
  readonly name: `--${string}`
  /** Undefined for a flag without a value. Words separated by bars are the only choices. */
  readonly placeholder?: string
  /** Repeated flags and comma lists accumulate. */
  readonly repeatable?: true
  /** One sentence, without a full stop. */
  readonly sentence: string
}

/** Only the last may be `repeated`. */
export interface SubcommandArgument {
  readonly name: string
  readonly sentence: string
  readonly kind: 'required' | 'optional' | 'repeated'
  /** Completions: words, or what the shell or this program can list; anything when left out. */
  readonly values?: readonly string[] | 'files' | 'methods' | 'snapshots' | 'commands'
}

export interface Subcommand {
  readonly name: SubcommandName
  readonly arguments: readonly SubcommandArgument[]
  /** One sentence, without a full stop. */
  readonly sentence: string
  readonly flags: readonly SubcommandFlag[]
  readonly notes?: string
  readonly exits: readonly (readonly [code: string, meaning: string])[]
  /** True: it also takes chain options and another program's command line. */
  readonly startsChain?: boolean
}

const URL_FLAG: SubcommandFlag = {
  name: '--url',
  placeholder: 'URL',
  sentence: 'Endpoint of the chain, or its port (DEVCHAIN_URL, else port 8545)',
}

const REMOTE: readonly SubcommandFlag[] = [
  URL_FLAG,
  { name: '--json', sentence: 'Print JSON, for scripts; errors too' },
]

const EXITS: Subcommand['exits'] = [
  ['0', 'done'],
  ['1', 'the chain answered with an error'],
  ['2', 'the arguments are wrong'],
  ['3', 'no chain answers there'],
]

function remote(
  words: Pick<Subcommand, 'name' | 'sentence' | 'notes'> & Partial<Pick<Subcommand, 'arguments'>>,
  ...flags: readonly SubcommandFlag[]
): Subcommand {
  return { arguments: [], ...words, flags: [...REMOTE, ...flags], exits: EXITS }
}

type Kind = SubcommandArgument['kind']
type ArgumentOf = (
  name: string,
  sentence: string,
  values?: SubcommandArgument['values'],
) => SubcommandArgument

const argumentOf =
  (kind: Kind): ArgumentOf =>
  (name, sentence, values) => ({ name, sentence, kind, ...(values && { values }) })

const required = argumentOf('required')
const optional = argumentOf('optional')
const repeated = argumentOf('repeated')

export type Shell = 'bash' | 'zsh' | 'fish'

export const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish']

const exec: Subcommand = {
  name: 'exec',
  arguments: [
    repeated(
      'command',
      'With its arguments; it finds the chain in DEVCHAIN_URL and ETH_RPC_URL',
      'commands',
    ),
  ],
  sentence: 'Run a command beside a chain of its own, and end as it ends',
  flags: [
    {
      name: '--log',
      placeholder: 'always|failure|never|pretty|json',
      repeatable: true,
      sentence: 'When to print the chain’s log on standard error (failure), and its form (pretty)',
    },
  ],
  exits: [
    ['any', 'that of the command; of a signal, 128 and its number'],
    ['2', 'the arguments are wrong'],
    ['125', 'the chain could not be started'],
    ['126, 127', 'the command could not be run, or not be found'],
  ],
  notes: `All options of a chain may be given besides (devchain --help); the port is a free one unless --port
says otherwise. Signals are handed on to the command. Of a long log the newest 4 MB are kept.

  devchain exec -- npm test
  devchain exec --accounts 3 --log always,json -- forge test`,
  startsChain: true,
}

export const SUBCOMMANDS: readonly Subcommand[] = [
  exec,
  remote(
    {
      name: 'wait',
      sentence: 'Wait until the chain answers',
    },
    {
      name: '--timeout',
      placeholder: 'SECONDS',
      sentence: 'Give up after so long, such as 5, 500ms or 2m (60)',
    },
  ),
  remote({
    name: 'rpc',
    arguments: [
      required('method', 'Such as eth_blockNumber', 'methods'),
      repeated(
        'params',
        'Each JSON, or a word, which is text; - stands for what standard input has',
      ),
    ],
    sentence: 'Call a method and print its result',
    notes: `  devchain rpc eth_call '{"to":"0x5FbDB2315678afecb367f032d93F642f64180aa3","data":"0x18160ddd"}' latest
  devchain rpc eth_sendRawTransaction - < signed.txt
  echo '["0x1", false]' | devchain rpc eth_getBlockByNumber -      a list is all parameters`,
  }),
  remote({
    name: 'snapshot',
    arguments: [optional('name', 'Begins with a letter; may be taken anew')],
    sentence: 'Remember the chain as it is; under a name for good',
    notes: `A snapshot with a name is kept until it is dropped (devchain snapshots --drop) or the chain reset, whatever
is reverted to. One without is dropped when an older one is reverted to, as those of evm_snapshot.`,
  }),
  remote({
    name: 'revert',
    arguments: [required('name-or-id', 'Such as deployed, or 0x1', 'snapshots')],
    sentence: 'Go back to a snapshot, as often as you like',
  }),
  remote(
    { name: 'snapshots', sentence: 'List the snapshots, oldest first' },
    {
      name: '--drop',
      placeholder: 'SNAPSHOT',
      sentence: 'Forget one instead, by its name or id',
    },
    { name: '--names', sentence: 'Print names alone, or ids, one a line: for completions' },
  ),
  remote(
    {
      name: 'reset',
      arguments: [
        optional(
          'block',
          'With --fork: its number, hash or tag, or -N for N before the newest (the newest that stays)',
        ),
      ],
      sentence:
        'Go back to genesis, or to the block that was forked; snapshots and pool are forgotten',
    },
    { name: '--fork', sentence: 'Fork the same network anew, at another of its blocks' },
  ),
  remote({
    name: 'mine',
    arguments: [optional('blocks', 'How many (1)')],
    sentence: 'Mine blocks, one unless told',
  }),
  remote({
    name: 'time',
    arguments: [
      optional('moment', '+90 (seconds), +1h30m, +1d, +2w; a date, in UTC; or seconds since 1970'),
    ],
    sentence: 'Tell the time of the next block, or move it: +1d, or a date',
  }),
  remote({
    name: 'accounts',
    sentence: 'List the accounts with balances',
  }),
  remote({
    name: 'peers',
    sentence: 'List the linked chains with their newest blocks',
  }),
  remote(
    {
      name: 'partition',
      arguments: [
        optional('on|off', 'on cuts off, off joins again; without either: tell who is cut off', [
          'on',
          'off',
        ]),
      ],
      sentence: 'Tell who of the peers is cut off, cut all off (on), or join them again (off)',
    },
    {
      name: '--peer',
      placeholder: 'PEER',
      sentence: 'From one peer alone, by its URL, name or id',
    },
  ),
  remote({
    name: 'trace',
    arguments: [required('hash', 'Of a mined transaction')],
    sentence: 'Print the calls of a transaction as a tree, with names and changes of storage',
  }),
  remote(
    {
      name: 'gas-report',
      sentence: 'Print what the functions of the project used',
      notes: `  devchain gas-report --json > before.json
  devchain gas-report --compare before.json --threshold 5     ends with 1 where an average rose by over 5 %`,
    },
    {
      name: '--compare',
      placeholder: 'FILE',
      sentence: 'Print what changed since an earlier report with --json',
    },
    {
      name: '--threshold',
      placeholder: 'PERCENT',
      sentence: 'How much an average may rise (0)',
    },
  ),
  remote({
    name: 'coverage',
    arguments: [optional('file', 'Write it there in lcov’s form', 'files')],
    sentence: 'Print what calls and transactions have reached of the sources (--coverage)',
  }),
  {
    name: 'export',
    arguments: [required('file', 'RLP of the blocks, the genesis first', 'files')],
    sentence: 'Write the blocks of the chain to a file, as --import reads them',
    flags: [URL_FLAG],
    exits: EXITS,
  },
  {
    name: 'fork-cache',
    arguments: [],
    sentence: 'Tell where forks keep what they fetched, and how much that is',
    flags: [
      { name: '--size', sentence: 'Print the bytes alone' },
      { name: '--clear', sentence: 'Delete it all' },
      { name: '--json', sentence: 'Print JSON, for scripts; errors too' },
    ],
    exits: [
      ['0', 'done'],
      ['1', 'it could not be deleted'],
      ['2', 'the arguments are wrong'],
    ],
  },
  {
    name: 'fork-merge',
    arguments: [
      required('into', 'Recording that gets the items; created if it is not there', 'files'),
      repeated(
        'from',
        'Recordings of the same fork; without any, the lines of the first are sorted',
        'files',
      ),
    ],
    sentence: 'Merge recordings of a fork (--fork-record) into one',
    flags: [],
    exits: [
      ['0', 'done'],
      ['1', 'the recordings do not go together, or a file cannot be read or written'],
      ['2', 'the arguments are wrong'],
    ],
    notes: '  devchain fork-merge test/fork.jsonl branch/fork.jsonl',
  },
  {
    name: 'completions',
    arguments: [required('shell', SHELLS.join(', '), SHELLS)],
    sentence: 'Print completions for a shell',
    flags: [],
    exits: [
      ['0', 'done'],
      ['2', 'the arguments are wrong'],
    ],
    notes: `  bash    eval "$(devchain completions bash)"      in ~/.bashrc
  zsh     eval "$(devchain completions zsh)"       in ~/.zshrc, after compinit
  fish    devchain completions fish > ~/.config/fish/completions/devchain.fish`,
  },
]

export function isSubcommand(word: string | undefined): word is SubcommandName {
  return SUBCOMMANDS.some(({ name }) => name === word)
}

export function subcommandOf(name: SubcommandName): Subcommand {
  return SUBCOMMANDS.find((each) => each.name === name)!
}

/** `mine [blocks]` */
export function usageOf({ name, arguments: declared, startsChain }: Subcommand): string {
  if (startsChain === true) return `${name} [options] -- <${declared[0]?.name}…>`
  const words = declared.map(({ name: argument, kind }) => {
    if (kind === 'required') return `<${argument}>`
    return kind === 'optional' ? `[${argument}]` : `[${argument}…]`
  })
  return [name, ...words].join(' ')
}
