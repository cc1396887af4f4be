// The subcommands, each once: parsing, help, completions and the table of README.md derive from here.

/** Commands that load chain code. */
export const HEAVY = ['exec', 'gas-diff', 'export', 'fork-merge', 'state', 'completions'] as const

export type HeavyName = (typeof HEAVY)[number]

export type SubcommandName =
  | HeavyName
  | 'wait'
  | 'rpc'
  | 'snapshot'
  | 'revert'
  | 'snapshots'
  | 'reset'
  | 'save'
  | 'mine'
  | 'time'
  | 'accounts'
  | 'chains'
  | 'chain'
  | 'peers'
  | 'partition'
  | 'trace'
  | 'gas-report'
  | 'coverage'
  | 'fork-cache'

export const EXIT = { ok: 0, refused: 1, usage: 2, noChain: 3, noStart: 125 } as const

export interface SubcommandFlag {
  readonly name: `--${string}`
  /** Undefined for a flag without a value. Words separated by bars are the only choices. */
  readonly placeholder?: string | undefined
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
  readonly values?: readonly string[] | 'files' | 'methods' | 'snapshots' | 'commands' | undefined
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

function flag(
  name: SubcommandFlag['name'],
  sentence: string,
  placeholder?: string,
): SubcommandFlag {
  return { name, sentence, placeholder }
}

const URL_FLAG = flag('--url', 'URL or port of the chain (DEVCHAIN_URL, else port 8545)', 'URL')

const CHAIN_FLAG = flag('--chain', 'Name or number of the chain (the default chain)', 'NAME')

const CHAINS_FLAG = flag(
  '--chains',
  'Give each worker of a test runner its own chain in DEVCHAIN_URL and ETH_RPC_URL',
)

const JSON_FLAG = flag('--json', 'Print JSON, for scripts; errors too')

const REMOTE: readonly SubcommandFlag[] = [URL_FLAG, CHAIN_FLAG, JSON_FLAG]

type Exits = Subcommand['exits']

const WRONG: Exits[number] = ['2', 'the arguments are wrong']

/** @param refused what it means that the code is 1 */
function exits(refused: string, done = 'done'): Exits {
  return [['0', done], ['1', refused], WRONG]
}

/** @param also what else the code 1 means */
function remoteExits(also = ''): Exits {
  return [...exits(`the chain returned an error${also}`), ['3', 'no chain responds at the URL']]
}

/** Exit codes of commands that write a file. */
const EXITS_WRITING = remoteExits(', or the file cannot be written')

/** Of commands that run another beside a chain. */
const EXITS_BESIDE: Exits = [
  ['125', 'the chain could not be started'],
  ['126, 127', 'the command could not be run, or was not found'],
]

function remote(
  words: Pick<Subcommand, 'name' | 'sentence' | 'notes'> &
    Partial<Pick<Subcommand, 'arguments' | 'exits'>>,
  ...flags: readonly SubcommandFlag[]
): Subcommand {
  return { arguments: [], exits: remoteExits(), ...words, flags: [...REMOTE, ...flags] }
}

/** A remote command that is about all chains. */
const ofProcess: typeof remote = (...args) => {
  const command = remote(...args)
  return { ...command, flags: command.flags.filter((each) => each !== CHAIN_FLAG) }
}

const argumentOf =
  (kind: SubcommandArgument['kind']) =>
  (name: string, sentence: string, values?: SubcommandArgument['values']): SubcommandArgument => ({
    name,
    sentence,
    kind,
    values,
  })

const required = argumentOf('required')
const optional = argumentOf('optional')
const repeated = argumentOf('repeated')

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof SHELLS)[number]

const exec: Subcommand = {
  name: 'exec',
  arguments: [
    repeated(
      'command',
      'Command with its arguments; DEVCHAIN_URL and ETH_RPC_URL name the chain',
      'commands',
    ),
  ],
  sentence: 'Run a command with its own chain, and return its exit code',
  flags: [
    {
      ...flag(
        '--log',
        'When to print the log on standard error (failure), and its format (pretty)',
        'always|failure|never|pretty|json',
      ),
      repeatable: true,
    },
    CHAINS_FLAG,
  ],
  exits: [
    ['any', 'exit code of the command; after a signal, 128 plus its number'],
    WRONG,
    ...EXITS_BESIDE,
  ],
  notes: `Takes all options of a chain too (devchain --help). Uses a free port unless --port is given.
Forwards signals to the command. Keeps the newest 4 MB of a long log.

  devchain exec -- npm test
  devchain exec --chains --setup "node deploy.mjs" -- npx vitest
  devchain exec --accounts 3 --log always,json -- forge test`,
  startsChain: true,
}

