// The path around an execution is our own; @ethereumjs/vm has another. Over random transactions of all types, on every
// hardfork, good ones and bad ones, both must come to the same: gas, status, logs, bloom, output, and state root.
// TWIN_RUNS=1000 runs more of them than a suite has time for.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressOfKey, keccak256, signDigest } from '../../../src/core/crypto/crypto.ts'
import { DevchainError } from '../../../src/core/errors.ts'
import { writeTypedRlp } from '../../../src/core/fastrlp/writer.ts'
import { type Address, type Hash, hexFromBytes, ZERO_ADDRESS } from '../../../src/core/hex.ts'
import type { BlockEnvironment, Executor, Outcome } from '../../../src/evm/executor.ts'
import { createExecutor } from '../../../src/evm/run/lazyexecutor.ts'
import { bloomOf } from '../../../src/protocol/blocks/bloom.ts'
import type { Log } from '../../../src/protocol/blocks/receipt.ts'
import { blobBaseFee, floorDataGas, intrinsicGas } from '../../../src/protocol/fees.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../../../src/protocol/forks.ts'
import {
  type AccessListEntry,
  type Authorization,
  type BlobFields,
  signTransaction,
  type Transaction,
  type TransactionType,
  type UnsignedTransaction,
} from '../../../src/protocol/transactions/transaction.ts'
import { decodeBlockTransaction } from '../../../src/protocol/transactions/transactiondecoding.ts'
import {
  nonceAt,
  stateRoot,
  type World,
  withBalance,
  withCode,
  withNonce,
} from '../../../src/state/world.ts'
import { assemble, calling, deploying, storing } from '../../support/evm/bytecode.ts'
import { LibraryChain, type LibraryOutcome } from './librarychain.ts'
import { BOB, blockWith, CONTRACT, ETHER, funded, MINER, OTHER, withProgram } from './stage.ts'

const RUNS = Number(process.env.TWIN_RUNS ?? 8)

/** Rich, rich, with little, and one whose address has code. */
const KEYS = [0x42, 0x43, 0x44, 0x45].map((byte) => new Uint8Array(32).fill(byte))
const [RICH, PEER, POOR, CODED] = KEYS.map(addressOfKey) as [Address, Address, Address, Address]

const NOBODY = `0x${'ee'.repeat(20)}` as Address
const IDENTITY = '0x0000000000000000000000000000000000000004' as Address

/** What a program is put together from; each leaves the stack as it was. */
const PIECES: readonly string[] = [
  '1 0 SSTORE',
  '0 0 SSTORE',
  '2 1 SSTORE',
  '0 SLOAD 1 ADD 0 SSTORE',
  '0 0 LOG0',
  '7 3 0 LOG1',
  'CALLER 9 40 0 LOG2',
  `${BOB} BALANCE POP`,
  `${MINER} BALANCE POP`,
  `${OTHER} EXTCODESIZE POP`,
  `${calling(OTHER)} POP`,
  `${calling(RICH)} POP`,
  `${calling(BOB, { value: '1' })} POP`,
  `${calling(BOB, { gas: '0' })} POP`,
  `${calling('0x03', { gas: '700' })} POP`,
  `0 0 0 0 0 ${OTHER} 20000 CALLCODE POP`,
  `${storing(deploying(assemble('1 0 SSTORE')))} 32 0 0 CREATE POP`,
  '0 0 0 CREATE POP',
  '50000 0 MSTORE 32 0 KECCAK256 POP',
  'GAS 2 SSTORE',
  'GASPRICE 3 SSTORE',
  'ORIGIN 4 SSTORE',
  'CALLVALUE 0 MSTORE',
]

/** How a program ends. */
const ENDS: readonly string[] = [
  'STOP',
  'INVALID',
  '32 0 RETURN',
  '32 0 REVERT',
  'ADD',
  `${BOB} SELFDESTRUCT`,
  'ADDRESS SELFDESTRUCT',
]

const program = fc
  .tuple(fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }), fc.constantFrom(...ENDS))
  .map(([pieces, end]) => [...pieces, end].join(' '))

const target = fc.constantFrom<Address | null>(
  ...[CONTRACT, CONTRACT, OTHER, BOB, NOBODY, RICH, PEER, CODED, MINER, IDENTITY, ZERO_ADDRESS],
  null,
)

