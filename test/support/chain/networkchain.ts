// A chain as a network makes it, from frontier to the newest fork, built by the virtual machine of @ethereumjs: blocks
// pay before the merge, have uncles, then withdrawals, blobs and requests.
import {
  type Block,
  createBlock,
  createBlockHeader,
  genWithdrawalsTrieRoot,
  paramsBlock,
} from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import { RLP } from '@ethereumjs/rlp'
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { Blob4844Tx, createTxFromRLP, type TypedTransaction } from '@ethereumjs/tx'
import { createAccount, createAddressFromString, createWithdrawal } from '@ethereumjs/util'
import { createVM, runBlock } from '@ethereumjs/vm'
import { addressOfKey, keccak256 } from '../../../src/core/crypto/crypto.ts'
import { type Address, bytesFromHex, EMPTY_BYTES, type Hash } from '../../../src/core/hex.ts'
import { GAS_PER_BLOB } from '../../../src/protocol/fees.ts'
import {
  HARDFORKS,
  type Hardfork,
  isAtLeast,
  NEWEST_HARDFORK,
} from '../../../src/protocol/forks.ts'
import {
  signTransaction,
  type UnsignedTransaction,
} from '../../../src/protocol/transactions/transaction.ts'
import { systemContracts } from '../../../src/state/predeploys.ts'
import { assemble } from '../evm/bytecode.ts'

const CHAIN_ID = 3_503_995_874_084_926n
/** Signs all its transactions. */
export const NETWORK_KEY: Uint8Array = new Uint8Array(32).fill(0x37)
const SENDER = addressOfKey(NETWORK_KEY)
const MINER = `0x${'c0'.repeat(20)}` as Address
const UNCLE_MINER = `0x${'c1'.repeat(20)}` as Address
/** Has no account, and gets none by nothing. */
const NOBODY = `0x${'c2'.repeat(20)}` as Address
const GWEI = 10n ** 9n

type HeaderData = {
  -readonly [Key in keyof NonNullable<Parameters<typeof createBlockHeader>[0]>]: NonNullable<
    Parameters<typeof createBlockHeader>[0]
  >[Key]
}

/** Counts its calls in slot 0 and logs the count. */
const COUNTER = '0x00000000000000000000000000000000000c0de0' as Address
const COUNTER_CODE = assemble('0 SLOAD 1 ADD DUP1 0 SSTORE 0 MSTORE 7 32 0 LOG1')

/** Seconds between blocks. */
const SECONDS = 10n

/** Blocks of each fork, block 0 among those of the first. */
export const BLOCKS_PER_FORK: bigint = 3n

/** The first block of each fork. */
function startOf(fork: Hardfork): bigint {
  return BigInt(HARDFORKS.indexOf(fork)) * BLOCKS_PER_FORK
}

const timeOf = (fork: Hardfork): number => Number(startOf(fork) * SECONDS)
const blockOf = (fork: Hardfork): number => Number(startOf(fork))

const DIFFICULTY = 131_072n

interface RawAccount {
  readonly balance: string
  readonly code?: string
}

const ALLOC: Readonly<Record<string, RawAccount>> = Object.fromEntries([
  [SENDER.slice(2), { balance: `0x${(10n ** 24n).toString(16)}` }],
  [COUNTER.slice(2), { balance: '0x1', code: textOf(COUNTER_CODE) }],
  ...systemContracts('amsterdam').map(({ address, code }) => [
    address.slice(2),
    { balance: '0x1', code: textOf(code) },
  ]),
])

const GAS_LIMIT = 37_707_296n