const gasDiff: Subcommand = {
  name: 'gas-diff',
  arguments: [repeated('command', 'Command with its arguments, such as npm test', 'commands')],
  sentence: 'Run a command under two hardforks, and print the gas of each function in both',
  flags: [
    flag('--from', 'Hardfork of the first run (bpo2)', 'HARDFORK'),
    flag('--to', 'Hardfork of the second run (amsterdam)', 'HARDFORK'),
    flag('--threshold', 'Fail if an average rises by more, or if other tests fail', 'PERCENT'),
    CHAINS_FLAG,
    JSON_FLAG,
  ],
  exits: [
    ['0', 'done, also if tests changed'],
    ['1', 'with --threshold: an average rose by more, a function fails now, other tests failed,'],
    ['', 'or nothing was measured'],
    WRONG,
    ...EXITS_BESIDE,
  ],
  notes: `Takes all options of a chain too (devchain --help), but for those that keep it. The command's output
goes to standard error, the comparison to standard output. Failed tests are named if the output is
TAP, or of node:test, Mocha, Hardhat, Vitest or Jest.

  devchain gas-diff -- npm test
  devchain gas-diff --threshold 25 --json -- npx hardhat test --network devchain > gas.json
  devchain gas-diff --from prague --to osaka -- forge script Deploy.s.sol --broadcast`,
  startsChain: true,
}

