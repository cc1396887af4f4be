// The words that may stand after `devchain`, each once: help, completions and the README's table derive from this list.

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
  | 'export'
  | 'completions'

/** A flag of a subcommand. */
export interface SubcommandFlag {
  /** As help shows it: `--url <URL>`. */
  readonly flags: string
  readonly sentence: string
}

/** A subcommand as help and completions show it. */
export interface Subcommand {
  readonly name: SubcommandName
  /** As commander writes arguments: `<method> [params...]`; empty for none. */
  readonly arguments: string
  /** One sentence, without a full stop. */
  readonly sentence: string
  readonly flags: readonly SubcommandFlag[]
  /** True: it also takes the options of a chain that is started. */
  readonly startsChain?: boolean
}

const URL_FLAG: SubcommandFlag = {
  flags: '--url <URL>',
  sentence: 'HTTP endpoint of the chain (DEVCHAIN_URL, or the default port)',
}

const REMOTE: readonly SubcommandFlag[] = [
  URL_FLAG,
  { flags: '--json', sentence: 'Print JSON, for scripts' },
]

const EXEC_LOG: SubcommandFlag = {
  flags: '--log <always|failure|never>',
  sentence: 'When to print the chain’s log (failure)',
}

export type Shell = 'bash' | 'zsh' | 'fish'

/** The shells that there are completions for. */
export const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish']

/** All subcommands, in the order of help. */
export const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: 'exec',
    arguments: '-- <command...>',
    sentence: 'Run a command beside a chain of its own, and end as it ends',
    flags: [EXEC_LOG],
    startsChain: true,
  },
  {
    name: 'wait',
    arguments: '',
    sentence: 'Wait until the chain answers',
    flags: [...REMOTE, { flags: '--timeout <SECONDS>', sentence: 'Give up after so long (60)' }],
  },
  {
    name: 'rpc',
    arguments: '<method> [params...]',
    sentence: 'Call a method; a parameter is JSON or a word, - is standard input',
    flags: REMOTE,
  },
  {
    name: 'snapshot',
    arguments: '[name]',
    sentence: 'Remember the chain as it is; under a name for good',
    flags: REMOTE,
  },
  {
    name: 'revert',
    arguments: '<name-or-id>',
    sentence: 'Go back to a snapshot',
    flags: REMOTE,
  },
  { name: 'snapshots', arguments: '', sentence: 'List the snapshots', flags: REMOTE },
  { name: 'reset', arguments: '', sentence: 'Go back to genesis', flags: REMOTE },
  { name: 'mine', arguments: '[blocks]', sentence: 'Mine blocks, one unless told', flags: REMOTE },
  {
    name: 'time',
    arguments: '[moment]',
    sentence: 'Tell the time of the next block, or move it: +1d, or a date',
    flags: REMOTE,
  },
  { name: 'accounts', arguments: '', sentence: 'List the accounts with balances', flags: REMOTE },
  {
    name: 'export',
    arguments: '<file>',
    sentence: 'Write the blocks of the chain to a file, as --import reads them',
    flags: [URL_FLAG],
  },
  {
    name: 'completions',
    arguments: '<bash|zsh|fish>',
    sentence: 'Print completions for a shell',
    flags: [],
  },
]

/** True for the name of a subcommand. */
export function isSubcommand(word: string | undefined): word is SubcommandName {
  return SUBCOMMANDS.some(({ name }) => name === word)
}
