// Chains with the rules of amsterdam: what they mine, keep and estimate.
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type Address,
  bytesFromHex,
  concatBytes,
  EMPTY_BYTES,
  wordFromBigint,
  ZERO_HASH,
} from '../../../src/core/hex.ts'
import { accessListOfBlock } from '../../../src/node/calls/blockaccesslist.ts'
import { buildBlock } from '../../../src/node/calls/buildblock.ts'
import { estimateGas } from '../../../src/node/calls/estimate.ts'
import { simulateBlocks } from '../../../src/node/calls/simulateblocks.ts'
import type { Chain } from '../../../src/node/chain/chain.ts'
import { mine } from '../../../src/node/commands/mine.ts'
import { headOf } from '../../../src/node/ledger/blocktree.ts'
import { forkConfigsOf } from '../../../src/node/ledger/forkconfig.ts'
import { latest } from '../../../src/node/ledger/references.ts'
import { mineGiven } from '../../../src/node/mining/miner.ts'
import { gasFor } from '../../../src/node/sending/fill.ts'
import { sendRawTransaction } from '../../../src/node/sending/send.ts'
import { hashAccessList } from '../../../src/protocol/blocks/accesslist.ts'
import { encodeBlock } from '../../../src/protocol/blocks/block.ts'
import { EXECUTION_GAS_CAP } from '../../../src/protocol/stategas.ts'
import type { UnsignedTransaction } from '../../../src/protocol/transactions/transaction.ts'
import { parseGenesis } from '../../../src/state/genesis.ts'
import { authorizationsOf } from '../../fuzz/cases.ts'
import { assemble } from '../../support/evm/bytecode.ts'
import { allEngines } from '../../support/evm/engines.ts'
import { temporaryFolder } from '../../support/process/boot.ts'
import { close, openKept } from '../store/kept.ts'
import { account, signed, testChain, testEnvironment } from './chains.ts'
import { genesisOfSteps, type Step, step, transactionsOf } from './mining/steps.ts'
import { addressOf } from './records.ts'

const hardfork = 'amsterdam'
const STRANGER = addressOf(0x57a9)

/** All blocks. */
function exported(chain: Chain): Uint8Array {
  const blocks = [...chain.state.tree.canonical.values()].map(({ block }) => encodeBlock(block))
  return concatBytes(...blocks)
}

/** How a transaction is sent: its type, with lists and calldata that only some have. */
interface Terms {
  readonly type: 0 | 1 | 2 | 3 | 4
  readonly hasList: boolean
  readonly isLong: boolean
  /** Some exceed the cap of execution gas: the rest is for state. */
  readonly gasLimit: bigint
  readonly delegations: readonly { readonly address: Address; readonly nonce: number }[]
}

const DELEGATES = [0xc0, 0xc1, 0xc5, 0x57a9].map(addressOf)

const terms: fc.Arbitrary<Terms> = fc.record({
  type: fc.constantFrom(0, 1, 2, 3, 4),
  hasList: fc.boolean(),
  isLong: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  gasLimit: fc.constantFrom(1_000_000n, 400_000n, 17_500_000n),
  delegations: fc.array(fc.record({ address: fc.constantFrom(...DELEGATES), nonce: fc.nat(2) }), {
    minLength: 1,
    maxLength: 3,
  }),
})

const BLOB = wordFromBigint(2n ** 248n + 5n)

function fieldsOf({ to }: Step, given: Terms): Partial<UnsignedTransaction> {
  const type = given.type > 2 && to === null ? 2 : given.type
  const storageKeys = [0n, 1n].map(wordFromBigint)
  return {
    type,
    gasLimit: given.gasLimit,
    accessList: type > 0 && given.hasList ? [{ address: addressOf(0xc0), storageKeys }] : [],
    authorizationList: type === 4 ? authorizationsOf(given) : [],
    ...(type === 3 ? { blobs: { maxFeePerBlobGas: 1n, versionedHashes: [BLOB] } } : {}),
    ...(given.isLong && to !== null ? { data: new Uint8Array(3_000) } : {}),
  }
}

const START = { hardfork, genesis: genesisOfSteps(), gasLimit: 200_000_000n } as const

