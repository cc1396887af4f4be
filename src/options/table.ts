// Every option once. The command line, environment, config file, API options, their types, `--help` and the table for
// users derive from this list (derived.ts).
import { type Address, ZERO_ADDRESS } from '../core/hex.ts'
import { DEFAULT_HARDFORK, type Hardfork } from '../protocol/forks.ts'
import { ForkTable } from './fork.ts'
import { type FromGenesis, type Option, type Optional, off } from './option.ts'
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
  gas,
  gasFee,
  genesisFile,
  hardfork,
  hosts,
  integer,
  methodPatterns,
  moment,
  names,
  origins,
  orWord,
  paths,
  percent,
  phrase,
  predeploys,
  text,
} from './values.ts'

/** A class, because each member states its type; the types of settings derive from it. */
class ChainTable {
  readonly chainId: FromGenesis<bigint | 'remote'> = {
    type: orWord(chainIdentity, 'remote', ' in a fork'),
    sentence: "Chain id that transactions are signed for; remote: the forked network's",
    default: 33n,
    fromGenesis: true,
  }
  readonly networkId: Optional<bigint> = {
    type: chainIdentity,
    sentence: 'Network id that net_version answers',
    unset: 'the chain id',
  }
  readonly hardfork: FromGenesis<Hardfork> = {
    type: hardfork,
    sentence: 'Rules of the chain, from frontier to the newest',
    default: DEFAULT_HARDFORK,
    fromGenesis: true,
  }
  /** Path of the file, or (in-process only) its content. */
  readonly genesis: Optional<string | object> = {
    type: genesisFile,
    sentence: 'Genesis JSON with config, alloc, timestamp, gasLimit, …',
  }
  /** Path of the file, or (in-process only) its content. */
  readonly import: Optional<string | Uint8Array> = {
    type: blocksFile,
    sentence: 'Begin with the RLP blocks of a file, each validated in full',
  }
  /** Seconds since 1970. */
  readonly timestamp: Optional<bigint> = {
    type: moment,
    sentence: 'Time of the genesis, or at which a fork starts: seconds since 1970, or a date',
    unset: 'now',
  }
  readonly chainName: Option<string> = {
    type: text('NAME', 'one line of up to 64 characters', /^[^\r\n]{1,64}$/),
    sentence: 'Name in the prefix that eth_sign puts before a message',
    default: 'Ethereum',
  }
  readonly noCreate2: Option<boolean> = off('Leave out the deterministic create2 deployer')
  readonly rip7212: Option<boolean> = off(
    'Add the precompile P256VERIFY at 0x100 to hardforks before osaka',
  )
  readonly predeploy: Option<readonly string[]> = {
    type: predeploys,
    sentence: 'Put a contract (multicall3) or the accounts of a file there; repeatable',
    default: [],
  }
  readonly coinbase: FromGenesis<Address> = {
    type: address,
    sentence: 'Address that gets the fees of blocks',
    default: ZERO_ADDRESS,
    fromGenesis: true,
  }
  /** Bytes. */
  readonly codeSizeLimit: Optional<number> = {
    type: codeSize,
    sentence: 'Largest size of deployed code; off for none',
    unset: "the hardfork's",
  }
}

