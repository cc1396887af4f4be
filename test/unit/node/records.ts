// Blocks made by hand, for tests that ask questions about a chain without running one.
import { keccakHash } from '../../../src/core/crypto/crypto.ts'
import {
  type Address,
  type Hash,
  paddedBytes,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../../src/core/hex.ts'
import type { Executor } from '../../../src/evm/executor.ts'
import { emptyBook } from '../../../src/node/accounts/accounts.ts'
import { Chain } from '../../../src/node/chain/chain.ts'
import { OWN_BEHAVIOUR } from '../../../src/node/ledger/behaviour.ts'
import type { BlockRecord, ExecutedTransaction } from '../../../src/node/ledger/blockrecord.ts'
import { appendBlock, type BlockTree, treeFrom } from '../../../src/node/ledger/blocktree.ts'
import type { ChainState, Settings } from '../../../src/node/ledger/chainstate.ts'
import { newClock } from '../../../src/node/ledger/clock.ts'
import { emptyPool, type Pool } from '../../../src/node/pool/pool.ts'
import { chainParameters } from '../../../src/options/derived.ts'
import { OPTIONS } from '../../../src/options/table.ts'
import { bloomOf } from '../../../src/protocol/blocks/bloom.ts'
import type { Header } from '../../../src/protocol/blocks/header.ts'
import type { Log } from '../../../src/protocol/blocks/receipt.ts'
import { blobRulesOf } from '../../../src/protocol/fees.ts'
import type { Transaction } from '../../../src/protocol/transactions/transaction.ts'
import { emptyWorld } from '../../../src/state/world.ts'

/** A transaction of a block by hand. Gas and wei. */
export interface Sketch {
  readonly logs?: readonly Log[]
  readonly gasUsed?: bigint
  readonly price?: bigint
}

/** What a block by hand is like, where it matters. */
export interface BlockSketch {
  readonly transactions?: readonly Sketch[]
  readonly header?: Partial<Header>
  /** Distinguishes blocks of the same number. */
  readonly salt?: number
}

/** The 32-byte word of a small number: a topic, or a hash. */
export function word(value: number): Hash {
  return `0x${value.toString(16).padStart(64, '0')}` as Hash
}

/** The address of a small number. */
export function addressOf(value: number): Address {
  return `0x${value.toString(16).padStart(40, '0')}` as Address
}

export function logOf(address: number, ...topics: number[]): Log {
  return {
    address: addressOf(address),
    topics: topics.map(word),
    data: Uint8Array.of(topics.length),
  }
}

export function transactionOf(seed: string, price = 0n): Transaction {
  return {
    type: 0,
    chainId: 33n,
    nonce: 0n,
    gasLimit: 21_000n,
    maxFeePerGas: price,
    maxPriorityFeePerGas: price,
    to: ZERO_ADDRESS,
    value: 0n,
    data: new Uint8Array(),
    accessList: [],
    authorizationList: [],
    from: addressOf(1),
    hash: keccakHash(new TextEncoder().encode(seed)),
    raw: new Uint8Array(),
    v: 0n,
    r: 1n,
    s: 1n,
  }
}

export function recordOf(number: bigint, parentHash: Hash, sketch: BlockSketch = {}): BlockRecord {
  const { transactions = [], header = {}, salt = 0 } = sketch
  const executed = transactions.map((each, i) => executedOf(`${number}/${salt}/${i}`, each))
  const hash = keccakHash(paddedBytes(number * 1000n + BigInt(salt), 32))
  return {
    block: {
      header: {
        ...headerOf(number, parentHash),
        logsBloom: bloomOf(executed.flatMap(({ receipt }) => receipt.logs)),
        gasUsed: executed.reduce((sum, { receipt }) => sum + receipt.gasUsed, 0n),
        ...header,
      },
      hash,
      transactions: executed.map(({ transaction }) => transaction),
      uncles: [],
      withdrawals: [],
      size: 500,
    },
    executed,
    world: emptyWorld,
    totalDifficulty: number + 1n,
  }
}

function executedOf(
  seed: string,
  { logs = [], gasUsed = 21_000n, price = 0n }: Sketch,
): ExecutedTransaction {
  return {
    transaction: transactionOf(seed, price),
    receipt: {
      type: 0,
      status: true,
      root: undefined,
      cumulativeGasUsed: gasUsed,
      gasUsed,
      effectiveGasPrice: price,
      logsBloom: bloomOf(logs),
      logs,
      contractAddress: null,
    },
    output: new Uint8Array(),
    failure: undefined,
    consoleLines: [],
  }
}

function headerOf(number: bigint, parentHash: Hash): Omit<Header, 'logsBloom' | 'gasUsed'> {
  return {
    parentHash,
    sha3Uncles: ZERO_HASH,
    miner: ZERO_ADDRESS,
    stateRoot: ZERO_HASH,
    transactionsRoot: ZERO_HASH,
    receiptsRoot: ZERO_HASH,
    difficulty: 1n,
    number,
    gasLimit: 30_000_000n,
    timestamp: 1_700_000_000n + number,
    extraData: new Uint8Array(),
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
    baseFeePerGas: 0n,
    withdrawalsRoot: ZERO_HASH,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_HASH,
    requestsHash: ZERO_HASH,
  }
}

/** A tree of a genesis and the sketched blocks after it. */
export function treeOf(...sketches: readonly BlockSketch[]): BlockTree {
  return extend(treeFrom(recordOf(0n, ZERO_HASH)), ...sketches)
}

/** The tree with the sketched blocks after its head. */
export function extend(tree: BlockTree, ...sketches: readonly BlockSketch[]): BlockTree {
  return sketches.reduce((grown, sketch) => {
    const number = BigInt(grown.canonical.length)
    const parent = grown.canonical.at(grown.canonical.length - 1)
    return appendBlock(grown, recordOf(number, parent?.block.hash ?? ZERO_HASH, sketch))
  }, tree)
}

const settings: Settings = {
  coinbase: OPTIONS.coinbase.default,
  blockGasLimit: OPTIONS.gasLimit.default,
  difficulty: OPTIONS.difficulty.default,
  extraData: new Uint8Array(),
  defaultGas: undefined,
  gasPrice: OPTIONS.gasPrice.default,
  tip: OPTIONS.tip.default,
  pinnedBaseFee: true,
  minGasPrice: 0n,
  nextBaseFee: undefined,
  nextPrevRandao: undefined,
  laterPrevRandao: undefined,
}

/** A state with this tree; everything else as on a fresh chain. */
export function stateOf(
  tree: BlockTree,
  { pool = emptyPool, ...changed }: Partial<Settings> & { readonly pool?: Pool } = {},
): ChainState {
  return {
    config: {
      source: chainParameters({}),
      chainId: OPTIONS.chainId.default,
      networkId: OPTIONS.chainId.default,
      options: chainParameters({}),
      hardforkAt: () => 'osaka',
      blobRulesAt: () => blobRulesOf('osaka'),
      bombDelayAt: () => 0n,
      forkPoints: { blocks: [], times: [] },
      ruleset: 'own',
      hasOwnGenesis: true,
      terminalTotalDifficulty: undefined,
      depositContract: undefined,
      behaviour: OWN_BEHAVIOUR,
      initialBaseFee: 0n,
      scryptCost: 2,
    },
    tree,
    pool,
    blobs: [],
    batches: [],
    clock: newClock({ kind: 'frozen' }),
    settings: { ...settings, ...changed },
    mining: { mode: { kind: 'instant' }, stopped: false },
    accounts: emptyBook,
    parentChainHeight: 0,
    newestSnapshot: undefined,
    namedSnapshots: new Map(),
    left: [],
    nextSnapshotId: 1,
    resets: 0,
    origin: undefined,
  }
}

/** Says that a test ran something which it must not. */
function unexpected(): never {
  throw new Error('nothing is run in this test')
}

/** An executor for chains that only hold blocks by hand. */
export const noExecutor: Executor = {
  transact: unexpected,
  call: unexpected,
  beginBlock: unexpected,
  endBlock: unexpected,
  rest: unexpected,
  findWrongBlob: unexpected,
  close: () => undefined,
}

/** A chain that holds `state`, and whose wall time the test moves. */
export function chainOf(
  state: ChainState,
  executor: Executor = noExecutor,
): { chain: Chain; clock: { nowMs: number }; bugs: unknown[] } {
  const clock = { nowMs: 1_700_000_000_000 }
  const bugs: unknown[] = []
  const environment = {
    now: () => clock.nowMs,
    random: (length: number) => new Uint8Array(length),
    onBug: (error: unknown) => bugs.push(error),
  }
  const parts = { state, executor, environment }
  return { chain: new Chain(parts), clock, bugs }
}

/** Puts another tree, and perhaps another pool, into the chain, as a command would. */
export function setTree(chain: Chain, tree: BlockTree, pool?: Pool): Promise<void> {
  return chain.update((state) => ({
    state: { ...state, tree, pool: pool ?? state.pool },
    value: undefined,
  }))
}