describe('blocks of amsterdam', () => {
  test('of many at once each have a slot and an access list of their own', async () => {
    const chain = await testChain({ hardfork })
    const bulk = chain.execution.bulk
    await chain.update((state) => mine(chain.executor, state, { now: 0, blocks: 60n, bulk }))
    const headers = [...chain.state.tree.canonical.values()].map(({ block }) => block.header)
    expect(headers.map(({ slotNumber }) => slotNumber)).toEqual(headers.map(({ number }) => number))
    expect(new Set(headers.map((header) => header.blockAccessListHash)).size).toBe(61)
    const again = await testChain({ hardfork, blocks: exported(chain) })
    expect(headOf(again.state.tree).block.hash).toBe(headOf(chain.state.tree).block.hash)
  })

  test('begin at its time, also among many empty ones at once', async () => {
    const config = { bpo2Time: 0, amsterdamTime: 40 }
    const genesis = parseGenesis({ config, timestamp: '0x0', difficulty: '0x1' })
    const chain = await testChain({ genesis, clock: { kind: 'frozen' } })
    const bulk = chain.execution.bulk
    const request = { now: 0, blocks: 100n, interval: 1n, bulk }
    await chain.update((state) => mine(chain.executor, state, request))
    const first = [...chain.state.tree.canonical.values()].find(
      ({ block }) => block.header.slotNumber !== undefined,
    )
    expect(first?.block.header.timestamp).toBe(40n)
    expect(first?.block.header.blockAccessListHash).toBeDefined()
  })

  test('of random transactions of all types are valid on each engine by itself', async () => {
    const steps = fc.array(fc.tuple(step, terms), { minLength: 1, maxLength: 8, size: 'max' })
    const turns = fc.array(steps, { minLength: 1, maxLength: 4, size: 'max' })
    const engines = allEngines().map(({ jobsWithin }) => ({
      ...jobsWithin(2 ** 27),
      close: () => undefined,
    }))
    await fc.assert(
      fc.asyncProperty(turns, async (each) => {
        const chain = await grown(each)
        await checkAccessLists(chain)
        const blocks = exported(chain)
        const head = headOf(chain.state.tree).block.hash
        for (const executor of engines) {
          const again = await testChain({ ...START, blocks, executor })
          expect(headOf(again.state.tree).block.hash).toBe(head)
          again.close()
        }
        chain.close()
      }),
      { seed: 33, numRuns: 20 },
    )
  })

  /** Each is made by running its block again, and must have the header's hash. */
  async function checkAccessLists(chain: Chain): Promise<void> {
    for (const record of chain.state.tree.canonical.values()) {
      const list = await accessListOfBlock(chain, record, { aborted: false })
      expect(hashAccessList(list)).toBe(record.block.header.blockAccessListHash)
    }
  }

  async function grown(turns: readonly (readonly (readonly [Step, Terms])[])[]): Promise<Chain> {
    const chain = await testChain({ ...START, noMining: true })
    const nonces = [0n, 0n, 0n]
    for (const turn of turns) {
      const steps = turn.map(([each]) => each)
      const more = turn.map(([each, its]) => fieldsOf(each, its))
      const transactions = transactionsOf(chain, steps, nonces, 1_000_000n, more)
      await chain.update(async (state, executor) => {
        const mined = await mineGiven(executor, state, transactions, { now: 0 })
        return { state: mined.state, value: undefined }
      })
    }
    return chain
  }

  test('keep the gas of both dimensions on disk', async () => {
    const file = path.join(temporaryFolder(onTestFinished), 'chain')
    const environment = testEnvironment()
    const living = await openKept(file, environment, { options: { hardfork } })
    const fields = { to: STRANGER, gasLimit: 300_000n }
    await sendRawTransaction(living.chain, signed(living.chain, fields).raw)
    const receipt = headOf(living.chain.state.tree).executed[0]!.receipt
    expect(receipt.blockGas).toEqual({ execution: 21_000n, state: 183_600n })
    await close(living)
    const again = await openKept(file, environment)
    expect(headOf(again.chain.state.tree).executed[0]!.receipt).toEqual(receipt)
    await close(again)
  })
})

