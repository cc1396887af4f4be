// A block's transactions run over one draft of the state. Run one by one, each on the world after the one before, they
// have the same results.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Tracer, TransactionJob } from '../../../../src/evm/executor.ts'
import { replay } from '../../../../src/node/calls/replay.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { blockEnvironment } from '../../../../src/node/mining/environment.ts'
import { blockLimits } from '../../../../src/node/mining/limits.ts'
import { buildPending, mineGiven } from '../../../../src/node/mining/miner.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { bloomOf } from '../../../../src/protocol/blocks/bloom.ts'
import { HARDFORKS, type Hardfork } from '../../../../src/protocol/forks.ts'
import type { Transaction } from '../../../../src/protocol/transactions/transaction.ts'
import { Overlay } from '../../../../src/state/overlay.ts'
import { stateRoot } from '../../../../src/state/world.ts'
import { signed, testChain } from '../chains.ts'
import { genesisOfSteps, type Step, step, transactionsOf } from './steps.ts'

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
