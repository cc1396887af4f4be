// Cases of the fuzzer: a world, a fork, some messages one after another, as plain JSON that a fixture can hold.
import { addressOfKey, keccak256, signDigest } from '../../src/core/crypto/crypto.ts'
import {
  type Address,
  bytesFromBigint,
  bytesFromHex,
  concatBytes,
  type Hash,
} from '../../src/core/hex.ts'
import { encodeRlp } from '../../src/core/rlp.ts'
import type { BlockEnvironment } from '../../src/evm/executor.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../../src/protocol/forks.ts'
import type { Authorization, TransactionType } from '../../src/protocol/transactions/transaction.ts'
import {
  emptyAccount,
  emptyWorld,
  type World,
  withAccount,
  withCode,
  withStorage,
} from '../../src/state/world.ts'
import { assemble } from '../support/evm/bytecode.ts'
import { Programs } from './programs.ts'
import { Random } from './random.ts'

/** Lines for the assembler; shrinking leaves some out. */
export type Code = readonly string[]

export interface CaseAccount {
  readonly address: Address
  /** Decimal. */
  readonly balance: string
  readonly nonce: number
  readonly code: Code
  /** Slots and values, decimal. */
  readonly storage: Readonly<Record<string, string>>
}

export interface CaseMessage {
  /** A transaction in a block, or a call as in `eth_call`, which reports its accesses. */
  readonly kind: 'transaction' | 'call'
  /** Null: a creation, of which `code` is the init code. */
  readonly to: Address | null
  /** 0 to 4; left out in older cases, which have the newest that fits. */
  readonly type?: TransactionType
  /** Decimal. */
  readonly value: string
  /** Hex. */
  readonly data: string
  readonly code: Code
  /** As text where a number is not exact. */
  readonly gas: number | string
  readonly accessList: readonly { readonly address: Address; readonly slots: readonly number[] }[]
  /** The one signer's, by the nonces that they name. */
  readonly delegations: readonly { readonly address: Address; readonly nonce: number }[]
}

export interface Case {
  readonly name: string
  readonly hardfork: Hardfork
  /** Wei per gas; the messages pay a little more. */
  readonly baseFee: number
  readonly coinbase: Address
  readonly memoryLimit?: number
  readonly codeSizeLimit?: number
  readonly accounts: readonly CaseAccount[]
  readonly messages: readonly CaseMessage[]
}

export const SENDER: Address = '0x00000000000000000000000000000000000a11ce' as Address