/** PUSH1 1 PUSH1 0 SSTORE, as the code that a creation runs. */
const STORING = bytesFromHex('0x6001600055')

test.each<[string, Partial<Pick<UnsignedTransaction, 'to' | 'value' | 'data'>>]>([
  ['a transfer to nobody without value', { to: STRANGER }],
  ['a transfer to a new account', { to: STRANGER, value: 1n }],
  ['a creation with a slot', { data: STORING }],
  ['a creation with code', { data: bytesFromHex('0x60206000f3') }],
])('an estimate is exact for %s', async (_, request) => {
  const chain = await testChain({ hardfork })
  const from: Address = account(chain, 0)
  const gas = await estimateGas(chain, { from, ...request }, latest)
  const send = async (gasLimit: bigint, nonce: bigint): Promise<boolean> => {
    const fields = { to: null, value: 0n, ...request, nonce, gasLimit }
    await sendRawTransaction(chain, signed(chain, fields).raw).catch(() => undefined)
    return headOf(chain.state.tree).executed[0]?.receipt.status === true
  }
  expect(await send(gas - 1n, 0n)).toBe(false)
  const { number } = headOf(chain.state.tree).block.header
  expect(await send(gas, number)).toBe(true)
  expect(headOf(chain.state.tree).executed[0]!.receipt.gasUsed).toBe(gas)
})

test('an estimate with state gas takes one run', async () => {
  const chain = await testChain({ hardfork })
  const call = vi.spyOn(chain.executor, 'call')
  await estimateGas(chain, { from: account(chain, 0), data: STORING }, latest)
  expect(call).toHaveBeenCalledTimes(1)
})

test('an estimate of more state than execution gas may pay for has a reservoir', async () => {
  const chain = await testChain({ hardfork })
  // 200 new slots
  const program = Array.from({ length: 200 }, (_, slot) => `1 ${slot + 1} SSTORE`).join(' ')
  const request = { from: account(chain, 0), data: assemble(program) }
  const estimate = async (most?: bigint): Promise<bigint> =>
    estimateGas(chain, { ...request, gas: most }, latest)
  const gas = await estimate()
  expect(gas).toBeGreaterThan(EXECUTION_GAS_CAP)
  await expect(estimate(gas - 1n)).rejects.toMatchObject({ word: 'EXECUTION_HALTED' })
})

describe('a send without gas', () => {
  const gasOf = async (options: Parameters<typeof testChain>[0]): Promise<bigint> => {
    const chain = await testChain(options)
    return gasFor(chain, { from: account(chain, 0), to: STRANGER, value: 1n })
  }

  test('gets an estimate, which has room for state gas', async () => {
    expect(await gasOf({ hardfork })).toBe(204_600n)
    expect(await gasOf({ hardfork: 'bpo2' })).toBe(90_000n)
  })

  test('gets the gas that is set', async () => {
    expect(await gasOf({ hardfork, defaultGas: 90_000n })).toBe(90_000n)
    expect(await gasOf({ hardfork: 'bpo2', defaultGas: 'estimate' })).toBe(21_000n)
  })

  test('may have more than 2^24 gas if that fails, as no rule caps the limit', async () => {
    const behaviour = { capsTransactionGas: true, refusesFailingEstimates: false }
    const chain = await testChain({ hardfork, behaviour })
    const failing = { from: account(chain, 0), data: bytesFromHex('0xfe') }
    expect(await gasFor(chain, failing)).toBe(30_000_000n)
  })
})

test('a simulated block has the next slot, its access list, and one log of a transfer', async () => {
  const chain = await testChain({ hardfork })
  const calls = [{ from: account(chain, 0), to: STRANGER, value: 1n }]
  const simulation = { blocks: [{ calls }], validation: false, traceTransfers: true }
  const [simulated] = await simulateBlocks(chain, simulation, latest)
  const { header } = simulated!.record.block
  expect(header.slotNumber).toBe(1n)
  expect(header.blockAccessListHash).not.toBe(
    headOf(chain.state.tree).block.header.blockAccessListHash,
  )
  expect(header.gasUsed).toBe(183_600n)
  const logs = simulated!.calls[0]!.logs
  expect(logs.map(({ log }) => log.address)).toEqual([`0x${'f'.repeat(39)}e`])
})

