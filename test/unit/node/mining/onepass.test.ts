// A block's transactions run over one draft of the state. Run one by one, each on the world after the one before, they
// have the same results.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hexFromBytes } from '../../../../src/core/hex.ts'
import type { Executor, Tracer, TransactionJob } from '../../../../src/evm/executor.ts'
import { replay } from '../../../../src/node/calls/replay.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { blockEnvironment } from '../../../../src/node/mining/environment.ts'
import { blockLimits } from '../../../../src/node/mining/limits.ts'
import {
  type BegunBlock,
  filledBlock,
  mineBlock,
  mineGiven,
  pendingRecord,
} from '../../../../src/node/mining/miner.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { bloomOf } from '../../../../src/protocol/blocks/bloom.ts'
import { HARDFORKS, type Hardfork } from '../../../../src/protocol/forks.ts'
import type { Transaction } from '../../../../src/protocol/transactions/transaction.ts'
import { Overlay } from '../../../../src/state/overlay.ts'
import { BEACON_ROOTS, HISTORY_STORAGE } from '../../../../src/state/predeploys.ts'
import { stateRoot } from '../../../../src/state/world.ts'
import { assemble } from '../../../support/evm/bytecode.ts'
import { NOON, signed, testChain } from '../chains.ts'
import { CONTRACTS, genesisOfSteps, type Step, step, transactionsOf } from './steps.ts'

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
  const chain = await testChain({ hardfork, genesis: genesisOfSteps(), noMining: true })
  const transactions = transactionsOf(chain, steps)
  const parent = headOf(chain.state.tree)
  await chain.update(async (state, executor) => {
    const mined = await mineGiven(executor, state, transactions, { now: chain.environment.now() })
    return { state: mined.state, value: undefined }
  })
  const record = headOf(chain.state.tree)
  const { header } = record.block
  const block = blockEnvironment(chain.state, record)
  const begun = await chain.executor.beginBlock({
    world: parent.world,
    block,
    parentHash: header.parentHash,
    parentBeaconBlockRoot: header.parentBeaconBlockRoot,
  })
  let { world } = begun
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
    const now = chain.environment.now()
    const filled = await filledBlock(chain.executor, chain.state, { now })
    const record = await pendingRecord(chain.executor, filled)
    const grown = await chain.pending()
    expect(grown.block).toEqual(record.block)
    expect(grown.executed).toEqual(record.executed)
  }
  chain.close()
}

/**
 * Mines the transactions at the last time, begun at the times before; `times` are seconds after another.
 * @param more accounts of the genesis
 */
async function beginAhead(
  hardfork: Hardfork,
  steps: readonly Step[],
  times: readonly number[],
  more: Parameters<typeof genesisOfSteps>[0] = {},
) {
  const chain = await testChain({ hardfork, genesis: genesisOfSteps(more), noMining: true })
  const transactions = transactionsOf(chain, steps)
  let begun: BegunBlock | undefined
  let sent = 0
  for (const [index, seconds] of times.entries()) {
    const upTo = Math.ceil((transactions.length * (index + 1)) / times.length)
    for (; sent < upTo; sent++) await sendRawTransaction(chain, transactions[sent]!.raw)
    const { executor, state } = chain
    begun = await filledBlock(executor, state, { now: NOON + 1_000 * seconds, begun })
    if (seconds % 2 === 0) await pendingRecord(executor, begun)
  }
  const { executor, state } = chain
  const now = NOON + 8_000
  const anew = await mineBlock(executor, state, { now })
  const { executor: counting, ran } = countingRuns(executor)
  const mined = await mineBlock(counting, state, { now, begun })
  const { block, executed } = headOf(anew.state.tree)
  const record = headOf(mined.state.tree)
  expect(record.block).toEqual(block)
  expect(record.executed).toEqual(executed)
  expect(stateRoot(record.world)).toBe(block.header.stateRoot)
  expect(mined.dropped).toEqual(anew.dropped)
  expect(mined.state.pool).toEqual(anew.state.pool)
  chain.close()
  return ran()
}

function countingRuns(executor: Executor) {
  let runs = 0
  const transact: Executor['transact'] = (job) => {
    runs += 1
    return executor.transact(job)
  }
  return { executor: { ...executor, transact }, ran: () => runs }
}

const WRITING: Step = { index: 0, to: CONTRACTS[1]!, value: 0n, input: [1n, 1n] }
const ROOTS = BigInt(BEACON_ROOTS.address)
const PAYING_ROOTS: Step = { ...WRITING, to: CONTRACTS[2]!, input: [ROOTS, 0n] }
const timed = (code: number): Step => ({ ...WRITING, to: CONTRACTS[code]! })

describe('a block that is begun ahead', () => {
  test.each(HARDFORKS)('equals one that is run when it is mined, at %s', async (hardfork) => {
    const steps = fc.array(step, { minLength: 1, maxLength: 12, size: 'max' })
    const times = fc.array(fc.constantFrom(3, 4, 5, 6), { minLength: 1, maxLength: 3 })
    const compared = fc.asyncProperty(steps, times, async (each, at) => {
      await beginAhead(hardfork, each, at)
    })
    await fc.assert(compared, { seed: 50, numRuns: 12 })
  })

  test.each([BEACON_ROOTS, HISTORY_STORAGE])(
    'is run again where $address reads the time',
    async ({ address }) => {
      const code = hexFromBytes(assemble('TIMESTAMP 5 SSTORE'))
      expect(
        await beginAhead('osaka', [WRITING], [4], { [address]: { balance: '0x0', code } }),
      ).toBe(1)
    },
  )

  test.each([
    ['not run again at another time', [WRITING, WRITING], 0],
    ['run again if one reads the time', [WRITING, timed(7)], 2],
    ['run again if one reads beacon roots', [timed(8), WRITING], 2],
    ['run again if one pays the contract of beacon roots', [PAYING_ROOTS, WRITING], 2],
  ] as const)('has transactions that are %s', async (_, steps, runs) => {
    expect(await beginAhead('osaka', steps, [4, 5])).toBe(runs)
    expect(await beginAhead('amsterdam', steps, [5])).toBe(runs)
  })
})

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