const CONTRACTS = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}` as Address)
const PEOPLE = ['d0', 'd1'].map((byte) => `0x${byte.repeat(20)}` as Address)
const COINBASE = `0x${'c0'.repeat(20)}` as Address

const KEY = new Uint8Array(32).fill(0x77)

/** Who signs authorizations. */
export const SIGNER: Address = addressOfKey(KEY)

const CHAIN_ID = 33n

/** The case of a seed. @param given a hardfork in place of a random one */
export function caseOf(seed: number, given?: Hardfork): Case {
  const random = new Random(seed)
  const hardfork = given ?? forkOf(random)
  const addresses = [...CONTRACTS, ...PEOPLE, SENDER, COINBASE, SIGNER]
  const programs = new Programs({ random, hardfork, addresses })
  return {
    name: `seed ${seed}`,
    hardfork,
    baseFee: isAtLeast(hardfork, 'london') && random.percent(50) ? 7 : 0,
    coinbase: random.percent(90) ? COINBASE : random.pick([CONTRACTS[0] ?? COINBASE, SENDER]),
    ...(random.percent(3) ? { memoryLimit: random.between(100, 20_000) } : {}),
    ...(random.percent(3) ? { codeSizeLimit: random.between(1, 200) } : {}),
    accounts: accountsOf(random, programs, hardfork),
    messages: Array.from({ length: random.between(1, 3) }, () =>
      messageOf(random, programs, hardfork),
    ),
  }
}

/** Mostly the newest, where most chains are. */
function forkOf(random: Random): Hardfork {
  return random.weighted([
    [45, 'osaka' as const],
    [10, 'prague' as const],
    [8, 'cancun' as const],
    [37, random.pick(HARDFORKS)],
  ])
}

function accountsOf(random: Random, programs: Programs, hardfork: Hardfork): CaseAccount[] {
  const contracts = CONTRACTS.slice(0, random.between(1, 3)).map(
    (address): CaseAccount => ({
      address,
      balance: String(random.pick([0, 0, 5, 1_000_000])),
      nonce: 1,
      code: programs.program(random.between(1, 8)),
      storage: storageOf(random),
    }),
  )
  const bare = { nonce: 0, code: [], storage: {} }
  const people = PEOPLE.filter(() => random.percent(40)).map(
    (address): CaseAccount => ({ ...bare, address, balance: String(random.pick([0, 1])) }),
  )
  const delegated: CaseAccount = {
    ...bare,
    address: SIGNER,
    balance: '9',
    nonce: 1,
    code: [`=ef0100${random.pick([...CONTRACTS, SIGNER]).slice(2)}`],
  }
  const isDelegated = isAtLeast(hardfork, 'prague') && random.percent(30)
  return [...contracts, ...people, ...(isDelegated ? [delegated] : [])]
}

function storageOf(random: Random): Record<string, string> {
  const slots = Array.from({ length: random.below(4) }, () => random.below(5))
  return Object.fromEntries(slots.map((slot) => [String(slot), String(random.between(1, 300))]))
}

function messageOf(random: Random, programs: Programs, hardfork: Hardfork): CaseMessage {
  const to = random.weighted<Address | null>([
    [16, random.pick(CONTRACTS)],
    [3, null],
    [1, random.pick([...PEOPLE, SIGNER])],
    [1, `0x${random.between(1, 18).toString(16).padStart(40, '0')}` as Address],
  ])
  const hasList = isAtLeast(hardfork, 'berlin') && random.percent(15)
  const mayDelegate = isAtLeast(hardfork, 'prague') && to !== null
  if (isAtLeast(hardfork, 'amsterdam')) return amsterdamMessage(random, programs, to)
  return {
    kind: random.percent(50) ? 'transaction' : 'call',
    to,
    value: String(random.pick([0, 0, 1, 1_000])),
    data: `0x${random.digits(random.pick([0, 4, 36, 100]))}`,
    code: to === null ? programs.program(random.between(0, 5)) : [],
    gas: gasOf(random, hardfork),
    accessList: hasList ? [{ address: random.pick(CONTRACTS), slots: [0, random.below(5)] }] : [],
    delegations: mayDelegate && random.percent(5) ? [delegationOf(random)] : [],
  }
}

/** Of all types, with calldata that the floor is for, lists of each length, and authorizations that may fail. */
function amsterdamMessage(random: Random, programs: Programs, to: Address | null): CaseMessage {
  const type = random.weighted<TransactionType>([
    [2, 0],
    [2, 1],
    [4, 2],
    [to === null ? 0 : 1, 3],
    [to === null ? 0 : 3, 4],
  ])
  const lists = type === 0 ? 0 : random.pick([0, 0, 1, 3])
  const slots = (): number[] => Array.from({ length: random.below(4) }, () => random.below(5))
  const delegations = type === 4 ? random.between(1, 3) : 0
  const size = random.weighted([
    [6, random.pick([0, 4, 36, 100])],
    [2, random.between(200, 4_000)],
  ])
  return {
    kind: random.percent(60) ? 'transaction' : 'call',
    type,
    to: to !== null && random.percent(10) ? random.pick([...PEOPLE, SIGNER, SENDER]) : to,
    value: String(random.pick([0, 0, 1, 1_000])),
    data: `0x${random.percent(30) ? '00'.repeat(size) : random.digits(size)}`,
    code: to === null ? programs.program(random.between(0, 5)) : [],
    gas: random.percent(20) ? random.between(12_000, 300_000) : gasOf(random, 'amsterdam'),
    accessList: Array.from({ length: lists }, () => ({
      address: random.pick([...CONTRACTS, ...PEOPLE]),
      slots: slots(),
    })),
    delegations: Array.from({ length: delegations }, () => delegationOf(random)),
  }
}

/** Since amsterdam state costs more, and what exceeds the cap of execution gas is only for state. */
const EXECUTION_CAP = 2 ** 24

function gasOf(random: Random, hardfork: Hardfork): number {
  if (isAtLeast(hardfork, 'amsterdam')) {
    return random.weighted([
      [2, random.between(12_000, 60_000)],
      [4, random.between(60_000, 600_000)],
      [3, random.between(600_000, 3_000_000)],
      [2, EXECUTION_CAP + random.below(1_000_000)],
    ])
  }
  return random.weighted([
    [2, random.between(21_000, 60_000)],
    [5, random.between(60_000, 300_000)],
    [2, random.between(300_000, 1_000_000)],
  ])
}

function delegationOf(random: Random): CaseMessage['delegations'][number] {
  const address = random.pick([...CONTRACTS, ...PEOPLE, `0x${'0'.repeat(40)}` as Address])
  return { address, nonce: random.below(2) }
}

/** The world that a case begins with. The sender can pay for everything. */
export function worldOf({ accounts }: Case): World {
  let world = withAccount(emptyWorld, { ...emptyAccount(SENDER), balance: 10n ** 24n })
  for (const { address, balance, nonce, code, storage } of accounts) {
    const account = { ...emptyAccount(address), balance: BigInt(balance), nonce: BigInt(nonce) }
    world = withAccount(world, account)
    const bytes = assembled(code)
    if (bytes.length > 0) world = withCode(world, address, bytes)
    for (const [slot, value] of Object.entries(storage)) {
      world = withStorage(world, address, BigInt(slot), BigInt(value))
    }
  }
  return world
}

/** The bytes of a program in pieces. */
export function assembled(code: Code): Uint8Array {
  return assemble(code.join(' '))
}

export function blockOf({ hardfork, baseFee, coinbase }: Case): BlockEnvironment {
  return {
    chainId: CHAIN_ID,
    hardfork,
    number: 1_000n,
    timestamp: 1_700_000_000n,
    coinbase,
    gasLimit: 30_000_000n,
    difficulty: 7n,
    prevRandao: `0x${'5e'.repeat(32)}` as Hash,
    baseFee: BigInt(baseFee),
    excessBlobGas: 0n,
    slotNumber: 77n,
    blockHash: (number) => `0x${(number * 7n).toString(16).padStart(64, '0')}` as Hash,
  }
}

/** What the one signer permits. */
export function authorizationsOf(
  { delegations }: Pick<CaseMessage, 'delegations'>,
  key: Uint8Array = KEY,
): Authorization[] {
  return delegations.map(({ address, nonce }) => {
    const fields = [CHAIN_ID, bytesFromHex(address), BigInt(nonce)].map((field) =>
      typeof field === 'bigint' ? bytesFromBigint(field) : field,
    )
    const digest = keccak256(concatBytes(Uint8Array.of(5), encodeRlp(fields)))
    return { chainId: CHAIN_ID, address, nonce: BigInt(nonce), ...signDigest(digest, key) }
  })
}
