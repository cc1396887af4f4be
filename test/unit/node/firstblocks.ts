// First blocks as a network may have made them: only their difficulty shows whose rules they follow.
import { expect } from 'vitest'
import { addressOfKey } from '../../../src/core/crypto/crypto.ts'
import { type Address, hexFromBytes } from '../../../src/core/hex.ts'
import type { Chain } from '../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../src/node/chainoptions.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { createChain } from '../../../src/node/create.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { encodeBlock } from '../../../src/protocol/blocks/block.ts'
import {
  signTransaction,
  type UnsignedTransaction,
} from '../../../src/protocol/transactions/transaction.ts'
import { parseGenesis } from '../../../src/state/genesis.ts'
import { systemContracts } from '../../../src/state/predeploys.ts'
import { testEnvironment } from './chains.ts'

const KEY = new Uint8Array(32).fill(0x37)
const GWEI = 10n ** 9n

/** Codes of contracts of the genesis; undefined: without the account. */
export type Codes = Readonly<Record<Address, Uint8Array | undefined>>

/** A chain as a network's test has it: no difficulty, no account of its own, a fee market, prague. */
export function optionsWith(codes: Codes, changes: ChainOptions = {}): ChainOptions {
  const contracts: Codes = {
    ...Object.fromEntries(systemContracts('prague').map(({ address, code }) => [address, code])),
    ...codes,
  }
  const alloc = Object.entries(contracts).flatMap(([address, code]) =>
    code === undefined
      ? []
      : [[address, { balance: '0x0', nonce: '0x1', code: hexFromBytes(code) }]],
  )
  return {
    genesis: parseGenesis({
      config: { chainId: 33, pragueTime: 0, terminalTotalDifficulty: 0 },
      difficulty: '0x0',
      gasLimit: '0x1c9c380',
      timestamp: '0x3e8',
      baseFeePerGas: '0x7',
      alloc: Object.fromEntries([
        ...alloc,
        [addressOfKey(KEY), { balance: `0x${(10n ** 24n).toString(16)}` }],
      ]),
    }),
    hardfork: 'prague',
    accounts: 0,
    difficulty: 0n,
    baseFee: 7n,
    clock: { kind: 'frozen' },
    scryptCost: 2,
    ...changes,
  }
}

export async function madeOf(options: ChainOptions): Promise<Chain> {
  return createChain({ ...options, environment: testEnvironment() })
}

/** The first block of a chain with these options, empty or with one transaction. */
export async function blockOf(
  options: ChainOptions,
  transaction?: Partial<UnsignedTransaction>,
): Promise<Uint8Array> {
  const chain = await madeOf(options)
  if (transaction === undefined) {
    const now = chain.environment.now()
    await chain.update((state) => mine(chain.executor, state, { now, blocks: 1n }))
  } else await sendRawTransaction(chain, rawWith(transaction))
  const { block } = headOf(chain.state.tree)
  expect(block.header.number).toBe(1n)
  return encodeBlock(block)
}

function rawWith(changes: Partial<UnsignedTransaction>): Uint8Array {
  const transaction: UnsignedTransaction = {
    type: 2,
    chainId: 33n,
    nonce: 0n,
    gasLimit: 200_000n,
    maxFeePerGas: GWEI,
    maxPriorityFeePerGas: GWEI,
    to: null,
    value: 0n,
    data: new Uint8Array(),
    accessList: [],
    authorizationList: [],
    ...changes,
  }
  return signTransaction(transaction, KEY).raw
}

/** What becomes of a block that a chain imports as its first. */
export async function imported(options: ChainOptions, block: Uint8Array): Promise<string> {
  return madeOf({ ...options, blocks: block }).then(
    ({ state }) => `taken by the rules of: ${state.config.ruleset}`,
    (error: Error) => error.message,
  )
}
