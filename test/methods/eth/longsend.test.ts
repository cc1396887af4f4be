// Sends and blocks that do not end: a disconnect, a reset or a revert cancels them, and nothing of them is left.
import { once } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createDevchain } from '../../../src/devchain.ts'
import { nextTurn } from '../../support/waiting/turns.ts'
import { connectRaw, rawPost } from '../../support/wire/raw.ts'
import {
  ALICE,
  bodyOf,
  ENDLESS,
  LOOPING,
  type Stage,
  startEndless,
} from '../../support/wire/stage.ts'

const TRANSFER = { from: ALICE, to: ALICE, gas: '0x5208' }

/** The chain is as it was: nothing waits, nothing was mined, no nonce was used, and it works. */
async function expectUntouched({ ask }: Stage, height = '0x0'): Promise<void> {
  expect(await ask('eth_blockNumber')).toBe(height)
  expect(await ask('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
  await ask('eth_sendTransaction', { ...TRANSFER, nonce: '0x0' })
  expect(await ask('eth_blockNumber')).toBe(`0x${(Number(height) + 1).toString(16)}`)
}

const cancelled = (why: string): object => ({
  code: -32000,
  message: expect.stringContaining(why),
})

describe.each(['reference', 'interpreter', 'auto'])('with --evm %s an endless send', (evm) => {
  test('is cancelled when its client disconnects, and leaves nothing behind', async () => {
    await using stage = await startEndless({ evm })
    const failure = stage.failure('eth_sendTransaction')
    using raw = await connectRaw(Number(new URL(stage.url).port))
    raw.write(rawPost(bodyOf('eth_sendTransaction', [ENDLESS])))
    await stage.ask('eth_call', { to: ALICE })
    raw.socket.resetAndDestroy()
    expect(await failure).toMatchObject(cancelled('the client disconnected'))
    await expectUntouched(stage)
  })

  test('is cancelled by a reset with an error to its client', async () => {
    await using stage = await startEndless({ evm })
    const send = stage.ask('eth_sendTransaction', ENDLESS)
    send.catch(() => undefined)
    await nextTurn()
    expect(await stage.ask('evm_reset')).toBe(null)
    await expect(send).rejects.toMatchObject(cancelled('the chain was reset while it ran'))
    await expectUntouched(stage)
  })
})

test('an endless send over WebSocket is cancelled when its client disconnects', async () => {
  await using stage = await startEndless()
  const failure = stage.failure('eth_sendTransaction')
  const socket = new WebSocket(stage.wsUrl)
  await once(socket, 'open')
  socket.send(bodyOf('eth_sendTransaction', [ENDLESS]))
  await stage.ask('eth_call', { to: ALICE })
  socket.terminate()
  expect(await failure).toMatchObject(cancelled('the client disconnected'))
  await expectUntouched(stage)
})

test('an endless replacement is cancelled when its client disconnects, and the original still waits', async () => {
  await using stage = await startEndless()
  await stage.ask('evm_setAutomine', false)
  const waiting = await stage.ask('eth_sendTransaction', { ...ENDLESS, gasPrice: '0x1' })
  // for a while it has no room in a block
  await stage.ask('evm_setBlockGasLimit', '0x1c9c380')
  await stage.ask('evm_setAutomine', true)
  await stage.ask('evm_setBlockGasLimit', '0x1fffffffffffff')
  const failure = stage.failure('eth_resend')
  using raw = await connectRaw(Number(new URL(stage.url).port))
  const replacement = [{ from: ALICE, nonce: '0x0' }, '0x2']
  raw.write(rawPost(bodyOf('eth_resend', replacement)))
  await stage.ask('eth_call', { to: ALICE })
  raw.socket.resetAndDestroy()
  expect(await failure).toMatchObject(cancelled('the client disconnected'))
  expect(await stage.ask('eth_pendingTransactions')).toMatchObject([{ hash: waiting }])
})

test('an estimate before an endless send is cancelled with it', async () => {
  await using stage = await startEndless({ defaultGas: 'estimate' })
  const failure = stage.failure('eth_sendTransaction')
  using raw = await connectRaw(Number(new URL(stage.url).port))
  raw.write(rawPost(bodyOf('eth_sendTransaction', [{ from: ALICE, to: LOOPING }])))
  await stage.ask('eth_call', { to: ALICE })
  raw.socket.destroy()
  expect(await failure).toMatchObject(cancelled('the client disconnected'))
  await expectUntouched(stage)
})

test.each<[way: string, params: (id: unknown) => unknown[], message: string]>([
  ['evm_revert', (id) => [id], 'the chain was reverted to a snapshot while it ran'],
  ['devchain_revert', (id) => [Number(id)], 'the chain was reverted to a snapshot while it ran'],
  ['hardhat_reset', () => [], 'the chain was reset while it ran'],
])(
  '%s cancels everything that runs and waits before it, and nothing else',
  async (way, params, message) => {
    await using stage = await startEndless()
    const id = await stage.ask('evm_snapshot')
    const sends = [1, 2, 3].map(() => stage.ask('eth_sendTransaction', ENDLESS))
    const quick = stage.ask('eth_sendTransaction', TRANSFER)
    const ended = Promise.allSettled(sends)
    await nextTurn()
    const back = stage.ask(way, ...params(id))
    const after = stage.ask('eth_sendTransaction', { ...TRANSFER, nonce: '0x0' })
    for (const send of await ended) {
      expect(send).toMatchObject({ status: 'rejected', reason: cancelled(message) })
    }
    // what is done at once is done, and then taken back
    expect(await quick).toMatch(/^0x[0-9a-f]{64}$/)
    await back
    const hash = await after
    expect(await stage.ask('eth_blockNumber')).toBe('0x1')
    expect(await stage.ask('eth_getTransactionByHash', hash)).toMatchObject({ nonce: '0x0' })
  },
)

test('evm_revert to an unknown snapshot cancels nothing', async () => {
  await using stage = await startEndless()
  const id = await stage.ask('evm_snapshot')
  const send = stage.ask('eth_sendTransaction', ENDLESS)
  send.catch(() => undefined)
  await nextTurn()
  const unknown = stage.ask('evm_revert', '0x99')
  const outcome = { isOver: false }
  void unknown.finally(() => {
    outcome.isOver = true
  })
  await nextTurn(200)
  expect(outcome.isOver).toBe(false)
  const back = stage.ask('evm_revert', id)
  await expect(send).rejects.toMatchObject(cancelled('reverted'))
  expect(await unknown).toBe(false)
  expect(await back).toBe(true)
})

test.each<[name: string, method: string, params: readonly unknown[]]>([
  ['evm_mine', 'evm_mine', []],
  ['evm_setAutomine', 'evm_setAutomine', [true]],
  ['evm_startMining', 'evm_startMining', []],
  ['hardhat_mine of a million blocks', 'hardhat_mine', ['0xf4240']],
])('%s with an endless transaction is cancelled, and the pool stays', async (_, method, params) => {
  await using stage = await startEndless({ noMining: true })
  const hash = await stage.ask('eth_sendTransaction', ENDLESS)
  const id = await stage.ask('evm_snapshot')
  const failure = stage.failure(method)
  using raw = await connectRaw(Number(new URL(stage.url).port))
  raw.write(rawPost(bodyOf(method, params)))
  await stage.ask('eth_call', { to: ALICE })
  raw.socket.resetAndDestroy()
  expect(await failure).toMatchObject(cancelled('the client disconnected'))
  expect(await stage.ask('txpool_status')).toEqual({ pending: '0x1', queued: '0x0' })
  const mining = stage.ask(method, ...params)
  mining.catch(() => undefined)
  expect(await stage.ask('evm_revert', id)).toBe(true)
  await expect(mining).rejects.toMatchObject(cancelled('reverted'))
  expect(await stage.ask('eth_blockNumber')).toBe('0x0')
  expect(await stage.ask('anvil_dropTransaction', hash)).toBe(hash)
})

test('an endless interval block is cancelled by a reset, and is no bug', async () => {
  await using stage = await startEndless({ noMining: true })
  await stage.ask('eth_sendTransaction', ENDLESS)
  // the engine looks at the clock to know when to pause: that one goes on
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await stage.ask('evm_setIntervalMining', '0x1')
    await vi.advanceTimersByTimeAsync(1_000)
  } finally {
    vi.useRealTimers()
  }
  // the chain is busy with the block
  const balance = stage.ask('hardhat_setBalance', ALICE, '0x0')
  const order: string[] = []
  void balance.then(() => order.push('set'))
  await nextTurn(200)
  expect(order).toEqual([])
  await stage.ask('evm_reset')
  expect(order).toEqual(['set'])
  expect(await stage.ask('eth_getBalance', ALICE)).not.toBe('0x0')
  expect(await stage.ask('eth_blockNumber')).toBe('0x0')
})

test('the end of time is reported once, however many intervals pass', async () => {
  const reported = vi.spyOn(console, 'error').mockReturnValue()
  await using devchain = await createDevchain()
  await devchain.request({ method: 'evm_setNextBlockTimestamp', params: ['0xffffffffffffffff'] })
  await devchain.request({ method: 'evm_mine' })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await devchain.request({ method: 'evm_setIntervalMining', params: [1] })
    await vi.advanceTimersByTimeAsync(5_000)
  } finally {
    vi.useRealTimers()
  }
  expect(reported.mock.calls).toEqual([[expect.stringMatching(/^interval mining: the next block/)]])
})

test('an endless pending block is cancelled by a reset', async () => {
  await using stage = await startEndless({ noMining: true })
  await stage.ask('eth_sendTransaction', ENDLESS)
  const pending = stage.ask('eth_getBlockByNumber', 'pending', false)
  pending.catch(() => undefined)
  await nextTurn()
  await stage.ask('evm_reset')
  await expect(pending).rejects.toMatchObject(cancelled('the chain was reset while it ran'))
  expect(await stage.ask('eth_getBlockByNumber', 'pending', false)).toMatchObject({
    transactions: [],
  })
})

test('a running send is cancelled when the chain closes', async () => {
  const stage = await startEndless()
  const send = stage.ask('eth_sendTransaction', ENDLESS)
  send.catch(() => undefined)
  await nextTurn()
  await stage[Symbol.asyncDispose]()
  await expect(send).rejects.toMatchObject({ message: expect.stringContaining('cancelled') })
})
