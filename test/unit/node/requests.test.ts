// What a block from elsewhere has to ask of the system contracts, and to read of deposits: blocks that a network would not
// take are not imported, also the first one, where nothing but its difficulty tells whose rules it follows.
import { describe, expect, test } from 'vitest'
import { addressOfKey } from '../../../src/core/crypto.ts'
import {
  type Address,
  bytesFromHex,
  concatBytes,
  EMPTY_BYTES,
  hexFromBytes,
  paddedBytes,
} from '../../../src/core/hex.ts'
import { headOf } from '../../../src/node/blocktree.ts'
import type { Chain } from '../../../src/node/chain.ts'
import { mine } from '../../../src/node/commands.ts'
import { type ChainOptions, createChain } from '../../../src/node/create.ts'
import { sendRawTransaction } from '../../../src/node/send.ts'
import { encodeBlock } from '../../../src/protocol/block.ts'
import { signTransaction } from '../../../src/protocol/transaction.ts'
import { parseGenesis } from '../../../src/state/genesis.ts'
import {
  CONSOLIDATION_REQUESTS,
  DEPOSIT_CONTRACT,
  systemContracts,
  WITHDRAWAL_REQUESTS,
} from '../../../src/state/predeploys.ts'
import { assemble } from '../../support/bytecode.ts'
import { testEnvironment } from './chains.ts'

const KEY = new Uint8Array(32).fill(0x37)
const GWEI = 10n ** 9n

const LOGS_ITS_INPUT = assemble(
  'CALLDATASIZE 0 0 CALLDATACOPY 0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5 CALLDATASIZE 0 LOG1',
)

type Codes = Readonly<Record<Address, Uint8Array | undefined>>

/** A chain as a network's test has it: no difficulty, no account of its own, a fee market; some contracts are others. */
function optionsWith(codes: Codes, changes: ChainOptions = {}): ChainOptions {
  const contracts: Codes = {
    ...Object.fromEntries(systemContracts('prague').map(({ address, code }) => [address, code])),
    [DEPOSIT_CONTRACT]: LOGS_ITS_INPUT,
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

async function madeOf(options: ChainOptions): Promise<Chain> {
  return createChain({ ...options, environment: testEnvironment() })
}

/** A block of the chain, empty or with a call of the deposit contract. */
async function blockOf(options: ChainOptions, deposit?: Uint8Array): Promise<Uint8Array> {
  const chain = await madeOf(options)
  if (deposit === undefined) {
    const now = chain.environment.now()
    await chain.update((state) => mine(chain.executor, state, { now, blocks: 1n }))
  } else await sendRawTransaction(chain, rawCall(deposit))
  const { block } = headOf(chain.state.tree)
  expect(block.header.number).toBe(1n)
  return encodeBlock(block)
}

function rawCall(data: Uint8Array): Uint8Array {
  return signTransaction(
    {
      type: 2,
      chainId: 33n,
      nonce: 0n,
      gasLimit: 200_000n,
      maxFeePerGas: GWEI,
      maxPriorityFeePerGas: GWEI,
      to: DEPOSIT_CONTRACT,
      value: 0n,
      data,
      accessList: [],
      authorizationList: [],
    },
    KEY,
  ).raw
}

/** What becomes of a block that a chain imports as its first. */
async function imported(options: ChainOptions, block: Uint8Array): Promise<string> {
  return madeOf({ ...options, blocks: block }).then(
    ({ state }) => `taken by the rules of: ${state.config.ruleset}`,
    (error: Error) => error.message,
  )
}

const CONTRACTS = [
  ['withdrawals', WITHDRAWAL_REQUESTS.address],
  ['consolidations', CONSOLIDATION_REQUESTS.address],
] as const

const FAILING: readonly (readonly [string, Uint8Array])[] = [
  ['reverts', assemble('0 0 REVERT')],
  ['throws', assemble('INVALID')],
  ['runs out of gas', assemble('JUMPDEST 0 JUMP')],
]

describe.each(CONTRACTS)('a block whose contract of %s', (_name, address) => {
  test('is as everywhere is taken', async () => {
    const options = optionsWith({})
    expect(await imported(options, await blockOf(options))).toBe('taken by the rules of: network')
  })

  test.each(FAILING)('%s is invalid', async (_way, code) => {
    const options = optionsWith({ [address]: code })
    expect(await imported(options, await blockOf(options))).toBe(
      `block 1: requests: the call of the system contract at ${address} failed`,
    )
  })

  test.each([
    ['is not there', undefined],
    ['has no code', EMPTY_BYTES],
  ] as const)('%s is invalid', async (_way, code) => {
    const options = optionsWith({ [address]: code })
    expect(await imported(options, await blockOf(options))).toBe(
      `block 1: requests: there is no system contract at ${address}`,
    )
  })

  test('has no code is taken where the chain is one of its own', async () => {
    const ways: ChainOptions[] = [{ difficulty: 1n }, { accounts: 2 }]
    for (const way of ways) {
      const options = optionsWith({ [address]: EMPTY_BYTES }, way)
      expect(await imported(options, await blockOf(options))).toBe('taken by the rules of: own')
    }
  })
})

/** The fields of a deposit as the contract lays them out: five offsets, then each with its length before it. */
function deposit(): Uint8Array {
  const parts = [48, 32, 8, 96, 8].map((length, i) => new Uint8Array(length).fill(i + 1))
  const padded = parts.map((part) =>
    concatBytes(
      paddedBytes(BigInt(part.length), 32),
      part,
      new Uint8Array((32 - (part.length % 32)) % 32),
    ),
  )
  const offsets = [160, 256, 320, 384, 512].map((offset) => paddedBytes(BigInt(offset), 32))
  return concatBytes(...offsets, ...padded)
}

function withWord(at: number, value: bigint): Uint8Array {
  const data = deposit()
  data.set(paddedBytes(value, 32), at)
  return data
}

const LAYOUTS: readonly (readonly [string, Uint8Array])[] = [
  ...[0, 32, 64, 96, 128].map((at) => [`offset ${at / 32}`, withWord(at, 321n)] as const),
  ...[160, 256, 320, 384, 512].map((at) => [`length at ${at}`, withWord(at, 7n)] as const),
  ['offset beyond 64 bits', withWord(0, 2n ** 64n + 160n)],
  ['a byte less', deposit().subarray(0, 575)],
  ['a byte more', concatBytes(deposit(), Uint8Array.of(0))],
  ['nothing', EMPTY_BYTES],
]

describe('a block with a deposit', () => {
  test('as the contract writes it is taken, and counts in the hash of the requests', async () => {
    const options = optionsWith({})
    const empty = await blockOf(options)
    const block = await blockOf(options, deposit())
    expect(await imported(options, block)).toBe('taken by the rules of: network')
    expect(hexFromBytes(block)).not.toContain(hexFromBytes(empty.slice(-32)).slice(2))
  })

  test.each(LAYOUTS)('of another layout is invalid: %s', async (_name, data) => {
    const options = optionsWith({})
    expect(await imported(options, await blockOf(options, data))).toBe(
      'block 1: requests: a log of the deposit contract is no deposit',
    )
  })

  test('of another layout is taken where the chain is one of its own', async () => {
    const options = optionsWith({}, { difficulty: 1n })
    const block = await blockOf(options, bytesFromHex('0x01'))
    expect(await imported(options, block)).toBe('taken by the rules of: own')
  })
})