/** Mostly the first. */
function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  const rest = others.map((value) => ({ weight: 1, arbitrary: fc.constant(value) }))
  return fc.oneof({ weight: 6 + 2 * others.length, arbitrary: fc.constant(usual) }, ...rest)
}

const word = fc.constantFrom(0n, 1n, 4n).map((value) => wordText(value))

const entry: fc.Arbitrary<AccessListEntry> = fc.record({
  address: fc.constantFrom(CONTRACT, OTHER, BOB, NOBODY, IDENTITY),
  storageKeys: fc.array(word, { maxLength: 3 }),
})

/** An authorization before it is signed. */
const permission = fc.record({
  signer: fc.nat({ max: 3 }),
  chainId: mostly(33n, 0n, 34n),
  address: fc.constantFrom(CONTRACT, OTHER, ZERO_ADDRESS, IDENTITY, NOBODY, PEER),
  nonceAhead: mostly(0n, 1n, 2n),
  flaw: mostly('none', 'high s', 'no parity', 'nobody'),
})

/** A transaction as far as it does not depend on the state that it meets. */
const plan = fc.record({
  type: fc.constantFrom<TransactionType>(0, 0, 1, 2, 2, 3, 4),
  isProtected: mostly(true, false),
  signer: mostly(0, 1, 2, 3),
  nonceAhead: mostly(0n, 1n, -1n),
  to: target,
  value: mostly(0n, 1n, 5n, ETHER, 1_000n * ETHER),
  gas: mostly('plenty', 'intrinsic', 'one less', 'floor', 'some', 'beyond the block'),
  price: mostly(20n, 7n, 6n, 0n, 10n ** 14n),
  tip: mostly(2n, 0n, 13n, 21n),
  data: fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc.nat({ max: 900 }).map((length) => new Uint8Array(length).fill(length)),
    fc.nat({ max: 900 }).map((length) => new Uint8Array(length)),
  ),
  initCode: program,
  accessList: fc.array(entry, { maxLength: 3 }),
  permissions: fc.array(permission, { maxLength: 3 }),
  blobs: fc.record({
    count: mostly(1, 0, 2, 6, 7, 10),
    version: mostly('01', '02'),
    price: mostly(10n ** 12n, 1n, 0n),
  }),
})

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never
type Permission = Plan['permissions'][number]

const executors: readonly Executor[] = [
  createExecutor({ evm: 'reference' }),
  createExecutor({ evm: 'auto' }),
]

describe.each(HARDFORKS)('on %s the executor', (hardfork) => {
  test('has the same outcomes as @ethereumjs/vm', async () => {
    const property = fc.asyncProperty(
      program,
      program,
      fc.array(plan, { minLength: 1, maxLength: 5 }),
      async (own, other, plans) => {
        for (const executor of executors) await compare(executor, hardfork, [own, other], plans)
      },
    )
    await fc.assert(property, { numRuns: RUNS, seed: HARDFORKS.indexOf(hardfork) })
  }, 600_000)
})

async function compare(
  executor: Executor,
  hardfork: Hardfork,
  [own, other]: readonly [string, string],
  plans: readonly Plan[],
): Promise<void> {
  const block = blockWith({
    hardfork,
    baseFee: isAtLeast(hardfork, 'london') ? 7n : 0n,
    excessBlobGas: isAtLeast(hardfork, 'cancun') ? 2n ** 24n : 0n,
  })
  let world = stage(own, other)
  const library = await LibraryChain.of(world, block)
  for (const each of plans) {
    const raw = signTransaction(transactionFrom(each, world, block), KEYS[each.signer]!).raw
    const ours = await run(executor, world, block, raw)
    const theirs = await library.run(raw)
    expect(ours && shown(ours)).toEqual(theirs && withOneWord(theirs))
    if (ours !== undefined) world = ours.world
    expect(stateRoot(world)).toBe(await library.stateRoot())
  }
}

/** Two contracts, and people of whom one has code at the address of a key. */
function stage(own: string, other: string): World {
  let world = withProgram(funded, OTHER, other)
  world = withBalance(withProgram(world, CONTRACT, own), CONTRACT, 5n)
  world = withBalance(withBalance(world, RICH, 100n * ETHER), PEER, ETHER)
  world = withNonce(withBalance(world, POOR, 2_000_000n), PEER, 3n)
  return withBalance(withCode(world, CODED, assemble('1 0 SSTORE')), CODED, ETHER)
}

