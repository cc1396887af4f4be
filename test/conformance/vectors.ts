// Official state tests as data: where they are, what a case says, and how it becomes a job for the executor.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Address,
  bytesFromHex,
  EMPTY_BYTES,
  type Hash,
  ZERO_HASH,
} from '../../src/core/hex.ts'
import type { BlockEnvironment, TransactionJob } from '../../src/evm/executor.ts'
import type { BlobRules } from '../../src/protocol/fees.ts'
import { parseHardfork } from '../../src/protocol/forks.ts'
import type {
  Authorization,
  Transaction,
  TransactionType,
} from '../../src/protocol/transactions/transaction.ts'
import {
  emptyAccount,
  emptyWorld,
  type World,
  withAccount,
  withCode,
  withStorage,
} from '../../src/state/world.ts'

type Blobs = Transaction['blobs']

/** A file of state tests, by the tests' names. */
export type StateTests = Readonly<Record<string, StateTest>>

export interface StateTest {
  readonly env: Readonly<Record<string, string>>
  readonly pre: Readonly<Record<string, RawAccount>>
  readonly transaction: RawTransaction
  readonly post: Readonly<Record<string, readonly Expectation[]>>
  readonly config?: {
    readonly chainid?: string
    readonly blobSchedule?: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

export interface Expectation {
  /** State root after the transaction. */
  readonly hash: string
  /** Keccak-256 of the RLP of the logs. */
  readonly logs: string
  readonly indexes: { readonly data: number; readonly gas: number; readonly value: number }
  readonly expectException?: string
}

interface RawAccount {
  readonly nonce: string
  readonly balance: string
  readonly code: string
  readonly storage: Readonly<Record<string, string>>
}

interface RawTransaction {
  readonly nonce: string
  readonly gasPrice?: string
  readonly maxFeePerGas?: string
  readonly maxPriorityFeePerGas?: string
  readonly maxFeePerBlobGas?: string
  readonly blobVersionedHashes?: readonly string[]
  readonly gasLimit: readonly string[]
  readonly to: string
  readonly value: readonly string[]
  readonly data: readonly string[]
  readonly sender: string
  readonly accessLists?: readonly (readonly RawAccessListEntry[] | null)[]
  readonly authorizationList?: readonly Readonly<Record<string, string>>[]
}

interface RawAccessListEntry {
  readonly address: string
  readonly storageKeys: readonly string[]
}

/** The folder of the vectors: `DEVCHAIN_VECTORS`, or `shared/vectors` beside the repository; undefined: absent. */
export function vectorsFolder(): string | undefined {
  const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
  const named = process.env.DEVCHAIN_VECTORS
  const folder = join(named ?? resolve(repository, '../shared/vectors'), 'state')
  if (existsSync(folder)) return folder
  if (named !== undefined) throw new Error(`DEVCHAIN_VECTORS: there is no folder ${folder}`)
  return undefined
}

export function vectorFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
}

export function readStateTests(folder: string, file: string): StateTests {
  return JSON.parse(readFileSync(join(folder, file), 'utf8')) as StateTests
}

/** The accounts that a test begins with. */
export function worldOf(pre: StateTest['pre']): World {
  let world = emptyWorld
  for (const [name, { nonce, balance, code, storage }] of Object.entries(pre)) {
    const address = name.toLowerCase() as Address
    world = withAccount(world, {
      ...emptyAccount(address),
      nonce: BigInt(nonce),
      balance: BigInt(balance),
    })
    if (code !== '0x') world = withCode(world, address, bytesFromHex(code))
    for (const [slot, value] of Object.entries(storage)) {
      world = withStorage(world, address, BigInt(slot), BigInt(value))
    }
  }
  return world
}

/** The job of one expectation. */
export function jobOf(test: StateTest, fork: string, expectation: Expectation): TransactionJob {
  return {
    world: worldOf(test.pre),
    block: blockOf(test, fork),
    transaction: transactionOf(test, expectation.indexes),
  }
}

function blockOf({ env, config }: StateTest, fork: string): BlockEnvironment {
  const hardfork = parseHardfork(fork)
  const number = (name: string): bigint => BigInt(env[name] ?? '0x0')
  const previous = env.previousHash as Hash | undefined
  return {
    chainId: BigInt(config?.chainid ?? '0x1'),
    hardfork,
    number: number('currentNumber'),
    timestamp: number('currentTimestamp'),
    coinbase: (env.currentCoinbase ?? '').toLowerCase() as Address,
    gasLimit: number('currentGasLimit'),
    difficulty: number('currentDifficulty'),
    prevRandao: (env.currentRandom ?? ZERO_HASH) as Hash,
    baseFee: number('currentBaseFee'),
    excessBlobGas: number('currentExcessBlobGas'),
    slotNumber: 0n,
    blobRules: blobRulesOf(config?.blobSchedule?.[fork]),
    blockHash: (asked) => (asked === number('currentNumber') - 1n ? previous : undefined),
  }
}

function blobRulesOf(entry: Readonly<Record<string, string>> | undefined): BlobRules | undefined {
  if (entry === undefined) return undefined
  const number = (name: string): bigint => BigInt(entry[name] ?? '0x0')
  const updateFraction = number('baseFeeUpdateFraction')
  return { target: number('target'), max: number('max'), updateFraction }
}

function transactionOf(test: StateTest, indexes: Expectation['indexes']): Transaction {
  const { transaction } = test
  const gasPrice = transaction.gasPrice ?? '0x0'
  const type = typeOf(transaction)
  const accessList = transaction.accessLists?.[indexes.data] ?? []
  return {
    type,
    chainId: BigInt(test.config?.chainid ?? '0x1'),
    nonce: BigInt(transaction.nonce),
    gasLimit: BigInt(at(transaction.gasLimit, indexes.gas)),
    maxFeePerGas: BigInt(transaction.maxFeePerGas ?? gasPrice),
    maxPriorityFeePerGas: BigInt(transaction.maxPriorityFeePerGas ?? gasPrice),
    to: transaction.to === '' ? null : (transaction.to.toLowerCase() as Address),
    value: BigInt(at(transaction.value, indexes.value)),
    data: bytesFromHex(at(transaction.data, indexes.data)),
    accessList: accessList.map(({ address, storageKeys }) => ({
      address: address.toLowerCase() as Address,
      storageKeys: storageKeys.map((key) => key.toLowerCase() as Hash),
    })),
    authorizationList: (transaction.authorizationList ?? []).map(authorizationOf),
    blobs: blobsOf(transaction),
    from: transaction.sender.toLowerCase() as Address,
    // the executor trusts the sender, and reads neither signature nor encoding
    hash: ZERO_HASH,
    raw: EMPTY_BYTES,
    v: 27n,
    r: 1n,
    s: 2n,
  }
}

function blobsOf({ maxFeePerBlobGas, blobVersionedHashes = [] }: RawTransaction): Blobs {
  if (maxFeePerBlobGas === undefined) return undefined
  return {
    maxFeePerBlobGas: BigInt(maxFeePerBlobGas),
    versionedHashes: blobVersionedHashes as readonly Hash[],
  }
}

function typeOf(transaction: RawTransaction): TransactionType {
  if (transaction.maxFeePerBlobGas !== undefined) return 3
  if (transaction.authorizationList !== undefined) return 4
  if (transaction.maxFeePerGas !== undefined) return 2
  return transaction.accessLists === undefined ? 0 : 1
}

function authorizationOf(raw: Readonly<Record<string, string>>): Authorization {
  const number = (name: string): bigint => BigInt(raw[name] ?? '0x0')
  return {
    chainId: number('chainId'),
    address: (raw.address ?? '').toLowerCase() as Address,
    nonce: number('nonce'),
    // some tests hold a parity that is none, which no authorization may have
    yParity: Number(raw.yParity ?? raw.v) as 0 | 1,
    r: number('r'),
    s: number('s'),
  }
}

function at(list: readonly string[], index: number): string {
  const item = list[index]
  if (item === undefined) throw new Error(`the test has no entry ${index}`)
  return item
}
