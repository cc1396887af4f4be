// Every option once. The command line, environment, config file, API options, their types, `--help` and the table for
// users derive from this list (derived.ts).
import { type Address, ZERO_ADDRESS } from '../core/hex.ts'
import { DEFAULT_HARDFORK, type Hardfork } from '../protocol/forks.ts'
import { ChainsTable } from './chains.ts'
import { DumpTable } from './dumps.ts'
import { ForkTable } from './fork.ts'
import { type FromGenesis, type Option, type Optional, off } from './option.ts'
import { LinkTable } from './peers.ts'
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
    sentence: "Chain id; remote uses the forked network's",
    default: 33n,
    fromGenesis: true,
  }
  readonly networkId: Optional<bigint> = {
    type: chainIdentity,
    sentence: 'Network id, which net_version returns',
    unset: 'the chain id',
  }
  readonly hardfork: FromGenesis<Hardfork> = {
    type: hardfork,
    sentence: 'Hardfork whose rules apply, such as cancun',
    default: DEFAULT_HARDFORK,
    fromGenesis: true,
  }
  /** Path of the file, or (in-process only) its content. */
  readonly genesis: Optional<string | object> = {
    type: genesisFile,
    sentence: "Genesis file in geth's JSON format",
  }
  /** Path of the file, or (in-process only) its content. */
  readonly import: Optional<string | Uint8Array> = {
    type: blocksFile,
    sentence: 'Import the blocks of an RLP file, validating each in full',
  }
  /** Seconds since 1970. */
  readonly timestamp: Optional<bigint> = {
    type: moment,
    sentence: 'Time of the genesis block or of the fork: seconds since 1970, or a date',
    unset: 'now',
  }
  readonly chainName: Option<string> = {
    type: text('NAME', 'one line of up to 64 characters', /^[^\r\n]{1,64}$/),
    sentence: 'Name in the prefix that eth_sign puts before messages',
    default: 'Ethereum',
  }
  readonly noCreate2: Option<boolean> = off('Do not deploy the CREATE2 factory (0x4e59…956C)')
  readonly rip7212: Option<boolean> = off('Add the P256VERIFY precompile at 0x100 before osaka')
  readonly predeploy: Option<readonly string[]> = {
    type: predeploys,
    sentence:
      'Deploy a contract (multicall3) or the accounts of a JSON file at the start; repeatable',
    default: [],
  }
  readonly coinbase: FromGenesis<Address> = {
    type: address,
    sentence: 'Address that receives block fees',
    default: ZERO_ADDRESS,
    fromGenesis: true,
  }
  /** Bytes. */
  readonly codeSizeLimit: Optional<number> = {
    type: codeSize,
    sentence: 'Maximum size of deployed code; off removes the limit',
    unset: "the hardfork's",
  }
}