class AccountTable {
  readonly accounts: Option<number> = {
    type: count('NUMBER', 0, 10_000, 'a whole number from 0 to 10000'),
    sentence: 'Number of unlocked, funded accounts',
    default: 10,
  }
  /** Wei. */
  readonly balance: Option<bigint> = {
    type: etherAmount,
    sentence: 'Balance of each account, in ether',
    default: 10_000n * 10n ** 18n,
  }
  readonly mnemonic: Option<string> = {
    type: phrase,
    sentence: 'Phrase that the accounts are derived from',
    default: 'test test test test test test test test test test test junk',
  }
  readonly derivationPath: Option<string> = {
    type: text(
      'PATH',
      "a derivation path such as m/44'/60'/0'/0, to which /0, /1, … are added",
      /^m(\/\d{1,10}'?)*$/,
    ),
    sentence: 'Path of the accounts; /0, /1, … are added to it',
    default: "m/44'/60'/0'/0",
  }
  readonly autoImpersonate: Option<boolean> = off('Send for whatever account, without its key')
}

class TransactionTable {
  readonly gasLimit: FromGenesis<bigint> = {
    type: gas,
    sentence: 'Gas limit of a block',
    default: 30_000_000n,
    fromGenesis: true,
  }
  /** Wei per gas. */
  readonly gasPrice: Option<bigint> = {
    type: gasFee,
    sentence: 'Gas price of eth_sendTransaction when it names none',
    default: 0n,
  }
  /** Wei per gas. */
  readonly baseFee: Optional<bigint | 'remote'> = {
    type: orWord(gasFee, 'remote', ' in a fork'),
    sentence:
      "Start the EIP-1559 fee market at this base fee; remote: go on from the forked network's",
    unset: 'pinned at 0',
    fromGenesis: true,
  }
  /** Wei per gas. */
  readonly tip: Option<bigint> = {
    type: gasFee,
    sentence: 'Tip per gas of eth_sendTransaction when it names none',
    default: 0n,
  }
  readonly defaultGas: Option<bigint | 'estimate'> = {
    type: orWord(gas, 'estimate'),
    sentence: 'Gas of eth_sendTransaction when it names none',
    default: 90_000n,
  }
  readonly txGasCap: Optional<bigint> = {
    type: gas,
    sentence: 'Highest gas limit of one transaction (EIP-7825)',
  }
  readonly onRevert: Option<'hash' | 'throw'> = {
    type: choice('hash', 'throw'),
    sentence: 'What a send answers when its transaction reverts',
    default: 'hash',
  }
  readonly compat: Optional<'geth' | 'anvil' | 'hardhat' | 'hardhat2' | 'ganache'> = {
    type: choice('geth', 'anvil', 'hardhat', 'hardhat2', 'ganache'),
    sentence: 'Take the defaults of that node, and answer as it does',
  }
  readonly evm: Option<'reference' | 'interpreter' | 'auto'> = {
    type: choice('reference', 'interpreter', 'auto'),
    sentence: 'Engine that runs contracts; auto compiles hot code',
    default: 'auto',
  }
  /** Bytes. */
  readonly memoryLimit: Option<number> = {
    type: byteSize,
    sentence: 'Memory that one transaction or call may use',
    default: 128_000_000,
  }
}

class MiningTable {
  /** Milliseconds between blocks. */
  readonly blockTime: Optional<number> = {
    type: duration,
    sentence: 'Mine on an interval instead of a block a transaction',
    unset: 'instant',
  }
  readonly noMining: Option<boolean> = off('Mine by hand only (evm_mine)')
  readonly difficulty: FromGenesis<bigint> = {
    type: integer('NUMBER', 0n, (1n << 256n) - 1n, 'a whole number'),
    sentence: 'Difficulty of a block',
    default: 1n,
    fromGenesis: true,
  }
  readonly maxUncles: Option<number> = {
    type: count('NUMBER', 0, 10, 'a whole number from 0 to 10'),
    sentence: 'Uncles that a block includes at most; the main network allows 2',
    default: 2,
  }
  readonly mergeMiningTag: Option<string> = {
    type: text('TEXT', '1 to 64 printable ASCII characters', /^[!-~]{1,64}$/),
    sentence: 'What marks a block hash in the coinbase of a parent block (mnr)',
    default: 'DEVBLOCK:',
  }
  readonly clock: Option<ClockSource> = {
    type: clock,
    sentence: 'Source of time; frozen and step give equal blocks each run',
    default: { kind: 'wall' },
  }
  readonly sameTimestamp: Option<boolean> = off('A block may have the time of its parent')
  readonly consumeSnapshots: Option<boolean> = off('A snapshot can be reverted to once only')
}

class ServerTable {
  readonly host: Option<string> = {
    type: text('HOST', 'a host name or IP address', /^[a-zA-Z0-9:._-]+$/),
    sentence: 'Address to listen on',
    default: '127.0.0.1',
  }
  readonly port: Option<number> = {
    type: count('PORT', 0, 65_535, 'a port number from 0 to 65535'),
    sentence: 'Port of HTTP and WebSocket; 0 picks a free one',
    default: 8545,
  }
  readonly allowHost: Option<readonly string[]> = {
    type: hosts,
    sentence: 'Host name that browsers may use besides loopback names; * for any',
    default: [],
  }
  readonly allowOrigin: Option<readonly string[]> = {
    type: origins,
    sentence: 'Origin whose web pages may call, besides those of this computer; * for any',
    default: ['*'],
  }
  /** Bytes. */
  readonly bodyLimit: Option<number> = {
    type: byteSize,
    sentence: 'Largest request body',
    default: 5_000_000,
  }
  /** Milliseconds. */
  readonly filterTimeout: Option<number> = {
    type: duration,
    sentence: 'Drop a filter that was not polled for so long',
    default: 300_000,
  }
  /** Steps. */
  readonly traceLimit: Option<number> = {
    type: count('STEPS', 1, 10 ** 12, 'a number of steps, such as 10_000_000 or 10M'),
    sentence: 'Operations that one request for traces may run through',
    default: 10_000_000,
  }
  readonly alias: Option<readonly Alias[]> = {
    type: aliases,
    sentence: 'Answer to another name too; new_*=ext_* for a whole module',
    default: [],
  }
  readonly disable: Option<readonly string[]> = {
    type: names,
    sentence: 'Modules to turn off',
    default: [],
  }
}

class ProjectTable {
  readonly artifacts: Option<readonly string[]> = {
    type: paths,
    sentence:
      'Folder of artifacts, or of a project; repeatable (of a command: out, artifacts, build/contracts)',
    default: [],
  }
  readonly abi: Option<readonly string[]> = {
    type: paths,
    sentence: 'File with an ABI, or with what the compiler answered; repeatable',
    default: [],
  }
  readonly noArtifacts: Option<boolean> = off('Read no artifacts')
  readonly trace: Optional<'failed' | 'all'> = {
    type: choiceOr('all', 'failed', 'all'),
    sentence:
      'Print the calls of transactions, calls and estimates as a tree, with names and changes of storage; alone: of all',
  }
  readonly gasReport: Option<boolean> = off(
    'Print at the end what the functions of the project used, also where contracts call them',
  )
  readonly coverage: Optional<string> = {
    type: file,
    sentence:
      'Write at the end which lines and branches of the sources calls and transactions reached (lcov)',
  }
  /** Of lines, in percent. */
  readonly coverageMin: Optional<number> = {
    type: percent,
    sentence: 'End with 1 where fewer lines are covered, or none can be; with --coverage',
  }
  readonly plainErrors: Option<boolean> = off(
    'Answer failed executions without the place in Solidity (solidityStack)',
  )
}

class TerminalTable {
  readonly quiet: Option<boolean> = off('Print nothing but errors')
  readonly noHints: Option<boolean> = off(
    'Give no hints on flags when something fails for the first time',
  )
  readonly verbose: Option<boolean> = off('Print parameters and results of calls')
  readonly log: Option<'pretty' | 'json'> = {
    type: choice('pretty', 'json'),
    sentence: 'Form of the log: for people, or one JSON object a line',
    default: 'pretty',
  }
  readonly logOnly: Option<readonly string[]> = {
    type: methodPatterns,
    sentence: 'Log calls of these methods alone, with what they change; * stands for any letters',
    default: [],
  }
  readonly logExcept: Option<readonly string[]> = {
    type: methodPatterns,
    sentence: 'Log no calls of these methods, such as eth_get*',
    default: [],
  }
  readonly logFile: Optional<string> = {
    type: file,
    sentence: 'Append the log to a file instead of the terminal',
  }
  readonly noColor: Option<boolean> = off('No colors; NO_COLOR and FORCE_COLOR are obeyed too')
}

class ProcessTable {
  readonly config: Optional<string> = {
    type: file,
    sentence: 'JSON file with options, named as in createDevchain',
  }
  readonly readyFile: Optional<string> = {
    type: file,
    sentence: 'Write URL, accounts and keys there once the port answers',
  }
  readonly exitWithParent: Option<boolean> = off(
    'Stop when the process that started this one is gone',
  )
}

/** Groups of options, in the order of `--help`. */
const groups = {
  Chain: new ChainTable(),
  Fork: new ForkTable(),
  Accounts: new AccountTable(),
  Transactions: new TransactionTable(),
  'Mining and time': new MiningTable(),
  Server: new ServerTable(),
  Peers: new PeerTable(),
  Project: new ProjectTable(),
  Terminal: new TerminalTable(),
  Process: new ProcessTable(),
}

export type MakingTable = ChainTable & AccountTable & TransactionTable & MiningTable

/** All but the options of the command. */
export type ProgramTable = MakingTable & ForkTable & ServerTable & PeerTable & ProjectTable

export type Table = ProgramTable & TerminalTable & ProcessTable

export const OPTIONS: Table = Object.assign({}, ...Object.values(groups)) as Table

export function groupOf(key: keyof Table): string {
  return Object.entries(groups).find(([, table]) => key in table)![0]
}
