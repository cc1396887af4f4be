// Every option once. The command line, environment, config file, API options, their types, `--help` and the table for
// users derive from this list (derived.ts).
import { type Address, ZERO_ADDRESS } from '../core/hex.ts'
import { DEFAULT_HARDFORK, type Hardfork } from '../protocol/forks.ts'
import { ForkTable } from './fork.ts'
import { type FromGenesis, type Option, type Optional, off } from './option.ts'
import type { Alias, ClockSource } from './values.ts'
import * as values from './values.ts'

/** A class, because each member states its type; the types of settings derive from it. */
class ChainTable {
  readonly chainId: FromGenesis<bigint | 'remote'> = {
    type: values.orWord(values.chainIdentity, 'remote', ' in a fork'),
    sentence: "Chain id; remote uses the forked network's",
    default: 33n,
    fromGenesis: true,
  }
  readonly networkId: Optional<bigint> = {
    type: values.chainIdentity,
    sentence: 'Network id, which net_version returns',
    unset: 'the chain id',
  }
  readonly hardfork: FromGenesis<Hardfork> = {
    type: values.hardfork,
    sentence: 'Hardfork whose rules apply, such as cancun',
    default: DEFAULT_HARDFORK,
    fromGenesis: true,
  }
  /** Path of the file, or (in-process only) its content. */
  readonly genesis: Optional<string | object> = {
    type: values.genesisFile,
    sentence: "Genesis file in geth's JSON format",
  }
  /** Path of the file, or (in-process only) its content. */
  readonly import: Optional<string | Uint8Array> = {
    type: values.blocksFile,
    sentence: 'Import the blocks of an RLP file, validating each in full',
  }
  /** Seconds since 1970. */
  readonly timestamp: Optional<bigint> = {
    type: values.moment,
    sentence: 'Time of the genesis block or of the fork: seconds since 1970, or a date',
    unset: 'now',
  }
  readonly chainName: Option<string> = {
    type: values.text('NAME', 'one line of up to 64 characters', /^[^\r\n]{1,64}$/),
    sentence: 'Name in the prefix that eth_sign puts before messages',
    default: 'Ethereum',
  }
  readonly noCreate2: Option<boolean> = off('Do not deploy the CREATE2 factory (0x4e59…956C)')
  readonly rip7212: Option<boolean> = off('Add the P256VERIFY precompile at 0x100 before osaka')
  readonly predeploy: Option<readonly string[]> = {
    type: values.predeploys,
    sentence:
      'Deploy a contract (multicall3) or the accounts of a JSON file at the start; repeatable',
    default: [],
  }
  readonly coinbase: FromGenesis<Address> = {
    type: values.address,
    sentence: 'Address that receives block fees',
    default: ZERO_ADDRESS,
    fromGenesis: true,
  }
  /** Bytes. */
  readonly codeSizeLimit: Optional<number> = {
    type: values.codeSize,
    sentence: 'Maximum size of deployed code; off removes the limit',
    unset: "the hardfork's",
  }
}