test('a simulated block has the access list of the block that is mined, with and without validation', async () => {
  const chain = await testChain({ hardfork })
  const [from, to] = [account(chain, 0), account(chain, 1)]
  const calls = [
    { from, to: STRANGER, value: 1n },
    { from, data: STORING },
    { from: to, to: from, value: 5n },
  ]
  const nonces = [0n, 1n, 0n]
  const transactions = calls.map(({ from: sender, ...call }, at) => {
    const fields = { to: null, value: 0n, data: EMPTY_BYTES, ...call }
    const index = sender === from ? 0 : 1
    return signed(chain, { ...fields, index, nonce: nonces[at]!, gasLimit: 400_000n })
  })
  const { record } = await chain.update(async (state, executor) => {
    const mined = await mineGiven(executor, state, transactions, { now: 0 })
    return { state: mined.state, value: { record: headOf(mined.state.tree) } }
  })
  const { timestamp, miner, blockAccessListHash } = record.block.header
  const blockOverrides = { timestamp, coinbase: miner }
  for (const validation of [true, false]) {
    const blocks = [{ blockOverrides, calls: calls.map((call) => ({ ...call, gas: 400_000n })) }]
    const simulation = { blocks, validation, traceTransfers: false }
    const [simulated] = await simulateBlocks(chain, simulation, { kind: 'number', number: 0n })
    expect(simulated!.record.block.header).toMatchObject({ blockAccessListHash, slotNumber: 1n })
  }
})

test('a simulated block has room in both dimensions of gas', async () => {
  const chain = await testChain({ hardfork, gasLimit: 30_000_000n })
  const from = account(chain, 0)
  const simulate = (gas: bigint): Promise<unknown> => {
    const calls = [
      { from, to: STRANGER, value: 1n },
      { from, to: STRANGER, gas },
    ]
    const simulation = { blocks: [{ calls }], validation: false, traceTransfers: false }
    return simulateBlocks(chain, simulation, latest)
  }
  await expect(simulate(30_000_000n - 183_600n)).resolves.toHaveLength(1)
  await expect(simulate(30_000_001n - 183_600n)).rejects.toThrow(
    'block gas limit reached: expected at most 29816400 gas, the rest of 30000000, got 29816401',
  )
})

test('a built block has its access list, and the slot that is asked for', async () => {
  const chain = await testChain({ hardfork })
  const parent = headOf(chain.state.tree).block
  const transaction = signed(chain, { to: STRANGER, value: 1n, gasLimit: 300_000n })
  const build = (slotNumber: bigint | undefined): ReturnType<typeof buildBlock> => {
    const attributes = {
      timestamp: parent.header.timestamp + 12n,
      prevRandao: ZERO_HASH,
      feeRecipient: STRANGER,
      withdrawals: [{ index: 0n, validatorIndex: 0n, address: addressOf(0x3317), amountGwei: 7n }],
      parentBeaconBlockRoot: ZERO_HASH,
      targetGasLimit: undefined,
      slotNumber,
    }
    const transactions = [{ transaction, sidecar: undefined }]
    const order = { parentHash: parent.hash, attributes, transactions, extraData: EMPTY_BYTES }
    return buildBlock(chain, order, { aborted: false })
  }
  const { block, accessList } = await build(9_000_000n)
  expect(block.header.slotNumber).toBe(9_000_000n)
  expect(hashAccessList(accessList!)).toBe(block.header.blockAccessListHash)
  const paid = accessList!.find(({ address }) => address === addressOf(0x3317))
  expect(paid!.balanceChanges).toEqual([[2n, 7n * 10n ** 9n]])
  expect((await build(undefined)).block.header.slotNumber).toBe(1n)
})

test('the rules of amsterdam have the contracts of builders', async () => {
  const { current } = forkConfigsOf((await testChain({ hardfork })).state)
  expect(current.systemContracts.get('BUILDER_DEPOSIT_CONTRACT_ADDRESS')).toBe(
    '0x0000bff46984e3725691fa540a8c7589300d8282',
  )
  expect([...current.systemContracts.keys()]).toHaveLength(7)
})