export const SUBCOMMANDS: readonly Subcommand[] = [
  exec,
  gasDiff,
  remote(
    { name: 'wait', sentence: 'Wait until the chain responds' },
    flag('--timeout', 'Timeout, such as 5, 500ms or 2m (60)', 'SECONDS'),
  ),
  remote({
    name: 'rpc',
    arguments: [
      required('method', 'Method such as eth_blockNumber', 'methods'),
      repeated('params', 'JSON values or plain words; - reads standard input'),
    ],
    sentence: 'Call a method and print its result',
    notes: `  devchain rpc eth_call '{"to":"0x5FbDB2315678afecb367f032d93F642f64180aa3","data":"0x18160ddd"}'
  devchain rpc eth_sendRawTransaction - < signed.txt
  echo '["0x1", false]' | devchain rpc eth_getBlockByNumber -      a list is all parameters`,
  }),
  remote({
    name: 'snapshot',
    arguments: [
      optional('name', 'Name that begins with a letter; replaces a snapshot of that name'),
    ],
    sentence: 'Take a snapshot; named ones are kept until dropped',
    notes: `A named snapshot is kept until you drop it (devchain snapshots --drop) or reset the chain. Reverting
to an older snapshot drops unnamed ones, as with evm_snapshot.`,
  }),
  remote({
    name: 'revert',
    arguments: [required('name-or-id', 'Name or id, such as deployed or 0x1', 'snapshots')],
    sentence: 'Revert to a snapshot, any number of times',
  }),
  remote(
    { name: 'snapshots', sentence: 'List the snapshots, oldest first' },
    flag('--drop', 'Drop a snapshot by its name or id', 'SNAPSHOT'),
    flag('--names', 'Print only names (or ids), one per line'),
  ),
  remote(
    {
      name: 'reset',
      arguments: [
        optional(
          'block',
          'With --fork: number, hash, tag, or -N for N before the newest (the newest final block)',
        ),
      ],
      sentence: 'Reset to genesis or to the forked block; drops snapshots and the pool',
    },
    flag('--fork', 'Fork the same network again, at another block'),
  ),
  remote({
    name: 'save',
    arguments: [required('file', 'File to write, for --from', 'files')],
    sentence: 'Write the chain with its snapshots to one file, a pack',
    exits: EXITS_WRITING,
    notes: `  devchain save deployed.pack
  devchain exec --from deployed.pack -- npm test`,
  }),
  remote({
    name: 'mine',
    arguments: [optional('blocks', 'Number of blocks (1)')],
    sentence: 'Mine blocks; one by default',
  }),
  remote({
    name: 'time',
    arguments: [
      optional('moment', '+90 (seconds), +1h30m, +1d, +2w; a date in UTC; or seconds since 1970'),
    ],
    sentence: 'Print or change the time of the next block',
  }),
  remote({ name: 'accounts', sentence: 'List the accounts and their balances' }),
  ofProcess({ name: 'chains', sentence: 'List the chains of the process' }),
  ofProcess(
    {
      name: 'chain',
      arguments: [
        required('new|drop', 'new makes a chain at the path /NAME, drop ends it', ['new', 'drop']),
        required('name', 'Name that begins with a letter, or a number'),
      ],
      sentence: 'Make or drop a chain beside the default one',
      notes: `  devchain chain new alice --from deployed
  devchain chain new before --from / --block 7
  devchain chain new l2 --options '{"chainId": 10, "blockTime": 2}'
  devchain mine --chain alice`,
    },
    flag(
      '--from',
      'Chain or named snapshot to begin with (what the default chain began with)',
      'NAME',
    ),
    flag(
      '--block',
      'Block of --from after which it begins: a number or a hash (the newest)',
      'BLOCK',
    ),
    flag(
      '--options',
      'Options of its own, named as in createDevchain; it then has its own genesis',
      'JSON',
    ),
  ),
  remote({ name: 'peers', sentence: 'List the linked chains and their newest blocks' }),
  remote(
    {
      name: 'partition',
      arguments: [
        optional('on|off', 'on disconnects, off reconnects; without it: print the state', [
          'on',
          'off',
        ]),
      ],
      sentence: 'Show which peers are disconnected; disconnect (on) or reconnect (off) them',
    },
    flag('--peer', 'Only this peer, by its URL, name or id', 'PEER'),
  ),
  remote({
    name: 'trace',
    arguments: [required('hash', 'Hash of a mined transaction')],
    sentence: 'Print the call trace of a transaction, with names and storage changes',
  }),
  remote(
    {
      name: 'gas-report',
      sentence: 'Print the gas used by the functions of the project',
      exits: remoteExits(', or --compare found a higher average, failures or no report'),
      notes: `  devchain gas-report --json > before.json
  devchain gas-report --compare before.json --threshold 5     fails if an average rose by over 5 %`,
    },
    flag('--compare', 'Print changes since an earlier report of --json', 'FILE'),
    flag('--threshold', 'With --compare: fail if an average rises by more (0)', 'PERCENT'),
  ),
  remote({
    name: 'coverage',
    arguments: [optional('file', 'File to write in lcov format', 'files')],
    sentence: 'Print the coverage of the sources (needs --coverage)',
    exits: EXITS_WRITING,
  }),
  {
    name: 'export',
    arguments: [required('file', 'File for the RLP of all blocks, the genesis first', 'files')],
    sentence: 'Write the blocks of the chain to a file for --import',
    flags: [URL_FLAG, CHAIN_FLAG],
    exits: EXITS_WRITING,
  },
  {
    name: 'fork-cache',
    arguments: [],
    sentence: 'Show the folder and size of the fork cache',
    flags: [
      flag('--size', 'Print only the number of bytes'),
      flag('--clear', 'Delete the cache'),
      JSON_FLAG,
    ],
    exits: exits('the cache could not be deleted'),
  },
  {
    name: 'fork-merge',
    arguments: [
      required('into', 'Recording to extend or create', 'files'),
      repeated('from', 'Recordings of the same fork; without any, sorts the first', 'files'),
    ],
    sentence: 'Merge recordings of a fork (--fork-record) into one',
    flags: [],
    exits: exits('the recordings are of different forks, or a file cannot be read or written'),
    notes: '  devchain fork-merge test/fork.jsonl branch/fork.jsonl',
  },
  {
    name: 'state',
    arguments: [
      required(
        'ls|check|compact|export',
        'ls lists the chains; check reads all of them; compact drops what reverts left behind; export writes a pack',
        ['ls', 'check', 'compact', 'export'],
      ),
      required('folder', 'Folder of --state, which no process has', 'files'),
      optional('file', 'With export: the file to write', 'files'),
    ],
    sentence: 'List, check, compact or export the chains on disk (--state)',
    flags: [CHAIN_FLAG, flag('--blocks', 'With export: write the blocks as RLP, for --import')],
    notes: `  devchain state export ./chain deployed.pack
  devchain state export ./chain chain.rlp --blocks --chain alice`,
    exits: exits(
      'the folder is in use or has no chain, or a chain is damaged',
      'done; the chains are whole',
    ),
  },
  {
    name: 'completions',
    arguments: [required('shell', SHELLS.join(', '), SHELLS)],
    sentence: 'Print completions for a shell',
    flags: [],
    exits: [['0', 'done'], WRONG],
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
