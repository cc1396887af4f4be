// A block's transactions run over one draft of the state. Run one by one, each on the world after the one before, they
// have the same results.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Address,
  bytesFromHex,
  hexFromBytes,
  wordFromBigint,
} from '../../../../src/core/hex.ts'
import type { Tracer, TransactionJob } from '../../../../src/evm/executor.ts'
import { replay } from '../../../../src/node/calls/replay.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { blockEnvironment } from '../../../../src/node/mining/environment.ts'
import { blockLimits } from '../../../../src/node/mining/limits.ts'
import { buildPending, mineGiven } from '../../../../src/node/mining/miner.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { bloomOf } from '../../../../src/protocol/blocks/receipt.ts'
import { HARDFORKS, type Hardfork } from '../../../../src/protocol/forks.ts'
import type { Transaction } from '../../../../src/protocol/transactions/transaction.ts'
import { parseGenesis } from '../../../../src/state/genesis.ts'
import { Overlay } from '../../../../src/state/overlay.ts'
import { stateRoot } from '../../../../src/state/world.ts'
import { assemble } from '../../../support/evm/bytecode.ts'
import { signed, testChain } from '../chains.ts'

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
].map((code) => assemble(code))

const address = (number: bigint): Address => wordFromBigint(number).replace(/0{24}/, '') as Address
const contracts = CODES.map((_, index) => address(0xc0n + BigInt(index)))

const slot = fc.bigInt(0n, 2n)
const input = fc.tuple(fc.oneof(slot, fc.constantFrom(0xc1n, 0xc2n, 0xeen)), slot)
const step: fc.Arbitrary<Step> = fc.record({
  index: fc.nat(2),
  to: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...contracts) },
    { weight: 2, arbitrary: fc.constantFrom(address(0xeen), address(4n), null) },
  ),
  value: fc.bigInt(0n, 2n),
  input,
})

interface Step {
  readonly index: number
  readonly to: Address | null
  readonly value: bigint
  readonly input: readonly [bigint, bigint]
}

function transactionsOf(chain: Chain, steps: readonly Step[]): Transaction[] {
  const nonces = [0n, 0n, 0n]
  return steps.map(({ index, to, value, input: [first, second] }) => {
    const nonce = nonces[index]!
    nonces[index] = nonce + 1n
    const words = bytesFromHex(wordFromBigint(first) + wordFromBigint(second).slice(2))
    const data = to === null ? CODES[Number(second)]! : words
    return signed(chain, { index, nonce, to, value, data, gasLimit: 200_000n })
  })
}

function recordingTracer(): { readonly tracer: Tracer; readonly events: unknown[] } {
  const events: unknown[] = []
  const tracer: Tracer = {
    onStep: ({ stack, ...step }) => events.push({ ...step, stack: [...stack] }),
    onEnter: ({ code, ...frame }) => events.push({ ...frame, code: code() }),
    onExit: (frame) => events.push(frame),
    onLog: (log) => events.push(log),
    onDestroy: (destruction) => events.push(destruction),
    stepParts: { stack: true, memory: true },
  }
  return { tracer, events }
}

async function tracesOverOneDraft(
  chain: Chain,
  { world, block, transactions }: Pick<TransactionJob, 'world' | 'block'> & Transactions,
): Promise<unknown[][]> {
  const limits = blockLimits(chain.state.config)
  const draft = new Overlay(world)
  const traces: unknown[][] = []
  for (const transaction of transactions) {
    const { tracer, events } = recordingTracer()
    const job = { world, draft, block, transaction, limits, tracer }
    const outcome = await chain.executor.transact(job)
    draft.absorb(outcome.changes)
    traces.push(events)
  }
  return traces
}

interface Transactions {
  readonly transactions: readonly Transaction[]
}

async function compare(hardfork: Hardfork, steps: readonly Step[]) {
  const alloc = Object.fromEntries(
    CODES.map((code, index) => [contracts[index]!, { balance: '0x5', code: hexFromBytes(code) }]),
  )
  const chain = await testChain({ hardfork, genesis: parseGenesis({ alloc }), noMining: true })
  const transactions = transactionsOf(chain, steps)
  const parent = headOf(chain.state.tree)
  await chain.update(async (state, executor) => {
    const mined = await mineGiven(executor, state, transactions, { now: chain.environment.now() })
    return { state: mined.state, value: undefined }
  })
  const record = headOf(chain.state.tree)
  const { header } = record.block
  const block = blockEnvironment(chain.state, record)
  let world = await chain.executor.beginBlock({
    world: parent.world,
    block,
    parentHash: header.parentHash,
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
  })
  const inOnePass = await tracesOverOneDraft(chain, { world, block, transactions })
  let index = 0
  let recorder = recordingTracer()
  const nextTracer = (): Tracer => {
    recorder = recordingTracer()
    return recorder.tracer
  }
  for await (const { outcome } of replay(chain, record, nextTracer)) {
    expect(inOnePass[index]).toEqual(recorder.events)
    const { receipt, output, failure } = record.executed[index]!
    expect(receipt.status).toBe(outcome.failure === undefined)
    expect(failure).toEqual(outcome.failure)
    expect(output).toEqual(outcome.output)
    expect(receipt.gasUsed).toBe(outcome.gasUsed)
    expect(receipt.logs).toEqual(outcome.logs)
    expect(receipt.logsBloom).toEqual(bloomOf(outcome.logs))
    if (receipt.root !== undefined) expect(receipt.root).toBe(stateRoot(outcome.world))
    world = outcome.world
    index += 1
  }
  expect(index).toBe(transactions.length)
  const logs = record.executed.flatMap(({ receipt }) => receipt.logs)
  const end = await chain.executor.endBlock({ world, block, logs })
  expect(stateRoot(end.world)).toBe(header.stateRoot)
  expect(stateRoot(record.world)).toBe(header.stateRoot)
  chain.close()
}

async function growPending(prices: readonly bigint[]): Promise<void> {
  const chain = await testChain({ noMining: true, baseFee: 0n })
  const nonces = [0n, 0n, 0n]
  for (const [at, price] of prices.entries()) {
    const index = at % 3
    const nonce = nonces[index]!
    nonces[index] = nonce + 1n
    const sent = signed(chain, { index, nonce, maxFeePerGas: price, maxPriorityFeePerGas: price })
    await sendRawTransaction(chain, sent.raw)
    const { record } = await buildPending(chain.executor, chain.state, chain.environment.now())
    const grown = await chain.pending()
    expect(grown.block).toEqual(record.block)
    expect(grown.executed).toEqual(record.executed)
  }
  chain.close()
}

describe('a pending block that grows', () => {
  test('equals one built anew, in whatever order the transactions are mined', async () => {
    const price = fc.bigInt(0n, 3n)
    const equal = fc.asyncProperty(fc.array(price, { maxLength: 12, size: 'max' }), growPending)
    await fc.assert(equal, { seed: 31, numRuns: 10 })
  })
})

describe('a block built in one pass', () => {
  test.each(HARDFORKS)('equals one built transaction by transaction, at %s', async (hardfork) => {
    const steps = fc.array(step, { minLength: 1, maxLength: 25, size: 'max' })
    const compared = fc.asyncProperty(steps, (each) => compare(hardfork, each))
    await fc.assert(compared, { seed: 30, numRuns: 4 })
  })
})
