// The next block is built while transactions wait, and mined when its time comes.
import { describe, expect, it, type Mock, vi } from 'vitest'
import { throwIfCancelled } from '../../../../src/evm/cancellation.ts'
import type { Executor } from '../../../../src/evm/executor.ts'
import { mineOn } from '../../../../src/methods/common/mine.ts'
import type { Chain } from '../../../../src/node/chain/chain.ts'
import type { ChainOptions } from '../../../../src/node/chainoptions.ts'
import { editAccount } from '../../../../src/node/cheats/edit.ts'
import { headOf } from '../../../../src/node/ledger/blocktree.ts'
import { dropTransactions } from '../../../../src/node/mining/drop.ts'
import { sendRawTransaction } from '../../../../src/node/sending/send.ts'
import { MAX_TIMESTAMP } from '../../../../src/protocol/timestamps.ts'
import type { Account } from '../../../../src/state/world.ts'
import { eventually } from '../../../support/waiting/eventually.ts'
import { nextTurn, slowClock } from '../../../support/waiting/turns.ts'
import {
  account,
  height,
  signed,
  type TestEnvironment,
  testChain,
  testEnvironment,
} from '../chains.ts'

interface Watched {
  readonly chain: Chain
  readonly environment: TestEnvironment
  readonly runs: Mock<Executor['transact']>
}

async function watchedChain(options: ChainOptions = {}): Promise<Watched> {
  const environment = testEnvironment()
  const chain = await testChain({ noMining: true, environment, ...options })
  const runs = vi.spyOn(chain.executor, 'transact')
  return { chain, environment, runs }
}

/** The first run waits for the call of what is returned. */
function holdFirst({ chain, runs }: Pick<Watched, 'chain' | 'runs'>): () => void {
  const { transact } = chain.executor
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  runs.mockImplementationOnce(async (job) => {
    await released
    return transact(job)
  })
  return () => release()
}

/** Sends transactions of nonces from `first` to below `end` in one turn. */
async function sendAll(chain: Chain, first: number, end: number): Promise<void> {
  for (let nonce = first; nonce < end; nonce++) {
    await sendRawTransaction(chain, signed(chain, { nonce: BigInt(nonce) }).raw)
  }
}

/** A pending block of five transactions, which is built until the call of `release`. */
async function heldPending(): Promise<{
  readonly chain: Chain
  readonly pending: ReturnType<Chain['pending']>
  readonly release: () => void
}> {
  const { chain, runs } = await watchedChain()
  const release = holdFirst({ chain, runs })
  await sendAll(chain, 0, 5)
  const pending = chain.pending()
  await eventually(() => runs.mock.calls.length > 0)
  return { chain, pending, release }
}

/** As `sendAll`, and lets what is due happen. */
async function send(chain: Chain, first: number, end: number): Promise<void> {
  await sendAll(chain, first, end)
  await nextTurn(3)
}

async function minedCount(chain: Chain): Promise<number> {
  await mineOn(chain, () => ({}))
  return headOf(chain.state.tree).executed.length
}