/** The genesis file, as other nodes write it. */
export const networkGenesis: Readonly<Record<string, unknown>> = {
  config: {
    chainId: Number(CHAIN_ID),
    homesteadBlock: blockOf('homestead'),
    eip150Block: blockOf('tangerineWhistle'),
    eip155Block: blockOf('spuriousDragon'),
    eip158Block: blockOf('spuriousDragon'),
    byzantiumBlock: blockOf('byzantium'),
    constantinopleBlock: blockOf('constantinople'),
    petersburgBlock: blockOf('petersburg'),
    istanbulBlock: blockOf('istanbul'),
    muirGlacierBlock: blockOf('istanbul'),
    berlinBlock: blockOf('berlin'),
    londonBlock: blockOf('london'),
    mergeNetsplitBlock: blockOf('paris'),
    shanghaiTime: timeOf('shanghai'),
    cancunTime: timeOf('cancun'),
    pragueTime: timeOf('prague'),
    osakaTime: timeOf('osaka'),
    bpo1Time: timeOf('bpo1'),
    bpo2Time: timeOf('bpo2'),
    amsterdamTime: timeOf('amsterdam'),
    terminalTotalDifficulty: Number(startOf('paris') * DIFFICULTY),
    ethash: {},
    blobSchedule: {
      cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 },
      prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 },
      osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 },
      bpo1: { target: 10, max: 15, baseFeeUpdateFraction: 8_346_193 },
      bpo2: { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671 },
    },
  },
  nonce: '0x0',
  timestamp: '0x0',
  extraData: '0x6e6574776f726b',
  gasLimit: `0x${GAS_LIMIT.toString(16)}`,
  difficulty: `0x${DIFFICULTY.toString(16)}`,
  mixHash: `0x${'00'.repeat(32)}`,
  coinbase: `0x${'00'.repeat(20)}`,
  alloc: ALLOC,
  number: '0x0',
  gasUsed: '0x0',
  parentHash: `0x${'00'.repeat(32)}`,
  baseFeePerGas: null,
  excessBlobGas: null,
  blobGasUsed: null,
}

function textOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

/** The fork of a block of this chain. */
export function forkAt(number: bigint): Hardfork {
  return HARDFORKS[Number(number / BLOCKS_PER_FORK)] ?? HARDFORKS.at(-1)!
}

function commonOf(fork: Hardfork): Common {
  return new Common({
    chain: { ...Mainnet, chainId: CHAIN_ID.toString() },
    hardfork: fork === 'frontier' ? 'chainstart' : fork,
    params: paramsBlock,
    // blocks hold the hashes of blobs only
    customCrypto: { kzg: {} as never },
  })
}

/** The blocks of the chain as bytes, from block 1 on. */
export async function networkBlocks(genesisHash: Hash): Promise<Uint8Array[]> {
  const stateManager = new MerkleStateManager()
  for (const [digits, { balance, code }] of Object.entries(ALLOC)) {
    const address = createAddressFromString(`0x${digits}`)
    await stateManager.putAccount(address, createAccount({ balance: BigInt(balance) }))
    if (code !== undefined) await stateManager.putCode(address, bytesFromHex(code))
  }
  let nonce = 0n
  let parent = genesisParent(genesisHash)
  const older: { block: Parent; parent: Parent }[] = []
  const blocks: Uint8Array[] = []
  for (let number = 1n; number < startOf(NEWEST_HARDFORK) + BLOCKS_PER_FORK; number++) {
    const fork = forkAt(number)
    const common = commonOf(fork)
    const transactions = transactionsOf(number, fork, nonce)
    nonce += BigInt(transactions.length)
    const uncleOf =
      number % BLOCKS_PER_FORK === 2n && !isAtLeast(fork, 'paris') ? older.at(-2) : undefined
    const block = await draft({ number, fork, common, parent, transactions, uncleOf })
    const sealed = await generated(block, common, stateManager)
    blocks.push(sealed.serialize())
    const next = parentOf(sealed)
    older.push({ block: next, parent })
    parent = next
  }
  return blocks
}

/** What a block follows from. */
interface Parent {
  readonly hash: Uint8Array
  readonly number: bigint
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly baseFee: bigint | undefined
  readonly header: Block['header'] | undefined
}

