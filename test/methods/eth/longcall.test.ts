// Long calls over real sockets: others are served meanwhile, and a call is cancelled when its client is gone.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { nextTurn } from '../../support/waiting/turns.ts'
import { connectRaw, rawPost } from '../../support/wire/raw.ts'
import { ALICE, bodyOf, LOOP, LOOPING, startEndless, startStage } from '../../support/wire/stage.ts'

const OVERRIDES = { [LOOPING]: { code: LOOP } }
const ENDLESS = `0x${'f'.repeat(64)}`
const TRILLION = '0xe8d4a51000'

/** Ten times what a slice of a call and a reply take on the machine that this was written on. */
const MOST_WAITING_MS = 200

function callOf(gas: string): string {
  return bodyOf('eth_call', [{ to: LOOPING, gas }, 'latest', OVERRIDES])
}

async function ask(url: string, body: string, signal?: AbortSignal): Promise<unknown> {
  const request = { method: 'POST', body, ...(signal === undefined ? {} : { signal }) }
  return (await fetch(url, request)).json()
}

/** What the processor did for one question, in milliseconds: wall time would include other load of the machine. */
async function workUntilAnswered(url: string): Promise<number> {
  const before = process.cpuUsage()
  expect(await ask(url, bodyOf('eth_blockNumber', []))).toMatchObject({ result: '0x0' })
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Sends an endless call, ends its connection, and expects that the call is cancelled. */
async function expectCancelled(
  options: Parameters<typeof startStage>[0],
  end: (socket: Socket) => void,
): Promise<void> {
  await using stage = await startStage(options)
  const failure = stage.failure('eth_call')
  using raw = await connectRaw(Number(new URL(stage.url).port))
  raw.write(rawPost(callOf(ENDLESS)))
  await workUntilAnswered(stage.url)
  end(raw.socket)
  expect(await failure).toMatchObject({ message: expect.stringContaining('cancelled') })
}

describe.each(['reference', 'interpreter', 'auto'])('with --evm %s', (evm) => {
  test('eth_blockNumber responds during a call of a trillion gas', async () => {
    await using stage = await startStage({ evm })
    await ask(stage.url, callOf('0xfffff'))
    const failure = stage.failure('eth_call')
    const controller = new AbortController()
    let isOver = false
    const long = ask(stage.url, callOf(TRILLION), controller.signal).finally(() => {
      isOver = true
    })
    const waits: number[] = []
    for (let i = 0; i < 10; i += 1) waits.push(await workUntilAnswered(stage.url))
    expect(isOver).toBe(false)
    controller.abort()
    await long.catch(() => undefined)
    await failure
    waits.sort((a, b) => a - b)
    // compilers and the garbage collector work meanwhile, on the same bill
    expect(waits[5]).toBeLessThan(MOST_WAITING_MS)
  })

  test('an endless call is cancelled when its client disconnects', () =>
    expectCancelled({ evm }, (socket) => void socket.resetAndDestroy()))

  test('an endless call is cancelled when the server closes', async () => {
    await using stage = await startStage({ evm })
    const failure = stage.failure('eth_call')
    const call = ask(stage.url, callOf(ENDLESS))
    call.catch(() => undefined)
    await workUntilAnswered(stage.url)
    await stage.devchain.close()
    expect(await failure).toMatchObject({ message: expect.stringContaining('cancelled') })
    await expect(call).rejects.toThrow()
  })
})

test('an endless call is cancelled when its client half-closes and reads nothing', () =>
  expectCancelled({}, (socket) => void socket.destroy()))

const ENDLESS_READS: [method: string, params: readonly unknown[]][] = [
  ['eth_call', [{ to: LOOPING, gas: ENDLESS }, 'latest', OVERRIDES]],
  ['eth_estimateGas', [{ to: LOOPING, gas: ENDLESS }, 'latest', OVERRIDES]],
  ['eth_createAccessList', [{ to: LOOPING, gas: ENDLESS }, 'latest', OVERRIDES]],
  [
    'eth_simulateV1',
    [
      {
        blockStateCalls: [
          {
            blockOverrides: { gasLimit: '0xffffffffffffffff' },
            stateOverrides: OVERRIDES,
            calls: [{ to: LOOPING, gas: '0xfffffffffffff' }],
          },
        ],
      },
    ],
  ],
  ['debug_traceCall', [{ to: LOOPING, gas: ENDLESS }, 'latest', { stateOverrides: OVERRIDES }]],
  ['trace_call', [{ to: LOOPING, gas: ENDLESS }, ['trace'], 'latest', OVERRIDES]],
]

test.each(ENDLESS_READS)(
  'an endless %s over WebSocket is cancelled when its client disconnects',
  async (method, params) => {
    await using stage = await startStage({ traceLimit: 10 ** 12 })
    const failure = stage.failure(method)
    const socket = new WebSocket(stage.wsUrl)
    await once(socket, 'open')
    socket.send(bodyOf(method, params))
    await workUntilAnswered(stage.url)
    socket.terminate()
    expect(await failure).toMatchObject({ message: expect.stringContaining('cancelled') })
  },
)

test.each<[method: string, params: readonly unknown[], options?: object]>([
  ...ENDLESS_READS,
  // the estimate before it does not end
  ['eth_sendTransaction', [{ from: ALICE, to: LOOPING }], { defaultGas: 'estimate' }],
])(
  'an endless %s is cancelled by a reset with an error to its client',
  async (method, params, options) => {
    await using stage = await startEndless({ traceLimit: 10 ** 12, ...options })
    const run = stage.ask(method, ...params)
    run.catch(() => undefined)
    await nextTurn()
    await stage.ask('evm_reset')
    const message = expect.stringContaining('cancelled: the chain was reset while it ran')
    await expect(run).rejects.toMatchObject({ code: -32000, message })
  },
)

test('an endless call is cancelled when its chain is dropped', async () => {
  await using stage = await startStage()
  await stage.ask('devchain_newChain', 'alice')
  const call = ask(`${stage.url}/alice`, callOf(ENDLESS))
  await workUntilAnswered(`${stage.url}/alice`)
  await stage.ask('devchain_dropChain', 'alice')
  const message = 'the execution was cancelled: the chain was closed while it ran'
  expect(await call).toMatchObject({ error: { message } })
})