class AccountTable {
  readonly accounts: Option<number> = {
    type: values.count('NUMBER', 0, 10_000),
    sentence: 'Number of unlocked, funded accounts',
    default: 10,
  }
  /** Wei. */
  readonly balance: Option<bigint> = {
    type: values.etherAmount,
    sentence: 'Balance of each account, in ether',
    default: 10_000n * 10n ** 18n,
  }
  readonly mnemonic: Option<string> = {
    type: values.phrase,
    sentence: 'Mnemonic from which the accounts are derived',
    default: 'test test test test test test test test test test test junk',
  }
  readonly derivationPath: Option<string> = {
    type: values.text('PATH', "a derivation path such as m/44'/60'/0'/0", /^m(\/\d{1,10}'?)*$/),
    sentence: 'Derivation path of the accounts; /0, /1, … are appended',
    default: "m/44'/60'/0'/0",
  }
  readonly autoImpersonate: Option<boolean> = off('Send from any address without its key')
}

class TransactionTable {
  readonly gasLimit: FromGenesis<bigint> = {
    type: values.gas,
    sentence: 'Gas limit of a block',
    default: 30_000_000n,
    fromGenesis: true,
  }
  /** Wei per gas. */
  readonly gasPrice: Option<bigint> = {
    type: values.gasFee,
    sentence: 'Default gas price of eth_sendTransaction',
    default: 0n,
  }
  /** Wei per gas. */
  readonly baseFee: Optional<bigint | 'remote'> = {
    type: values.orWord(values.gasFee, 'remote', ' in a fork'),
    sentence: "Initial base fee of an EIP-1559 fee market; remote continues the forked network's",
    unset: 'pinned at 0',
    fromGenesis: true,
  }
  /** Wei per gas. */
  readonly tip: Option<bigint> = {
    type: values.gasFee,
    sentence: 'Default tip per gas of eth_sendTransaction',
    default: 0n,
  }
  readonly defaultGas: Optional<bigint | 'estimate'> = {
    type: values.orWord(values.gas, 'estimate'),
    sentence: 'Default gas limit of eth_sendTransaction; estimate finds one for each transaction',
    unset: '90000, from amsterdam on estimate',
  }
  readonly txGasCap: Optional<bigint> = {
    type: values.gas,
    sentence: 'Maximum gas limit of a transaction (EIP-7825)',
  }
  readonly onRevert: Option<'hash' | 'throw'> = {
    type: values.choice('hash', 'throw'),
    sentence: 'What eth_sendTransaction returns if the transaction reverts: its hash, or an error',
    default: 'hash',
  }
  readonly compat: Optional<'geth' | 'anvil' | 'hardhat' | 'hardhat2' | 'ganache'> = {
    type: values.choice('geth', 'anvil', 'hardhat', 'hardhat2', 'ganache'),
    sentence: 'Use the defaults, errors and responses of another node',
  }
  readonly evm: Option<'reference' | 'interpreter' | 'auto'> = {
    type: values.choice('reference', 'interpreter', 'auto'),
    sentence: 'EVM engine; auto compiles hot code',
    default: 'auto',
  }
  /** Bytes. */
  readonly memoryLimit: Option<number> = {
    type: values.byteSize,
    sentence: 'Memory limit of one transaction or call',
    default: 128_000_000,
  }
}

class MiningTable {
  /** Milliseconds between blocks. */
  readonly blockTime: Optional<number> = {
    type: values.duration,
    sentence: 'Mine at this interval instead of once per transaction',
    unset: 'instant',
  }
  readonly noMining: Option<boolean> = off('Mine only on request (evm_mine)')
  readonly difficulty: FromGenesis<bigint> = {
    type: values.integer('NUMBER', 0n, (1n << 256n) - 1n, 'a whole number'),
    sentence: 'Difficulty of a block',
    default: 1n,
    fromGenesis: true,
  }
  readonly maxUncles: Option<number> = {
    type: values.count('NUMBER', 0, 10),
    sentence: 'Maximum number of uncles in a block; mainnet allows 2',
    default: 2,
  }
  readonly mergeMiningTag: Option<string> = {
    type: values.text('TEXT', '1 to 64 printable ASCII characters', /^[!-~]{1,64}$/),
    sentence: 'Merged-mining tag before the block hash in a parent coinbase (mnr)',
    default: 'DEVBLOCK:',
  }
  readonly clock: Option<ClockSource> = {
    type: values.clock,
    sentence: 'Clock source; frozen and step give the same blocks in every run',
    default: { kind: 'wall' },
  }
  readonly sameTimestamp: Option<boolean> = off('Allow a block to have the timestamp of its parent')
  readonly consumeSnapshots: Option<boolean> = off('Allow only one revert to each snapshot')
}

class ServerTable {
  readonly host: Option<string> = {
    type: values.text('HOST', 'a host name or IP address', /^[a-zA-Z0-9:._-]+$/),
    sentence: 'Address to listen on',
    default: '127.0.0.1',
  }
  readonly port: Option<number> = {
    type: values.count('PORT', 0, 65_535, 'a port number from 0 to 65535'),
    sentence: 'Port for HTTP and WebSocket; 0 picks a free one',
    default: 8545,
  }
  readonly allowHost: Option<readonly string[]> = {
    type: values.hosts,
    sentence: 'Host name by which clients may call, besides localhost; * allows any',
    default: [],
  }
  readonly allowOrigin: Option<readonly string[]> = {
    type: values.origins,
    sentence: 'Web origin whose pages may call, besides those of this computer; * allows any',
    default: ['*'],
  }
  readonly noPage: Option<boolean> = off('Do not serve the page that browsers get at the URL')
  /** Bytes. */
  readonly bodyLimit: Option<number> = {
    type: values.byteSize,
    sentence: 'Maximum size of a request body',
    default: 5_000_000,
  }
  /** Milliseconds. */
  readonly filterTimeout: Option<number> = {
    type: values.duration,
    sentence: 'Drop a filter that is not polled for this long',
    default: 300_000,
  }
  /** Steps. */
  readonly traceLimit: Option<number> = {
    type: values.count('STEPS', 1, 10 ** 12, 'a number of steps, such as 10_000_000 or 10M'),
    sentence: 'Maximum number of steps in one trace request',
    default: 10_000_000,
  }
  readonly alias: Option<readonly Alias[]> = {
    type: values.aliases,
    sentence: 'Add another name for a method; new_*=ext_* for a whole module',
    default: [],
  }
  readonly disable: Option<readonly string[]> = {
    type: values.names,
    sentence: 'Modules to disable, such as personal,debug',
    default: [],
  }
}

class ChainsTable {
  readonly maxChains: Option<number> = {
    type: values.count('NUMBER', 0, 100_000),
    sentence: 'Maximum number of chains at paths such as /1, besides the default chain',
    default: 1_000,
  }
  /** Milliseconds. */
  readonly chainIdle: Optional<number> = {
    type: values.duration,
    sentence: 'Drop a chain at a path that gets no request for this long',
    unset: 'never',
  }
  readonly threads: Option<number | 'auto'> = {
    type: values.orWord(values.count('NUMBER', 0, 64), 'auto'),
    sentence: 'Threads for chains at paths; auto: one for each processor',
    default: 0,
  }
  readonly state: Optional<string> = {
    type: values.text('DIR', 'the path of a folder', /\S/),
    sentence: 'Keep all chains in a folder: the next start with it goes on where this one ends',
  }
  /** Path of the file, or (in-process only) its content. */
  readonly from: Optional<string | Uint8Array> = {
    type: values.packFile,
    sentence: 'Begin with the chain in a pack (devchain save), with its snapshots',
  }
  readonly durability: Option<'block' | 'interval'> = {
    type: values.choice('block', 'interval'),
    sentence: 'With --state, write each change to disk before its response, or every 100 ms',
    default: 'interval',
  }
}

const dump = values.text('FILE', 'the path of a file or folder', /\S/)

/** With the names and the meaning of anvil's. */
class DumpTable {
  readonly loadState: Optional<string> = {
    type: dump,
    sentence: 'Begin with a dump of anvil or devchain',
  }
  readonly dumpState: Optional<string> = {
    type: dump,
    sentence: 'Write a dump, which anvil loads too, at the end and at intervals',
  }
  /** Milliseconds. */
  readonly stateInterval: Option<number> = {
    type: values.duration,
    sentence: 'With --dump-state, write it at this interval if the chain changed',
    default: 60_000,
  }
  readonly preserveHistoricalStates: Option<boolean> = off(
    'With --dump-state, dump the state of each block too',
  )
  readonly init: Optional<string> = {
    type: values.file,
    sentence: "Another name for --genesis, as in anvil's scripts",
  }
}

class LinkTable {
  /** URLs such as `ws://127.0.0.1:8546`. */
  readonly peer: Option<readonly string[]> = {
    type: values.peerUrls,
    sentence: 'Link to another devchain; reconnect when the link breaks',
    default: [],
  }
  readonly nodeName: Optional<string> = {
    type: values.text('NAME', 'one line of up to 32 characters', /^[^\r\n]{1,32}$/),
    sentence: 'Name of this node in the logs of its peers',
    unset: 'the beginning of its id',
  }
  readonly follow: Option<'on' | 'off'> = {
    type: values.choice('on', 'off'),
    sentence: 'Whether to adopt heavier branches of peers',
    default: 'on',
  }
  readonly mineForPeers: Option<boolean> = off('Also mine transactions from peers instantly')
  readonly noLink: Option<boolean> = off('Refuse incoming links; still dial --peer')
  readonly linkHost: Option<readonly string[]> = {
    type: values.linkHosts,
    sentence: 'Address to accept links from, besides this machine',
    default: [],
  }
  readonly maxPeers: Option<number> = {
    type: values.count('NUMBER', 1, 1_000),
    sentence: 'Maximum number of peers',
    default: 25,
  }
}

class ProjectTable {
  readonly artifacts: Option<readonly string[]> = {
    type: values.paths,
    sentence:
      'Folder of artifacts or of a project; repeatable (the command tries out, artifacts, build/contracts)',
    default: [],
  }
  readonly abi: Option<readonly string[]> = {
    type: values.paths,
    sentence: 'File with an ABI or compiler output; repeatable',
    default: [],
  }
  readonly noArtifacts: Option<boolean> = off('Do not read artifacts')
  readonly trace: Optional<'failed' | 'all'> = {
    type: { ...values.choice('failed', 'all'), alone: 'all' },
    sentence: 'Print call traces with names and storage changes; without a value: all',
  }
  readonly gasReport: Option<boolean> = off(
    'Print the gas used by each function at the end, including inner calls',
  )
  readonly coverage: Optional<string> = {
    type: values.file,
    sentence: 'Write line and branch coverage in lcov format at the end',
  }
  /** Of lines, in percent. */
  readonly coverageMin: Optional<number> = {
    type: values.percent,
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
    type: values.choice('pretty', 'json'),
    sentence: 'Log format: for people, or one JSON object per line',
    default: 'pretty',
  }
  readonly logOnly: Option<readonly string[]> = {
    type: values.methodPatterns,
    sentence: 'Log only these methods and what they change; * matches any letters',
    default: [],
  }
  readonly logExcept: Option<readonly string[]> = {
    type: values.methodPatterns,
    sentence: 'Do not log these methods, such as eth_get*',
    default: [],
  }
  readonly logChain: Optional<string> = {
    type: values.text(
      'NAME',
      'a name or number of a chain, or / for the default chain',
      /^(\/|[\w-]{1,64})$/,
    ),
    sentence: 'Log only the calls and blocks of this chain; / is the default chain',
    unset: 'all chains',
  }
  readonly logFile: Optional<string> = {
    type: values.file,
    sentence: 'Append the log to a file instead of printing it',
  }
  readonly noColor: Option<boolean> = off('Disable colors; NO_COLOR and FORCE_COLOR work too')
}

class ProcessTable {
  readonly config: Optional<string> = {
    type: values.file,
    sentence: 'JSON file with options, named as in createDevchain',
  }
  readonly readyFile: Optional<string> = {
    type: values.file,
    sentence: 'Write URL, accounts and keys to a file when ready',
  }
  readonly setup: Optional<string> = {
    type: values.text('COMMAND', 'one line of up to 4000 characters', /^[^\r\n]{1,4000}$/),
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