function genesisParent(hash: Hash): Parent {
  const none = { number: 0n, gasUsed: 0n, baseFee: undefined, header: undefined }
  return { ...none, hash: bytesFromHex(hash), gasLimit: GAS_LIMIT }
}

function parentOf(block: Block): Parent {
  const { number, gasLimit, gasUsed, baseFeePerGas } = block.header
  return {
    hash: block.hash(),
    number,
    gasLimit,
    gasUsed,
    baseFee: baseFeePerGas,
    header: block.header,
  }
}

interface Draft {
  readonly number: bigint
  readonly fork: Hardfork
  readonly common: Common
  readonly parent: Parent
  readonly transactions: readonly Uint8Array[]
  /** A block of which the uncle is a sibling. */
  readonly uncleOf: { readonly block: Parent; readonly parent: Parent } | undefined
}

/** A block without what comes of running it. */
async function draft({
  number,
  fork,
  common,
  parent,
  transactions,
  uncleOf,
}: Draft): Promise<Block> {
  const uncles = uncleOf === undefined ? [] : [uncleHeader(uncleOf.block, uncleOf.parent)]
  const withdrawals = withdrawalsOf(number).map((data) => createWithdrawal(data))
  const hasWithdrawals = isAtLeast(fork, 'shanghai')
  const signed = transactions.map((raw): TypedTransaction => createTxFromRLP(raw, { common }))
  const blobs = signed.reduce(
    (sum, each) => sum + (each instanceof Blob4844Tx ? each.blobVersionedHashes.length : 0),
    0,
  )
  const header: HeaderData = {
    ...headerOf(number, fork, common, parent),
    coinbase: createAddressFromString(MINER),
    extraData: new TextEncoder().encode('network'),
    uncleHash: keccak256(RLP.encode(uncles.map((uncle) => uncle.raw()))),
  }
  if (hasWithdrawals) header.withdrawalsRoot = await genWithdrawalsTrieRoot(withdrawals)
  if (isAtLeast(fork, 'cancun')) header.blobGasUsed = BigInt(blobs) * GAS_PER_BLOB
  return createBlock(
    {
      header,
      transactions: signed,
      uncleHeaders: uncles,
      ...(hasWithdrawals ? { withdrawals } : {}),
    },
    { common },
  )
}

function uncleHeader({ number }: Parent, parent: Parent): Block['header'] {
  const fork = forkAt(number)
  const common = commonOf(fork)
  const coinbase = createAddressFromString(UNCLE_MINER)
  const extraData = new TextEncoder().encode('uncle')
  const header = { ...headerOf(number, fork, common, parent), coinbase, extraData }
  return createBlockHeader(header, { common })
}

/** Something for an account, and nothing for another. */
function withdrawalsOf(number: bigint) {
  const address = createAddressFromString(UNCLE_MINER)
  return [
    { index: 2n * number, validatorIndex: 7n, address, amount: 3n },
    {
      index: 2n * number + 1n,
      validatorIndex: 8n,
      address: createAddressFromString(NOBODY),
      amount: 0n,
    },
  ]
}

function headerOf(number: bigint, fork: Hardfork, common: Common, parent: Parent): HeaderData {
  const isFirstOfLondon = isAtLeast(fork, 'london') && parent.baseFee === undefined
  const mark = new Uint8Array(32).fill(Number(number))
  const header: HeaderData = {
    parentHash: parent.hash,
    number,
    timestamp: number * SECONDS,
    gasLimit: (isFirstOfLondon ? 2n : 1n) * parent.gasLimit + 1n,
    difficulty: isAtLeast(fork, 'paris') ? 0n : difficultyOf(number, common, parent),
    mixHash: mark,
  }
  if (isAtLeast(fork, 'london')) {
    header.baseFeePerGas = isFirstOfLondon ? GWEI : parent.header!.calcNextBaseFee()
  }
  if (isAtLeast(fork, 'cancun')) {
    header.excessBlobGas =
      parent.header!.excessBlobGas === undefined ? 0n : parent.header!.calcNextExcessBlobGas(common)
    header.parentBeaconBlockRoot = mark
  }
  if (isAtLeast(fork, 'amsterdam')) header.slotNumber = 5n * number
  return header
}

