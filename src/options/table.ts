// Every option once: flag, type, default, sentence. The command line, the environment, the config file, the options of
// createDevchain and of a chain, their types, `--help` and the table for users derive from this list: see derived.ts.
import { type Address, ZERO_ADDRESS } from '../core/hex.ts'
import { DEFAULT_HARDFORK, type Hardfork } from '../protocol/forks.ts'
import { ForkTable } from './fork.ts'
import type { FromGenesis, Option, Optional } from './option.ts'
import { PeerTable } from './peers.ts'
import {
  type Alias,
  address,
  aliases,
  blocksFile,
  byteSize,
  type ClockSource,
  chainIdentity,
  choice,
  choiceOr,
  clock,
  codeSize,
  count,
  duration,
  etherAmount,
  file,
  flag,
  gas,
  gasFee,
  gasOrEstimate,
  genesisFile,
  hardfork,
  hosts,
  integer,
  methodPatterns,
  moment,
  names,
  origins,
  orRemote,
  paths,
  percent,
  phrase,
  predeploys,
  text,
} from './values.ts'

/** What makes a chain. A class, as each of its members states its type; those of settings come from there. */
export class ChainTable {
  readonly chainId: FromGenesis<bigint | 'remote'> = {
    type: orRemote(chainIdentity),
    group: 'Chain',
    sentence: "Chain id that transactions are signed for; remote: the forked network's",
    default: 33n,
    fromGenesis: true,
  }
  readonly networkId: Optional<bigint> = {
    type: chainIdentity,
    group: 'Chain',
    sentence: 'Network id that net_version answers',
    unset: 'the chain id',
  }
  readonly hardfork: FromGenesis<Hardfork> = {
    type: hardfork,
    group: 'Chain',
    sentence: 'Rules of the chain, from frontier to the newest',
    default: DEFAULT_HARDFORK,
    fromGenesis: true,
  }
  /** Path of the file, or (in-process only) its content. */
  readonly genesis: Optional<string | object> = {
    type: genesisFile,
    group: 'Chain',
    sentence: 'Genesis JSON with config, alloc, timestamp, gasLimit, …',
    unset: 'none',
  }
  /** Path of the file, or (in-process only) its content. */
  readonly import: Optional<string | Uint8Array> = {
    type: blocksFile,
    group: 'Chain',
    sentence: 'Begin with the RLP blocks of a file, each validated in full',
    unset: 'none',
  }
  /** Seconds since 1970. */
  readonly timestamp: Optional<bigint> = {
    type: moment,
    group: 'Chain',
    sentence: 'Time of the genesis, or at which a fork starts: seconds since 1970, or a date',
    unset: 'now',
  }
  readonly chainName: Option<string> = {
    type: text('NAME', 'one line of up to 64 characters', /^[^\r\n]{1,64}$/),
    group: 'Chain',
    sentence: 'Name in the prefix that eth_sign puts before a message',
    default: 'Ethereum',
  }
  readonly noCreate2: Option<boolean> = {
    type: flag,
    group: 'Chain',
    sentence: 'Leave out the deterministic create2 deployer',
    default: false,
  }
  readonly rip7212: Option<boolean> = {
    type: flag,
    group: 'Chain',
    sentence: 'Add the precompile P256VERIFY at 0x100 to hardforks before osaka',
    default: false,
  }
  readonly predeploy: Option<readonly string[]> = {
    type: predeploys,
    group: 'Chain',
    sentence: 'Put a contract (multicall3) or the accounts of a file there; repeatable',
    default: [],
  }
  readonly coinbase: FromGenesis<Address> = {
    type: address,
    group: 'Chain',
    sentence: 'Address that gets the fees of blocks',
    default: ZERO_ADDRESS,
    fromGenesis: true,
  }
  /** Bytes. */
  readonly codeSizeLimit: Optional<number> = {
    type: codeSize,
    group: 'Chain',
    sentence: 'Largest size of deployed code; off for none',
    unset: "the hardfork's",
  }
  readonly accounts: Option<number> = {
    type: count('NUMBER', 0, 10_000, 'a whole number from 0 to 10000'),
    group: 'Accounts',
    sentence: 'Number of unlocked, funded accounts',
    default: 10,
  }
  /** Wei. */
  readonly balance: Option<bigint> = {
    type: etherAmount,
    group: 'Accounts',
    sentence: 'Balance of each account, in ether',
    default: 10_000n * 10n ** 18n,
  }
  readonly mnemonic: Option<string> = {
    type: phrase,
    group: 'Accounts',
    sentence: 'Phrase that the accounts are derived from',
    default: 'test test test test test test test test test test test junk',
  }
  readonly derivationPath: Option<string> = {
    type: text(
      'PATH',
      "a derivation path such as m/44'/60'/0'/0, to which /0, /1, … are added",
      /^m(\/\d{1,10}'?)*$/,
    ),
    group: 'Accounts',
    sentence: 'Path of the accounts; /0, /1, … are added to it',
    default: "m/44'/60'/0'/0",
  }
  readonly autoImpersonate: Option<boolean> = {
    type: flag,
    group: 'Accounts',
    sentence: 'Send for whatever account, without its key',
    default: false,
  }
  readonly gasLimit: FromGenesis<bigint> = {
    type: gas,
    group: 'Transactions',
    sentence: 'Gas limit of a block',
    default: 30_000_000n,
    fromGenesis: true,
  }
  /** Wei per gas. */
  readonly gasPrice: Option<bigint> = {
    type: gasFee,
    group: 'Transactions',
    sentence: 'Gas price of eth_sendTransaction when it names none',
    default: 0n,
  }
  /** Wei per gas. */
  readonly baseFee: Optional<bigint | 'remote'> = {
    type: orRemote(gasFee),
    group: 'Transactions',
    sentence:
      "Start the EIP-1559 fee market at this base fee; remote: go on from the forked network's",
    unset: 'pinned at 0',
    fromGenesis: true,
  }
  /** Wei per gas. */
  readonly tip: Option<bigint> = {
    type: gasFee,
    group: 'Transactions',
    sentence: 'Tip per gas of eth_sendTransaction when it names none',
    default: 0n,
  }
  readonly defaultGas: Option<bigint | 'estimate'> = {
    type: gasOrEstimate,
    group: 'Transactions',
    sentence: 'Gas of eth_sendTransaction when it names none',
    default: 90_000n,
  }
  readonly txGasCap: Optional<bigint> = {
    type: gas,
    group: 'Transactions',
    sentence: 'Highest gas limit of one transaction (EIP-7825)',
    unset: 'none',
  }
  readonly onRevert: Option<'hash' | 'throw'> = {
    type: choice('hash', 'throw'),
    group: 'Transactions',
    sentence: 'What a send answers when its transaction reverts',
    default: 'hash',
  }
  readonly compat: Optional<'geth' | 'anvil' | 'hardhat' | 'hardhat2' | 'ganache'> = {
    type: choice('geth', 'anvil', 'hardhat', 'hardhat2', 'ganache'),
    group: 'Transactions',
    sentence: 'Take the defaults of that node, and answer as it does',
    unset: 'none',
  }
  readonly evm: Option<'reference' | 'interpreter' | 'auto'> = {
    type: choice('reference', 'interpreter', 'auto'),
    group: 'Transactions',
    sentence: 'Engine that runs contracts; auto compiles hot code',
    default: 'auto',
  }
  /** Bytes. */
  readonly memoryLimit: Option<number> = {
    type: byteSize,
    group: 'Transactions',
    sentence: 'Memory that one transaction or call may use',
    default: 128_000_000,
  }
  /** Milliseconds between blocks. */
  readonly blockTime: Optional<number> = {
    type: duration,
    group: 'Mining and time',
    sentence: 'Mine on an interval instead of a block a transaction',
    unset: 'instant',
  }
  readonly noMining: Option<boolean> = {
    type: flag,
    group: 'Mining and time',
    sentence: 'Mine by hand only (evm_mine)',
    default: false,
  }
  readonly difficulty: FromGenesis<bigint> = {
    type: integer('NUMBER', 0n, (1n << 256n) - 1n, 'a whole number'),
    group: 'Mining and time',
    sentence: 'Difficulty of a block',
    default: 1n,
    fromGenesis: true,
  }
  readonly maxUncles: Option<number> = {
    type: count('NUMBER', 0, 10, 'a whole number from 0 to 10'),
    group: 'Mining and time',
    sentence: 'Uncles that a block includes at most; the main network allows 2',
    default: 2,
  }
  readonly mergeMiningTag: Option<string> = {
    type: text('TEXT', '1 to 64 printable ASCII characters', /^[!-~]{1,64}$/),
    group: 'Mining and time',
    sentence: 'What marks a block hash in the coinbase of a parent block (mnr)',
    default: 'DEVBLOCK:',
  }
  readonly clock: Option<ClockSource> = {
    type: clock,
    group: 'Mining and time',
    sentence: 'Source of time; frozen and step give equal blocks each run',
    default: { kind: 'wall' },
  }
  readonly sameTimestamp: Option<boolean> = {
    type: flag,
    group: 'Mining and time',
    sentence: 'A block may have the time of its parent',
    default: false,
  }
  readonly consumeSnapshots: Option<boolean> = {
    type: flag,
    group: 'Mining and time',
    sentence: 'A snapshot can be reverted to once only',
    default: false,
  }
}

/** What makes its server, and bounds what requests may cost. */
export class ServerTable {
  readonly host: Option<string> = {
    type: text('HOST', 'a host name or IP address', /^[a-zA-Z0-9:._-]+$/),
    group: 'Server',
    sentence: 'Address to listen on',
    default: '127.0.0.1',
  }
  readonly port: Option<number> = {
    type: count('PORT', 0, 65_535, 'a port number from 0 to 65535'),
    group: 'Server',
    sentence: 'Port of HTTP and WebSocket; 0 picks a free one',
    default: 8545,
  }
  readonly allowHost: Option<readonly string[]> = {
    type: hosts,
    group: 'Server',
    sentence: 'Host name that browsers may use besides loopback names; * for any',
    default: [],
  }
  readonly allowOrigin: Option<readonly string[]> = {
    type: origins,
    group: 'Server',
    sentence: 'Origin whose web pages may call, besides those of this computer; * for any',
    default: ['*'],
  }
  /** Bytes. */
  readonly bodyLimit: Option<number> = {
    type: byteSize,
    group: 'Server',
    sentence: 'Largest request body',
    default: 5_000_000,
  }
  /** Milliseconds. */
  readonly filterTimeout: Option<number> = {
    type: duration,
    group: 'Server',
    sentence: 'Drop a filter that was not polled for so long',
    default: 300_000,
  }
  /** Steps. */
  readonly traceLimit: Option<number> = {
    type: count('STEPS', 1, 10 ** 12, 'a number of steps, such as 10_000_000 or 10M'),
    group: 'Server',
    sentence: 'Operations that one request for traces may run through',
    default: 10_000_000,
  }
  readonly alias: Option<readonly Alias[]> = {
    type: aliases,
    group: 'Server',
    sentence: 'Answer to another name too; new_*=ext_* for a whole module',
    default: [],
  }
  readonly disable: Option<readonly string[]> = {
    type: names,
    group: 'Server',
    sentence: 'Modules to turn off',
    default: [],
  }
}

/** What is known of the user's project: names for the log and for failures. */
export class ProjectTable {
  readonly artifacts: Option<readonly string[]> = {
    type: paths,
    group: 'Project',
    sentence:
      'Folder of artifacts, or of a project; repeatable (of a command: out, artifacts, build/contracts)',
    default: [],
  }
  readonly abi: Option<readonly string[]> = {
    type: paths,
    group: 'Project',
    sentence: 'File with an ABI, or with what the compiler answered; repeatable',
    default: [],
  }
  readonly noArtifacts: Option<boolean> = {
    type: flag,
    group: 'Project',
    sentence: 'Read no artifacts',
    default: false,
  }
  readonly trace: Optional<'failed' | 'all'> = {
    type: choiceOr('all', 'failed', 'all'),
    group: 'Project',
    sentence:
      'Print the calls of transactions, calls and estimates as a tree, with names and changes of storage; alone: of all',
    unset: 'none',
  }
  readonly gasReport: Option<boolean> = {
    type: flag,
    group: 'Project',
    sentence:
      'Print at the end what the functions of the project used, also where contracts call them',
    default: false,
  }
  readonly coverage: Optional<string> = {
    type: file,
    group: 'Project',
    sentence:
      'Write at the end which lines and branches of the sources calls and transactions reached (lcov)',
    unset: 'none',
  }
  /** Of lines, in percent. */
  readonly coverageMin: Optional<number> = {
    type: percent,
    group: 'Project',
    sentence: 'End with 1 where fewer lines are covered, or none can be; with --coverage',
    unset: 'none',
  }
  readonly plainErrors: Option<boolean> = {
    type: flag,
    group: 'Project',
    sentence: 'Answer failed executions without the place in Solidity (solidityStack)',
    default: false,
  }
}

/** What concerns the command only: its terminal and its process. */
class CommandTable {
  readonly quiet: Option<boolean> = {
    type: flag,
    group: 'Terminal',
    sentence: 'Print nothing but errors',
    default: false,
  }
  readonly noHints: Option<boolean> = {
    type: flag,
    group: 'Terminal',
    sentence: 'Give no hints on flags when something fails for the first time',
    default: false,
  }
  readonly verbose: Option<boolean> = {
    type: flag,
    group: 'Terminal',
    sentence: 'Print parameters and results of calls',
    default: false,
  }
  readonly log: Option<'pretty' | 'json'> = {
    type: choice('pretty', 'json'),
    group: 'Terminal',
    sentence: 'Form of the log: for people, or one JSON object a line',
    default: 'pretty',
  }
  readonly logOnly: Option<readonly string[]> = {
    type: methodPatterns,
    group: 'Terminal',
    sentence: 'Log calls of these methods alone, with what they change; * stands for any letters',
    default: [],
  }
  readonly logExcept: Option<readonly string[]> = {
    type: methodPatterns,
    group: 'Terminal',
    sentence: 'Log no calls of these methods, such as eth_get*',
    default: [],
  }
  readonly logFile: Optional<string> = {
    type: file,
    group: 'Terminal',
    sentence: 'Append the log to a file instead of the terminal',
    unset: 'none',
  }
  readonly noColor: Option<boolean> = {
    type: flag,
    group: 'Terminal',
    sentence: 'No colors; NO_COLOR and FORCE_COLOR are obeyed too',
    default: false,
  }
  readonly config: Optional<string> = {
    type: file,
    group: 'Process',
    sentence: 'JSON file with options, named as in createDevchain',
    unset: 'none',
  }
  readonly readyFile: Optional<string> = {
    type: file,
    group: 'Process',
    sentence: 'Write URL, accounts and keys there once the port answers',
    unset: 'none',
  }
  readonly exitWithParent: Option<boolean> = {
    type: flag,
    group: 'Process',
    sentence: 'Stop when the process that started this one is gone',
    default: false,
  }
}

export type Table = ChainTable & ForkTable & ServerTable & PeerTable & ProjectTable & CommandTable

/** The options, in the order of `--help`. */
export const OPTIONS: Table = {
  ...new ChainTable(),
  ...new ForkTable(),
  ...new ServerTable(),
  ...new PeerTable(),
  ...new ProjectTable(),
  ...new CommandTable(),
}
