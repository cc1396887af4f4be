// Chains for tests: one fixed wall clock, no real randomness, plain transactions.
import type { Address } from '../../../src/core/hex.ts'
import { EMPTY_BYTES } from '../../../src/core/hex.ts'
import { addresses, keyOf } from '../../../src/node/accounts/accounts.ts'
import type { Chain, Environment } from '../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../src/node/chainoptions.ts'
import { createChain } from '../../../src/node/create.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import {
  signTransaction,
  type Transaction,
  type UnsignedTransaction,
} from '../../../src/protocol/transactions/transaction.ts'

/** 2026-01-01T00:00:00Z in milliseconds. */
export const NOON = 1_767_225_600_000

/** A world outside that a test moves by hand. `bugs` is what nobody waited for. */
export interface TestEnvironment extends Environment {
  ms: number
  readonly bugs: unknown[]
}

export function testEnvironment(): TestEnvironment {
  let drawn = 0
  const environment: TestEnvironment = {
    ms: NOON,
    bugs: [],
    now: () => environment.ms,
    random: (length) => {
      drawn += 1
      return new Uint8Array(length).fill(drawn)
    },
    onBug: (error) => environment.bugs.push(error),
  }
  return environment
}

/** A chain with a fixed wall clock and cheap key encryption. */
export function testChain(options: ChainOptions = {}): Promise<Chain> {
  return createChain({ environment: testEnvironment(), scryptCost: 2, ...options })
}

/** The address of a dev account. */
export function account(chain: Chain, index: number): Address {
  return addresses(chain.state.accounts)[index]!
}

/** A signed transfer of 1 wei from dev account 0 to itself, in the form of a legacy transaction by default. */
export function signed(
  chain: Chain,
  changes: Partial<UnsignedTransaction & { index: number }> = {},
): Transaction {
  const { index = 0, ...fields } = changes
  const from = account(chain, index)
  const key = keyOf(chain.state.accounts, from, chain.environment.now())!
  return signTransaction(
    {
      type: 0,
      chainId: chain.state.config.chainId,
      nonce: 0n,
      gasLimit: 21_000n,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      to: from,
      value: 1n,
      data: EMPTY_BYTES,
      accessList: [],
      authorizationList: [],
      ...fields,
    },
    key,
    from,
  )
}

/** The number of the newest block. */
export function height(chain: Chain): bigint {
  return headOf(chain.state.tree).block.header.number
}

/** The timestamp of the newest block, in seconds. */
export function headTime(chain: Chain): bigint {
  return headOf(chain.state.tree).block.header.timestamp
}