// time stands still in tests of work ahead: the first run waits for modules, for longer than it may take
describe('the next block', () => {
  it('runs waiting transactions once, before it is mined at whatever time', async () => {
    const { chain, environment, runs } = await watchedChain()
    using _clock = slowClock(0)
    await send(chain, 0, 40)
    await eventually(() => runs.mock.calls.length > 30)
    await chain.pending()
    environment.ms += 5_000
    expect(await minedCount(chain)).toBe(40)
    expect(runs).toHaveBeenCalledTimes(40)
  })

  it('is not begun for a few transactions', async () => {
    const { chain, runs } = await watchedChain()
    await send(chain, 0, 10)
    expect(runs).not.toHaveBeenCalled()
    expect(await minedCount(chain)).toBe(10)
  })

  it('is not begun under instant mining, where waiting transactions lack a nonce', async () => {
    const { chain, runs } = await watchedChain({ noMining: false })
    await send(chain, 1, 30)
    expect(runs).not.toHaveBeenCalled()
  })

  it('is begun again when an account is changed', async () => {
    const { chain } = await watchedChain()
    const withNonce = (sender: Account): Account => ({ ...sender, nonce: 5n })
    await send(chain, 0, 20)
    await chain.update((state) => editAccount(state, account(chain, 0), withNonce))
    expect(await minedCount(chain)).toBe(15)
  })

  it('is begun for those that a full block left', async () => {
    const { chain, runs } = await watchedChain({ gasLimit: 20n * 21_000n })
    using _clock = slowClock(0)
    await send(chain, 0, 50)
    expect(await minedCount(chain)).toBe(20)
    await nextTurn(3)
    runs.mockClear()
    expect(await minedCount(chain)).toBe(20)
    expect(runs).not.toHaveBeenCalled()
    expect(await minedCount(chain)).toBe(10)
  })

  it('is run when it is mined, if something watches that', async () => {
    const { chain, runs } = await watchedChain()
    const watch = { tracer: {}, begin: () => undefined, report: () => undefined }
    chain.execution.watchCommands(() => watch)
    await send(chain, 0, 20)
    await chain.pending()
    runs.mockClear()
    expect(await minedCount(chain)).toBe(20)
    expect(runs).toHaveBeenCalledTimes(20)
  })

  it('is left to who mines it, if one transaction takes too long', async () => {
    const { chain, environment, runs } = await watchedChain()
    using _clock = slowClock(1_000)
    runs.mockImplementationOnce(({ cancellation }) => {
      throwIfCancelled(cancellation, 1n)
      throw new Error('not cancelled')
    })
    await send(chain, 0, 30)
    await nextTurn(20)
    expect(await chain.nextBlock.take(chain.executor)).toBeUndefined()
    runs.mockClear()
    expect(await minedCount(chain)).toBe(30)
    expect(runs).toHaveBeenCalledTimes(30)
    expect(environment.bugs).toEqual([])
  })

  it('is built whole, however long its transactions take together', async () => {
    const { chain, runs } = await watchedChain()
    using _clock = slowClock(100)
    await sendAll(chain, 0, 30)
    await eventually(() => runs.mock.calls.length === 30)
    expect(await minedCount(chain)).toBe(30)
    expect(runs).toHaveBeenCalledTimes(30)
  })

  it('is taken as far as it is built', async () => {
    const { chain } = await watchedChain()
    using _clock = slowClock(100)
    await sendAll(chain, 0, 30)
    await nextTurn(8)
    const begun = await chain.nextBlock.take(chain.executor)
    expect(begun?.draft.executed.length).toBeGreaterThan(0)
    expect(begun?.draft.executed.length).toBeLessThan(30)
  })

  it('is not begun any more when its transactions were mined before', async () => {
    const { chain } = await watchedChain()
    const begins = vi.spyOn(chain.executor, 'beginBlock')
    await sendAll(chain, 0, 20)
    expect(await minedCount(chain)).toBe(20)
    begins.mockClear()
    await nextTurn(20)
    expect(begins).not.toHaveBeenCalled()
  })

  it('is not run beside the command that mines it', async () => {
    const { chain, runs } = await watchedChain()
    using _clock = slowClock(20)
    await sendAll(chain, 0, 20)
    expect(await minedCount(chain)).toBe(20)
    await nextTurn(20)
    expect(runs).toHaveBeenCalledTimes(20)
  })

  it('is taken as the first of several', async () => {
    const { chain, runs } = await watchedChain()
    using _clock = slowClock(0)
    await send(chain, 0, 20)
    await chain.pending()
    expect(runs).toHaveBeenCalledTimes(20)
    await mineOn(chain, () => ({ blocks: 3n }))
    expect(runs).toHaveBeenCalledTimes(20)
    expect(height(chain)).toBe(3n)
  })

  it('is not waited for after a transaction of it was dropped', async () => {
    const { chain, pending, release } = await heldPending()
    await chain.update((state) => dropTransactions(state))
    expect(await minedCount(chain)).toBe(0)
    release()
    expect((await pending).executed).toHaveLength(5)
  })

  it('is not waited for by a command whose caller left', async () => {
    const { chain, pending, release } = await heldPending()
    const caller = { aborted: false }
    const mined = mineOn(chain, () => ({}), caller)
    await nextTurn(3)
    caller.aborted = true
    await expect(mined).rejects.toThrow('the client disconnected')
    await chain.update((state) => dropTransactions(state))
    release()
    expect((await pending).executed).toHaveLength(5)
  })

  it('is no bug when its time is beyond the last one', async () => {
    const { chain, environment } = await watchedChain({ gasLimit: 20n * 21_000n })
    await send(chain, 0, 50)
    await mineOn(chain, () => ({ timestamp: MAX_TIMESTAMP }))
    await nextTurn(5)
    expect(environment.bugs).toEqual([])
    await expect(minedCount(chain)).rejects.toThrow('latest time of a block')
  })
})
