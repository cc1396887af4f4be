// A stage for runs: a block, two people, transactions and calls over good defaults.
import { type Address, EMPTY_BYTES, type Hash, ZERO_HASH } from '../../../src/core/hex.ts'
import type { BlockEnvironment, CallJob, Message } from '../../../src/evm/executor.ts'
import { DEFAULT_HARDFORK } from '../../../src/protocol/forks.ts'
import type { Transaction } from '../../../src/protocol/transactions/transaction.ts'
import {
  emptyWorld,
  type World,
  withBalance,
  withCode,
  withNonce,
} from '../../../src/state/world.ts'
import { assemble } from '../../support/evm/bytecode.ts'

export const ALICE: Address = '0x00000000000000000000000000000000000a11ce' as Address
export const BOB: Address = '0x0000000000000000000000000000000000000b0b' as Address
export const MINER: Address = `0x${'c0'.repeat(20)}` as Address
export const CONTRACT: Address = `0x${'aa'.repeat(20)}` as Address
export const OTHER: Address = `0x${'bb'.repeat(20)}` as Address

export const ETHER: bigint = 10n ** 18n

/** Alice has ten ether. */
export const funded: World = withBalance(emptyWorld, ALICE, 10n * ETHER)

/** A contract made of the words of `program`. */
export function withProgram(world: World, address: Address, program: string): World {
  return withNonce(withCode(world, address, assemble(program)), address, 1n)
}

export function blockWith(fields: Partial<BlockEnvironment> = {}): BlockEnvironment {
  return {
    chainId: 33n,
    hardfork: DEFAULT_HARDFORK,
    number: 1000n,
    timestamp: 1_700_000_000n,
    coinbase: MINER,
    gasLimit: 30_000_000n,
    difficulty: 7n,
    prevRandao: `0x${'5e'.repeat(32)}` as Hash,
    baseFee: 0n,
    excessBlobGas: 0n,
    slotNumber: 0n,
    blockHash: () => undefined,
    ...fields,
  }
}

/** From Alice to Bob, 100,000 gas, free of charge. */
export function transactionWith(fields: Partial<Transaction> = {}): Transaction {
  return {
    type: 0,
    chainId: 33n,
    nonce: 0n,
    gasLimit: 100_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    to: BOB,
    value: 0n,
    data: EMPTY_BYTES,
    accessList: [],
    authorizationList: [],
    from: ALICE,
    hash: ZERO_HASH,
    raw: EMPTY_BYTES,
    v: 27n,
    r: 1n,
    s: 2n,
    ...fields,
  }
}

export function messageWith(fields: Partial<Message> = {}): Message {
  return {
    from: ALICE,
    to: CONTRACT,
    value: 0n,
    data: EMPTY_BYTES,
    gasLimit: 1_000_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    accessList: [],
    authorizationList: [],
    ...fields,
  }
}

/** A call of a contract that consists of `program`. */
export function callOf(
  program: string,
  message: Partial<Message> = {},
  block: Partial<BlockEnvironment> = {},
): CallJob {
  return {
    world: withProgram(funded, CONTRACT, program),
    block: blockWith(block),
    message: messageWith(message),
  }
}
