// Random transactions to contracts that write, log, create, fail, loop, ask for the time, and destroy themselves.
import fc from 'fast-check'
import {
  type Address,
  bytesFromHex,
  hexFromBytes,
  wordFromBigint,
} from '../../../../src/core/hex.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type {
  Transaction,
  UnsignedTransaction,
} from '../../../../src/protocol/transactions/transaction.ts'
import { type Genesis, parseGenesis } from '../../../../src/state/genesis.ts'
import { BEACON_ROOTS } from '../../../../src/state/predeploys.ts'
import { assemble } from '../../../support/evm/bytecode.ts'
import { signed } from '../chains.ts'

/** By the last digit of the address, 0xc0 and up. */
const CODES = [
  '32 CALLDATALOAD 0 CALLDATALOAD SSTORE 7 0 0 LOG1',
  '0 SLOAD 1 SSTORE 1 SLOAD 2 SSTORE',
  '0 CALLDATALOAD SELFDESTRUCT',
  '1 1 SSTORE 5 0 0 LOG1 INVALID',
  // creates an account with a slot and without code
  '0x600160005500 0 MSTORE 6 26 0 CREATE 0 SSTORE',
  // has the first contract write its slot 0
  '0 CALLDATALOAD 32 MSTORE 0 0 64 0 0 0xc0 30000 CALL',
  // a loop over slots, long enough to be compiled
  '5 L: DUP1 0 CALLDATALOAD ADD 7 AND DUP2 SWAP1 SSTORE 1 SWAP1 SUB DUP1 @L JUMPI 0 BLOBHASH 9 SSTORE',
  'TIMESTAMP 3 AND 5 SSTORE',
  // whether there is a beacon root of 2026-01-01T00:00:05Z
  `1767225605 0 MSTORE 32 32 32 0 0 ${BEACON_ROOTS.address} 30000 CALL 6 SSTORE`,
].map((code) => assemble(code))

const address = (number: bigint): Address => wordFromBigint(number).replace(/0{24}/, '') as Address
export const CONTRACTS: readonly Address[] = CODES.map((_, index) => address(0xc0n + BigInt(index)))

const slot = fc.bigInt(0n, 2n)
const input = fc.tuple(fc.oneof(slot, fc.constantFrom(0xc1n, 0xc2n, 0xeen)), slot)
export const step: fc.Arbitrary<Step> = fc.record({
  index: fc.nat(2),
  to: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...CONTRACTS) },
    { weight: 2, arbitrary: fc.constantFrom(address(0xeen), address(4n), null) },
  ),
  value: fc.bigInt(0n, 2n),
  input,
})

export interface Step {
  readonly index: number
  readonly to: Address | null
  readonly value: bigint
  readonly input: readonly [bigint, bigint]
}

/** A genesis with the contracts, that of beacon roots, and more accounts. */
export function genesisOfSteps(more: Readonly<Record<Address, object>> = {}): Genesis {
  const alloc = Object.fromEntries(
    CODES.map((code, index) => [CONTRACTS[index]!, { balance: '0x5', code: hexFromBytes(code) }]),
  )
  const roots = { balance: '0x0', code: hexFromBytes(BEACON_ROOTS.code) }
  return parseGenesis({ alloc: { ...alloc, [BEACON_ROOTS.address]: roots, ...more } })
}

/**
 * @param nonces of the three senders, counted on
 * @param more members for each transaction
 */
export function transactionsOf(
  chain: Chain,
  steps: readonly Step[],
  nonces: bigint[] = [0n, 0n, 0n],
  gasLimit = 200_000n,
  more: readonly Partial<UnsignedTransaction>[] = [],
): Transaction[] {
  return steps.map(({ index, to, value, input: [first, second] }, i) => {
    const nonce = nonces[index]!
    nonces[index] = nonce + 1n
    const words = bytesFromHex(wordFromBigint(first) + wordFromBigint(second).slice(2))
    const data = to === null ? CODES[Number(second)]! : words
    return signed(chain, { index, nonce, to, value, data, gasLimit, ...more[i] })
  })
}