/** As the other implementation has it. */
function difficultyOf(number: bigint, common: Common, { header }: Parent): bigint {
  const first = { number: 0n, timestamp: 0n, difficulty: DIFFICULTY }
  const parent = header ?? createBlockHeader(first, { common: commonOf('frontier') })
  const timestamp = number * SECONDS
  return createBlockHeader({ number, timestamp }, { common }).ethashCanonicalDifficulty(parent)
}

/** Runs the block on the state, and fills in what came of it. */
async function generated(
  block: Block,
  common: Common,
  stateManager: MerkleStateManager,
): Promise<Block> {
  const vm = await createVM({ common, stateManager })
  let sealed: Block | undefined
  vm.events.on('afterBlock', ({ block: done }) => {
    sealed = done
  })
  await runBlock(vm, { block, generate: true, skipBlockValidation: true })
  return sealed!
}

/** Calls the counter in each way that the fork knows, creates a contract, and asks the system contracts for something. */
function transactionsOf(number: bigint, fork: Hardfork, firstNonce: bigint): Uint8Array[] {
  const types = ([0, 1, 2, 3, 4] as const).filter((type) =>
    isAtLeast(
      fork,
      ({ 0: 'frontier', 1: 'berlin', 2: 'london', 3: 'cancun', 4: 'prague' } as const)[type],
    ),
  )
  const price = isAtLeast(fork, 'london') ? 20n * GWEI : GWEI
  const plain: UnsignedTransaction = {
    type: 0,
    chainId: isAtLeast(fork, 'spuriousDragon') ? CHAIN_ID : undefined,
    nonce: 0n,
    gasLimit: isAtLeast(fork, 'amsterdam') ? 500_000n : 200_000n,
    maxFeePerGas: price,
    maxPriorityFeePerGas: price,
    to: COUNTER,
    value: 1n,
    data: EMPTY_BYTES,
    accessList: [],
    authorizationList: [],
  }
  const calls = types.map((type): UnsignedTransaction => ({ ...plain, ...changesOf(type, number) }))
  const creation = { ...plain, to: null, value: 0n, data: assemble('1 0 MSTORE 32 0 RETURN') }
  const withdrawal: UnsignedTransaction = {
    ...plain,
    to: systemContracts('prague')[2]!.address,
    data: new Uint8Array(56).fill(9),
    value: 10n ** 15n,
  }
  const all = isAtLeast(fork, 'prague') ? [...calls, creation, withdrawal] : [...calls, creation]
  return all.map((unsigned, i) =>
    signTransaction({ ...unsigned, nonce: firstNonce + BigInt(i) }, NETWORK_KEY).raw.slice(),
  )
}

function changesOf(type: 0 | 1 | 2 | 3 | 4, number: bigint): Partial<UnsignedTransaction> {
  const slot = `0x${'00'.repeat(32)}` as Hash
  const accessList = [{ address: COUNTER, storageKeys: [slot] }]
  if (type === 0) return {}
  if (type === 1) return { type, accessList }
  const fees = { type, accessList, maxPriorityFeePerGas: GWEI } as const
  if (type === 2) return fees
  if (type === 3) {
    const count = Number(number % 6n) + 1
    const versionedHashes = Array.from(
      { length: count },
      (_, i) => `0x01${i.toString(16).padStart(62, '0')}` as Hash,
    )
    return { ...fees, blobs: { maxFeePerBlobGas: GWEI, versionedHashes } }
  }
  const nobody = { chainId: 0n, address: COUNTER, nonce: 0n, yParity: 0, r: 1n, s: 1n }
  return { ...fees, authorizationList: [nobody] }
}