class AccountTable {
  readonly accounts: Option<number> = {
    type: count('NUMBER', 0, 10_000),
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
    sentence: 'Mnemonic from which the accounts are derived',
    default: 'test test test test test test test test test test test junk',
  }
  readonly derivationPath: Option<string> = {
    type: text('PATH', "a derivation path such as m/44'/60'/0'/0", /^m(\/\d{1,10}'?)*$/),
    sentence: 'Derivation path of the accounts; /0, /1, … are appended',
    default: "m/44'/60'/0'/0",
  }
  readonly autoImpersonate: Option<boolean> = off('Send from any address without its key')
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
    sentence: 'Default gas price of eth_sendTransaction',
    default: 0n,
  }
  /** Wei per gas. */
  readonly baseFee: Optional<bigint | 'remote'> = {
    type: orWord(gasFee, 'remote', ' in a fork'),
    sentence: "Initial base fee of an EIP-1559 fee market; remote continues the forked network's",
    unset: 'pinned at 0',
    fromGenesis: true,
  }
  /** Wei per gas. */
  readonly tip: Option<bigint> = {
    type: gasFee,
    sentence: 'Default tip per gas of eth_sendTransaction',
    default: 0n,
  }
  readonly defaultGas: Optional<bigint | 'estimate'> = {
    type: orWord(gas, 'estimate'),
    sentence: 'Default gas limit of eth_sendTransaction; estimate finds one for each transaction',
    unset: '90000, from amsterdam on estimate',
  }
  readonly txGasCap: Optional<bigint> = {
    type: gas,
    sentence: 'Maximum gas limit of a transaction (EIP-7825)',
  }
  readonly onRevert: Option<'hash' | 'throw'> = {
    type: choice('hash', 'throw'),
    sentence: 'What eth_sendTransaction returns if the transaction reverts: its hash, or an error',
    default: 'hash',
  }
  readonly compat: Optional<'geth' | 'anvil' | 'hardhat' | 'hardhat2' | 'ganache'> = {
    type: choice('geth', 'anvil', 'hardhat', 'hardhat2', 'ganache'),
    sentence: 'Use the defaults, errors and responses of another node',
  }
  readonly evm: Option<'reference' | 'interpreter' | 'auto'> = {
    type: choice('reference', 'interpreter', 'auto'),
    sentence: 'EVM engine; auto compiles hot code',
    default: 'auto',
  }
  /** Bytes. */
  readonly memoryLimit: Option<number> = {
    type: byteSize,
    sentence: 'Memory limit of one transaction or call',
    default: 128_000_000,
  }
}

class MiningTable {
  /** Milliseconds between blocks. */
  readonly blockTime: Optional<number> = {
    type: duration,
    sentence: 'Mine at this interval instead of once per transaction',
    unset: 'instant',
  }
  readonly noMining: Option<boolean> = off('Mine only on request (evm_mine)')
  readonly difficulty: FromGenesis<bigint> = {
    type: integer('NUMBER', 0n, (1n << 256n) - 1n, 'a whole number'),
    sentence: 'Difficulty of a block',
    default: 1n,
    fromGenesis: true,
  }
  readonly maxUncles: Option<number> = {
    type: count('NUMBER', 0, 10),
    sentence: 'Maximum number of uncles in a block; mainnet allows 2',
    default: 2,
  }
  readonly mergeMiningTag: Option<string> = {
    type: text('TEXT', '1 to 64 printable ASCII characters', /^[!-~]{1,64}$/),
    sentence: 'Merged-mining tag before the block hash in a parent coinbase (mnr)',
    default: 'DEVBLOCK:',
  }
  readonly clock: Option<ClockSource> = {
    type: clock,
    sentence: 'Clock source; frozen and step give the same blocks in every run',
    default: { kind: 'wall' },
  }
  readonly sameTimestamp: Option<boolean> = off('Allow a block to have the timestamp of its parent')
  readonly consumeSnapshots: Option<boolean> = off('Allow only one revert to each snapshot')
}

class ServerTable {
  readonly host: Option<string> = {
    type: text('HOST', 'a host name or IP address', /^[a-zA-Z0-9:._-]+$/),
    sentence: 'Address to listen on',
    default: '127.0.0.1',
  }
  readonly port: Option<number> = {
    type: count('PORT', 0, 65_535, 'a port number from 0 to 65535'),
    sentence: 'Port for HTTP and WebSocket; 0 picks a free one',
    default: 8545,
  }
  readonly allowHost: Option<readonly string[]> = {
    type: hosts,
    sentence: 'Host name by which clients may call, besides localhost; * allows any',
    default: [],
  }
  readonly allowOrigin: Option<readonly string[]> = {
    type: origins,
    sentence: 'Web origin whose pages may call, besides those of this computer; * allows any',
    default: ['*'],
  }
  readonly noPage: Option<boolean> = off('Do not serve the page that browsers get at the URL')
  /** Bytes. */
  readonly bodyLimit: Option<number> = {
    type: byteSize,
    sentence: 'Maximum size of a request body',
    default: 5_000_000,
  }
  /** Milliseconds. */
  readonly filterTimeout: Option<number> = {
    type: duration,
    sentence: 'Drop a filter that is not polled for this long',
    default: 300_000,
  }
  /** Steps. */
  readonly traceLimit: Option<number> = {
    type: count('STEPS', 1, 10 ** 12, 'a number of steps, such as 10_000_000 or 10M'),
    sentence: 'Maximum number of steps in one trace request',
    default: 10_000_000,
  }
  readonly alias: Option<readonly Alias[]> = {
    type: aliases,
    sentence: 'Add another name for a method; new_*=ext_* for a whole module',
    default: [],
  }
  readonly disable: Option<readonly string[]> = {
    type: names,
    sentence: 'Modules to disable, such as personal,debug',
    default: [],
  }
}

class ProjectTable {
  readonly artifacts: Option<readonly string[]> = {
    type: paths,
    sentence:
      'Folder of artifacts or of a project; repeatable (the command tries out, artifacts, build/contracts)',
    default: [],
  }
  readonly abi: Option<readonly string[]> = {
    type: paths,
    sentence: 'File with an ABI or compiler output; repeatable',
    default: [],
  }
  readonly noArtifacts: Option<boolean> = off('Do not read artifacts')
  readonly trace: Optional<'failed' | 'all'> = {
    type: choiceOr('all', 'failed', 'all'),
    sentence: 'Print call traces with names and storage changes; without a value: all',
  }
  readonly gasReport: Option<boolean> = off(
    'Print the gas used by each function at the end, including inner calls',
  )
  readonly coverage: Optional<string> = {
    type: file,
    sentence: 'Write line and branch coverage in lcov format at the end',
  }
  /** Of lines, in percent. */
  readonly coverageMin: Optional<number> = {
    type: percent,
    sentence: 'Exit with 1 if line coverage is lower or empty; needs --coverage',
  }
  readonly plainErrors: Option<boolean> = off(
    'Leave the Solidity stack (solidityStack) out of errors',
  )
}

class TerminalTable {
  readonly quiet: Option<boolean> = off('Print only errors of devchain itself, no calls')
  readonly noHints: Option<boolean> = off('Do not suggest flags after errors')
  readonly verbose: Option<boolean> = off('Log parameters and results of calls')
  readonly log: Option<'pretty' | 'json'> = {
    type: choice('pretty', 'json'),
    sentence: 'Log format: for people, or one JSON object per line',
    default: 'pretty',
  }
  readonly logOnly: Option<readonly string[]> = {
    type: methodPatterns,
    sentence: 'Log only these methods and what they change; * matches any letters',
    default: [],
  }
  readonly logExcept: Option<readonly string[]> = {
    type: methodPatterns,
    sentence: 'Do not log these methods, such as eth_get*',
    default: [],
  }
  readonly logChain: Optional<string> = {
    type: text(
      'NAME',
      'a name or number of a chain, or / for the default chain',
      /^(\/|[\w-]{1,64})$/,
    ),
    sentence: 'Log only the calls and blocks of this chain; / is the default chain',
    unset: 'all chains',
  }
  readonly logFile: Optional<string> = {
    type: file,
    sentence: 'Append the log to a file instead of printing it',
  }
  readonly noColor: Option<boolean> = off('Disable colors; NO_COLOR and FORCE_COLOR work too')
}

class ProcessTable {
  readonly config: Optional<string> = {
    type: file,
    sentence: 'JSON file with options, named as in createDevchain',
  }
  readonly readyFile: Optional<string> = {
    type: file,
    sentence: 'Write URL, accounts and keys to a file when ready',
  }
  readonly setup: Optional<string> = {
    type: text('COMMAND', 'one line of up to 4000 characters', /^[^\r\n]{1,4000}$/),
    sentence: 'Shell command to run first; chains at paths begin with what it left',
  }
  readonly exitWithParent: Option<boolean> = off('Stop when the parent process ends')
}

/** Groups of options, in the order of `--help`. */
const groups = {
  Chain: new ChainTable(),
  Fork: new ForkTable(),
  Accounts: new AccountTable(),
  Transactions: new TransactionTable(),
  'Mining and time': new MiningTable(),
  Server: new ServerTable(),
  Chains: new ChainsTable(),
  'Dumps of anvil': new DumpTable(),
  Peers: new LinkTable(),
  Project: new ProjectTable(),
  Terminal: new TerminalTable(),
  Process: new ProcessTable(),
}

export type MakingTable = ChainTable & AccountTable & TransactionTable & MiningTable

/** All but the options of the command line. */
export type ProgramTable = MakingTable &
  ForkTable &
  ServerTable &
  ChainsTable &
  DumpTable &
  LinkTable &
  ProjectTable

export type Table = ProgramTable & TerminalTable & ProcessTable

export const OPTIONS: Table = Object.assign({}, ...Object.values(groups)) as Table

export function groupOf(key: keyof Table): string {
  return Object.entries(groups).find(([, table]) => key in table)![0]
}