/** @returns undefined when the transaction may not be in the block, or is none */
async function run(
  executor: Executor,
  world: World,
  block: BlockEnvironment,
  raw: Uint8Array,
): Promise<Outcome | undefined> {
  const { hardfork } = block
  try {
    const transaction = decodeBlockTransaction(raw, { hardfork, allowsImpersonated: false })
    return await executor.transact({ world, block, transaction })
  } catch (error) {
    if (error instanceof DevchainError) return undefined
    throw error
  }
}

function shown({ gasUsed, failure, output, logs, created }: Outcome): LibraryOutcome {
  return withOneWord({
    gasUsed,
    failure,
    output: hexFromBytes(output),
    logs: logs.map(printLog),
    bloom: hexFromBytes(bloomOf(logs)),
    created,
  })
}

/** Where gas and stack are both too short for an operation, the library names one or the other. */
function withOneWord(outcome: LibraryOutcome): LibraryOutcome {
  const { failure } = outcome
  const isShort = failure?.reason === 'out of gas' || failure?.reason.startsWith('stack ')
  return isShort
    ? { ...outcome, failure: { kind: 'halt', reason: 'too little gas or stack' } }
    : outcome
}

function printLog({ address, topics, data }: Log): string {
  return [address, ...topics, hexFromBytes(data)].join(' ')
}

function transactionFrom(each: Plan, world: World, block: BlockEnvironment): UnsignedTransaction {
  const { hardfork } = block
  const { type, to, value, price } = each
  const isFixed = type < 2
  const fields = {
    type,
    // before the fork of replay protection nobody has a chain id
    chainId:
      type === 0 && !(each.isProtected && isAtLeast(hardfork, 'spuriousDragon')) ? undefined : 33n,
    nonce: larger(0n, nonceAt(world, addressOfKey(KEYS[each.signer]!)) + each.nonceAhead),
    maxFeePerGas: price,
    maxPriorityFeePerGas: isFixed ? price : each.tip,
    to: type >= 3 ? (to ?? CONTRACT) : to,
    value,
    data: to === null ? assemble(each.initCode) : each.data,
    accessList: type === 0 ? [] : each.accessList,
    authorizationList:
      type === 4 ? each.permissions.map((permission) => authorizationOf(permission, world)) : [],
    blobs: type === 3 ? blobsOf(each, block) : undefined,
  }
  const from = addressOfKey(KEYS[each.signer]!)
  return { ...fields, gasLimit: gasLimitOf(each, { ...fields, from, gasLimit: 0n }, block) }
}

function gasLimitOf(
  { gas }: Plan,
  fields: UnsignedTransaction & Pick<Transaction, 'from'>,
  { hardfork, gasLimit }: BlockEnvironment,
): bigint {
  const intrinsic = intrinsicGas(fields, hardfork)
  switch (gas) {
    case 'intrinsic':
      return intrinsic
    case 'one less':
      return intrinsic - 1n
    case 'floor':
      return larger(intrinsic, floorDataGas(fields, hardfork))
    case 'some':
      return intrinsic + 30_000n
    case 'beyond the block':
      return gasLimit + 1n
    default:
      return intrinsic + 400_000n
  }
}

function blobsOf({ blobs }: Plan, block: BlockEnvironment): BlobFields {
  const { count, version, price } = blobs
  const versionedHashes = Array.from(
    { length: count },
    (_, i) => `0x${version}${String(i).repeat(62)}` as Hash,
  )
  const due = blobBaseFee(block.excessBlobGas, block.hardfork)
  // the price of the block, to the wei, is what 1n stands for
  return { maxFeePerBlobGas: price === 1n ? due : price, versionedHashes }
}

function authorizationOf(
  { signer, chainId, address, nonceAhead, flaw }: Permission,
  world: World,
): Authorization {
  const key = KEYS[signer]!
  const nonce = nonceAt(world, addressOfKey(key)) + nonceAhead
  const digest = keccak256(writeTypedRlp(5, [chainId, address, nonce]))
  const signature = signDigest(digest, key)
  const fields = { chainId, address, nonce, ...signature }
  if (flaw === 'high s') return { ...fields, s: ORDER - signature.s, yParity: 1 - fields.yParity }
  if (flaw === 'no parity') return { ...fields, yParity: 2 }
  return flaw === 'nobody' ? { ...fields, r: 5n } : fields
}

/** The order of the group of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function wordText(value: bigint): Hash {
  return `0x${value.toString(16).padStart(64, '0')}` as Hash
}
