// Long traces: bounded in memory, refused over the limit, and others are served meanwhile. LONG_TRACE=1 runs through
// five million steps and prints what it took; otherwise it is a tenth of that.
import { describe, expect, test } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { nextTurn } from '../../support/waiting/turns.ts'

const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

const IS_LONG = process.env.LONG_TRACE === '1'

/** Five operations of 15 gas together, for ever: JUMPDEST PUSH0 POP PUSH2 JUMP. */
const LOOP = '5b5f5061000056'

const STEPS = IS_LONG ? 5_000_000 : 500_000

/** Gas that the loop takes for so many steps, after what a creation takes before. */
const GAS = 3 * STEPS + 60_000

/** What others may have to wait for at most, on average: 50 ms of the machine that this was written on. */
const STEPS_PER_ANSWER = 25_000

interface Figures {
  readonly megabytes: number
  readonly peakMegabytes: number
  /** Requests of others that were answered meanwhile. */
  readonly answered: number
  /** The longest that the processor was busy with one turn, in milliseconds. */
  readonly longestTurn: number
}

async function ask<T>(devchain: Devchain, method: string, ...params: unknown[]): Promise<T> {
  return (await devchain.request({ method, params })) as T
}

/** Watches this process until stopped: memory, and how long other work waits for its turn. */
function watchProcess(): { readonly stop: () => { peak: number; longest: number } } {
  let isOver = false
  let peak = 0
  let longest = 0
  let used = process.cpuUsage()
  const look = (): void => {
    // not the time of the clock: this machine may be busy with other things
    const { user, system } = process.cpuUsage(used)
    longest = Math.max(longest, (user + system) / 1_000)
    peak = Math.max(peak, process.memoryUsage.rss())
    used = process.cpuUsage()
    if (!isOver) setImmediate(look)
  }
  look()
  return {
    stop: () => {
      isOver = true
      return { peak, longest }
    },
  }
}

async function figuresOf(devchain: Devchain, body: object): Promise<Figures> {
  const { url } = await devchain.listen()
  const watched = watchProcess()
  let answered = 0
  let isOver = false
  const others = (async () => {
    while (!isOver) {
      await ask(devchain, 'eth_blockNumber')
      answered += 1
      await nextTurn()
    }
  })()
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ id: 1, ...body }) })
  let bytes = 0
  let end = ''
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    end = new TextDecoder().decode(chunk.subarray(-40))
  }
  isOver = true
  await others
  expect(end.endsWith('}}')).toBe(true)
  expect(bytes).toBe(Number(response.headers.get('content-length')))
  const { peak, longest } = watched.stop()
  return {
    megabytes: bytes / 1e6,
    peakMegabytes: peak / 1e6,
    answered,
    longestTurn: longest,
  }
}

describe('a trace of very many steps', () => {
  test.each([
    ['struct logs', 'debug_traceTransaction', [{}]],
    ['operations', 'trace_replayTransaction', [['vmTrace']]],
  ])(
    'as %s leaves memory and time for others',
    async (_what, method, options) => {
      await using devchain = await createDevchain({ port: 0 })
      const hash = await ask(devchain, 'eth_sendTransaction', {
        from: SENDER,
        data: `0x${LOOP}`,
        gas: GAS,
      })
      const before = process.memoryUsage.rss() / 1e6
      const figures = await figuresOf(devchain, { method, params: [hash, ...options] })
      if (IS_LONG) console.info(method, STEPS, 'steps', { before, ...figures })
      expect(figures.megabytes).toBeGreaterThan(STEPS * 6e-5)
      expect(figures.peakMegabytes - before).toBeLessThan(1_000)
      expect(figures.answered).toBeGreaterThan(STEPS / STEPS_PER_ANSWER)
    },
    300_000,
  )

  test('is refused over the limit, also in the middle of a block or filter', async () => {
    await using devchain = await createDevchain({ traceLimit: 10_000 })
    const transaction = { from: SENDER, data: `0x${LOOP}`, gas: 100_000 }
    const hash = await ask(devchain, 'eth_sendTransaction', transaction)
    const refused = { code: -32005, message: expect.stringContaining('10000 steps') }
    const requests: [string, ...unknown[]][] = [
      ['debug_traceTransaction', hash],
      ['debug_traceTransaction', hash, { tracer: 'prestateTracer' }],
      ['debug_traceBlockByNumber', 'latest', { tracer: 'flatCallTracer' }],
      ['debug_traceCall', transaction],
      ['trace_transaction', hash],
      ['trace_filter', {}],
      ['trace_call', transaction, ['stateDiff']],
      ['trace_replayTransaction', hash, ['vmTrace']],
    ]
    for (const [method, ...params] of requests) {
      await expect(ask(devchain, method, ...params)).rejects.toMatchObject(refused)
    }
    expect(await ask(devchain, 'eth_blockNumber')).toBe('0x1')
  })

  test('counts all transactions of a request together', async () => {
    await using devchain = await createDevchain({ traceLimit: 25 })
    const transaction = { from: SENDER, data: '0x5f5f5f5f5f5f5f5f5f00', gas: 100_000 }
    for (let i = 0; i < 3; i++) await ask(devchain, 'eth_sendTransaction', transaction)
    expect(await ask(devchain, 'trace_filter', { toBlock: 2 })).toHaveLength(2)
    await expect(ask(devchain, 'trace_filter', {})).rejects.toMatchObject({ code: -32005 })
    // what is not asked for is not run
    expect(await ask(devchain, 'trace_filter', { count: 1 })).toHaveLength(1)
  })

  test('is cut if its options say so', async () => {
    await using devchain = await createDevchain()
    const transaction = { from: SENDER, data: `0x${LOOP}`, gas: 100_000 }
    const { structLogs, gas } = await ask<{ structLogs: unknown[]; gas: number }>(
      devchain,
      'debug_traceCall',
      transaction,
      'latest',
      { limit: 7 },
    )
    expect(structLogs).toHaveLength(7)
    expect(gas).toBe(100_000)
  })
})

describe('a trace of calls with much data', () => {
  test('is refused over the limit of kept data', async () => {
    await using devchain = await createDevchain()
    // calls nobody with 64 kB of calldata, again and again
    const code = '5b5f5f61ffff5f5f6104566101f4f15061000056'
    const call = { from: SENDER, data: `0x${code}`, gas: 2_000_000 }
    const traced = ask(devchain, 'debug_traceCall', call, 'latest', { tracer: 'callTracer' })
    await expect(traced).rejects.toMatchObject({
      code: -32005,
      message: expect.stringContaining('bytes of calls and their data'),
    })
    const top = { tracer: 'callTracer', tracerConfig: { onlyTopCall: true } }
    expect(await ask(devchain, 'debug_traceCall', call, 'latest', top)).toMatchObject({
      error: 'out of gas',
    })
  })
})
