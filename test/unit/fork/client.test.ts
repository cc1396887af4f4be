// How another network is asked: batches whose size is learned, limits, failures, and other nodes in place of one.
import { AsyncResource } from 'node:async_hooks'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDevchain, type DevchainOptions } from '../../../src/devchain.ts'
import { Client, type ClientOptions, type Time } from '../../../src/fork/client/client.ts'
import { eip1193Provider } from '../../../src/fork/client/eip1193.ts'
import { httpProvider } from '../../../src/fork/client/http.ts'
import { type Provider, ProviderFailure } from '../../../src/fork/client/provider.ts'
import { cleanerOf, isPrivateUrl, shownUrl } from '../../../src/fork/client/urls.ts'
import {
  currentWaitBudget,
  WaitBudget,
  withWaitBudget,
} from '../../../src/fork/client/waitbudget.ts'
import { quantity } from '../../../src/fork/network/answers.ts'
import { forkOf, startUpstream, type Upstream } from '../../support/fork/upstream.ts'
import { nextTurn } from '../../support/waiting/turns.ts'
import { OWN_CERTIFICATE, OWN_KEY } from './certificate.ts'

interface Watched {
  readonly client: Client
  /** Milliseconds that it waited, each time. */
  readonly waits: number[]
  readonly notices: string[]
}

function clientOf(urls: readonly string[], options: Partial<ClientOptions> = {}): Watched {
  const notices: string[] = []
  const time = fakeTime()
  const all: ClientOptions = {
    providers: urls.map((url) => httpProvider(url)),
    timeoutMs: 5_000,
    retries: 3,
    onNotice: (text) => notices.push(text),
    maxWaitMs: 8_000,
    time,
    ...options,
  }
  return { client: new Client(all), waits: time.waits, notices }
}

/** A clock that goes on by what is waited, later than that of the process. */
function fakeTime(): Time & { readonly waits: number[] } {
  const waits: number[] = []
  let now = performance.now() + 1_000_000
  const wait = async (milliseconds: number): Promise<void> => {
    waits.push(milliseconds)
    now += milliseconds
  }
  return { waits, now: () => now, wait }
}

/** Balances of so many accounts. */
function askMany({ client }: Watched, count: number): Promise<unknown[]> {
  const addresses = Array.from({ length: count }, (_, i) => `0x${`${i + 1}`.padStart(40, '0')}`)
  return Promise.all(addresses.map((each) => client.request('eth_getBalance', [each, 'latest'])))
}

const ZEROS = (count: number): string[] => Array.from({ length: count }, () => '0x0')

const refusal = (message: string): object => ({
  result: undefined,
  error: { code: 31, message },
})

const sizesOf = ({ requests }: Upstream): number[] => requests.map(({ length }) => length)

describe('requests of one turn', () => {
  test('are sent as one batch', async () => {
    await using upstream = await startUpstream()
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 90)).toEqual(ZEROS(90))
    expect(sizesOf(upstream)).toEqual([90])
    expect(watched.client.traffic).toEqual({ requests: 1, asked: 90, batch: 100 })
  })

  test('are sent in smaller batches after the network refuses a large one', async () => {
    await using upstream = await startUpstream()
    upstream.faults.mostTogether = 20
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 100)).toEqual(ZEROS(100))
    const learned = watched.client.traffic.batch
    expect(learned).toBeLessThanOrEqual(20)
    const before = upstream.requests.length
    expect(await askMany(watched, 50)).toEqual(ZEROS(50))
    expect(Math.max(...sizesOf(upstream).slice(before))).toBe(learned)
  })

  test('are sent one by one if the network takes no batches', async () => {
    await using upstream = await startUpstream()
    upstream.faults.mostTogether = 1
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 8)).toEqual(ZEROS(8))
    expect(watched.client.traffic.batch).toBe(1)
  })

  test('are sent in smaller batches after each of a large one is refused', async () => {
    await using upstream = await startUpstream()
    const message = 'Batch of more than 3 requests are not allowed on free tier'
    upstream.faults.replies = (replies) =>
      replies.length <= 3 ? replies : replies.map((each) => ({ ...each, ...refusal(message) }))
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 12)).toEqual(ZEROS(12))
    expect(watched.client.traffic.batch).toBe(3)
  })

  test('have separate results: an error of one does not affect the others', async () => {
    await using upstream = await startUpstream()
    const { client } = clientOf([upstream.url])
    const [good, bad] = await Promise.allSettled([
      client.request('eth_chainId', []),
      client.request('eth_nonsense', []),
    ])
    expect(good).toEqual({ status: 'fulfilled', value: '0x21' })
    expect(String((bad as PromiseRejectedResult).reason)).toMatch(
      /refuses eth_nonsense: the method eth_nonsense does not exist/,
    )
  })
})

const methodsOf = ({ requests }: Upstream): string[][] =>
  requests.map((all) => all.map(({ method }) => method))

test('a trace is sent alone, but the trace of a call is batched', async () => {
  await using upstream = await startUpstream()
  const { client } = clientOf([upstream.url])
  const call = { to: `0x${'12'.repeat(20)}` }
  await Promise.all([
    client.request('eth_chainId', []),
    client.request('debug_traceBlockByNumber', ['0x0']).catch(() => undefined),
    client.request('eth_blockNumber', []),
    client.request('debug_traceCall', [call, 'latest']),
    client.request('eth_gasPrice', []),
  ])
  expect(methodsOf(upstream).toSorted()).toEqual([
    ['debug_traceBlockByNumber'],
    ['eth_blockNumber', 'debug_traceCall', 'eth_gasPrice'],
    ['eth_chainId'],
  ])
})

describe('the trace of a call', () => {
  const call = { to: `0x${'12'.repeat(20)}` }

  async function twice({ client }: Watched): Promise<unknown> {
    const both = () =>
      Promise.all([
        client.request('eth_chainId', []),
        client
          .request('debug_traceCall', [call, 'latest', { tracer: 'noopTracer' }])
          .catch((error: Error) => error.message),
      ])
    return [await both(), await both()]
  }

  test('is sent alone after a service refuses it in a batch', async () => {
    await using upstream = await startUpstream()
    upstream.faults.replies = (replies) =>
      replies.map((reply, id) =>
        id === 1
          ? { jsonrpc: '2.0', id, error: { code: -32600, message: 'no traces in a batch' } }
          : reply,
      )
    expect(await twice(clientOf([upstream.url]))).toEqual([
      ['0x21', {}],
      ['0x21', {}],
    ])
    const [first, ...others] = methodsOf(upstream)
    expect(first).toEqual(['eth_chainId', 'debug_traceCall'])
    expect(others.toSorted()).toEqual([['debug_traceCall'], ['debug_traceCall'], ['eth_chainId']])
  })

  test('is sent alone after a service refuses the whole batch, and batches keep their size', async () => {
    await using upstream = await startUpstream()
    upstream.faults.next.push({ status: 400, body: 'no traces in a batch' })
    const watched = clientOf([upstream.url])
    expect(await twice(watched)).toEqual([
      ['0x21', {}],
      ['0x21', {}],
    ])
    expect(watched.client.traffic.batch).toBe(100)
    expect(watched.waits).toEqual([])
  })

  test('delays other requests for at most three seconds', async () => {
    const asked: [string[], number][] = []
    const provider: Provider = {
      name: 'a service',
      mostAtOnce: 100,
      send: async (asks, timeoutMs) => {
        asked.push([asks.map(({ method }) => method), timeoutMs])
        const isTraced = asks.some(({ method }) => method === 'debug_traceCall')
        if (isTraced) throw new ProviderFailure('broken', 'no answer in time')
        return asks.map(() => ({ result: '0x21' }))
      },
    }
    const { client } = clientOf([], { providers: [provider], retries: 0 })
    const trace = client.request('debug_traceCall', [call, 'latest'])
    const other = client.request('eth_chainId', [])
    await expect(trace).rejects.toThrow('no answer in time')
    expect(await other).toBe('0x21')
    expect(asked[0]).toEqual([['debug_traceCall', 'eth_chainId'], 3_000])
    expect(asked.slice(1).map(([methods]) => methods)).toContainEqual(['eth_chainId'])
  })

  test('fails at once if the service does not support it', async () => {
    await using upstream = await startUpstream()
    upstream.faults.unknown.add('debug_traceCall')
    const words = expect.stringContaining('does not exist')
    expect(await twice(clientOf([upstream.url]))).toEqual([
      ['0x21', words],
      ['0x21', words],
    ])
    expect(sizesOf(upstream)).toEqual([2, 2])
  })
})

describe('failover to another URL', () => {
  test('moves all requests that the first does not answer, and does not switch back', async () => {
    await using upstream = await startUpstream()
    const watched = clientOf(['http://127.0.0.1:1', upstream.url], { retries: 1 })
    const { client } = watched
    const call = { to: `0x${'12'.repeat(20)}` }
    const answers = await Promise.all([
      client.request('eth_chainId', []),
      client.request('debug_traceCall', [call, 'latest', { tracer: 'noopTracer' }]),
      client.request('eth_blockNumber', []),
    ])
    expect(answers).toEqual(['0x21', {}, '0x0'])
    expect(client.name).toBe(upstream.url)
    expect(watched.notices).toEqual([expect.stringContaining(`asking ${upstream.url} now: `)])
  })

  test('moves each request once, even if it must not be repeated', async () => {
    await using upstream = await startUpstream()
    const dead = ['http://127.0.0.1:1', 'http://127.0.0.1:2']
    const { client } = clientOf([...dead, upstream.url], { retries: 0 })
    expect(await client.request('eth_chainId', [])).toBe('0x21')
    const none = clientOf(dead, { retries: 0 })
    await expect(none.client.request('eth_chainId', [])).rejects.toThrow(/127\.0\.0\.1:2/)
    expect(none.notices).toHaveLength(1)
  })
})

describe('a rate limit', () => {
  test('reduces the number of parallel requests until some are answered', async () => {
    const waiting: ((replies: readonly { result: string }[]) => void)[] = []
    let limits = 8
    const provider: Provider = {
      name: 'a service',
      mostAtOnce: 1,
      send: () => {
        if (limits-- > 0) return Promise.reject(new ProviderFailure('limited', 'too many', 1))
        return new Promise((resolve) => waiting.push(resolve))
      },
    }
    const { client } = clientOf([], { providers: [provider] })
    const asked = Promise.all(Array.from({ length: 12 }, () => client.request('eth_chainId', [])))
    const sent = async (): Promise<number> => {
      await nextTurn()
      await nextTurn()
      return waiting.length
    }
    expect(await sent()).toBe(8)
    for (let answered = 0; answered < 3; answered++) waiting[answered]?.([{ result: '0x1' }])
    expect(await sent()).toBe(8)
    for (let answered = 3; answered < 12; answered++) {
      waiting[answered]?.([{ result: '0x1' }])
      await sent()
    }
    expect(await asked).toHaveLength(12)
  })

  test.each([
    ['by status 429 and Retry-After', 429, 'slow down', { 'retry-after': '3' }, 3000],
    ['by a Retry-After that is none', 429, 'slow down', { 'retry-after': 'soon' }, 250],
    ['by status 429 alone', 429, 'slow down', {}, 250],
    ['by status 503', 503, '', {}, 250],
    [
      'by an error instead of a batch',
      200,
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"too many requests"}}',
      {},
      250,
    ],
  ])('%s is waited for, with a warning', async (_, status, body, headers, waited) => {
    await using upstream = await startUpstream()
    upstream.faults.next.push({ status, body, headers: headers as Record<string, string> })
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 3)).toEqual(ZEROS(3))
    expect(watched.waits).toEqual([waited])
    expect(watched.notices).toHaveLength(1)
    expect(watched.notices[0]).toMatch(
      /^waiting [\d.]+ s for http:\/\/127\.0\.0\.1:\d+, 3 requests: /,
    )
  })

  test('on single items of a batch retries only those', async () => {
    await using upstream = await startUpstream()
    let refusals = 4
    upstream.faults.refuse = () =>
      refusals-- > 0 ? { code: -32007, message: '50/second request limit reached' } : undefined
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 10)).toEqual(ZEROS(10))
    expect(sizesOf(upstream)).toEqual([10, 4])
  })

  test('switches to the next URL at once, and waits if all are limited', async () => {
    await using busy = await startUpstream()
    await using idle = await startUpstream()
    const slowDown = { status: 429, body: 'slow down', headers: { 'retry-after': '6' } }
    busy.faults.next.push(slowDown)
    const watched = clientOf([busy.url, idle.url])
    expect(await askMany(watched, 3)).toEqual(ZEROS(3))
    expect(watched.waits).toEqual([])
    expect(watched.notices).toEqual([`asking ${idle.url} now: ${busy.url}: 429 slow down`])
    expect(sizesOf(idle)).toEqual([3])

    const isAsked = ({ method }: { method: string }): boolean => method === 'eth_getBalance'
    idle.faults.refuse = (asked) =>
      isAsked(asked) ? { code: -32005, message: 'too many requests' } : undefined
    busy.faults.next.push(slowDown)
    expect(await askMany(watched, 2)).toEqual(ZEROS(2))
    expect(watched.waits).toEqual([6_000])
  })

  test('of several batches at once tries each URL in turn', async () => {
    await using busy = await startUpstream()
    await using idle = await startUpstream()
    const slowDown = { status: 429, body: 'slow down' }
    busy.faults.next.push(slowDown, slowDown)
    const watched = clientOf([busy.url, idle.url])
    expect(await askMany(watched, 200)).toEqual(ZEROS(200))
    expect(watched.waits).toEqual([])
    expect(sizesOf(idle)).toEqual([100, 100])
  })

  test('that does not end is an error with the network’s words within --fork-max-wait', async () => {
    await using upstream = await startUpstream()
    upstream.faults.refuse = () => ({ code: 429, message: 'monthly quota used up' })
    const watched = clientOf([upstream.url])
    await expect(askMany(watched, 2)).rejects.toThrow(
      /did not answer: monthly quota used up; nothing better came within 8 s \(--fork-max-wait\)$/,
    )
    expect(watched.waits).toEqual([250, 500, 1_000, 2_000, 2_000, 1_250])
  })

  test('without a body is an error that says so', async () => {
    await using upstream = await startUpstream()
    upstream.faults.next.push({ status: 429, body: '', headers: { 'retry-after': '100' } })
    const { client } = clientOf([upstream.url], { retries: 0 })
    const asked = (): Promise<unknown> => client.request('eth_chainId', [])
    await expect(asked()).rejects.toThrow(/: 429 \(empty response\); it asks to wait 100 s/)
    upstream.faults.next.push({ status: 307, body: ' \n' })
    await expect(asked()).rejects.toThrow(/ answered 307: \(empty response\)$/)
  })

  test.each([
    ['3600', '3600 s'],
    ['Fri, 01 Jan 2100 00:00:00 GMT', '\\d{9,10}(\\.\\d+)? s'],
  ])('with a longer wait than --fork-max-wait (%s) is an error at once', async (after, shown) => {
    await using upstream = await startUpstream()
    upstream.faults.next.push({ status: 429, body: 'quota', headers: { 'retry-after': after } })
    const watched = clientOf([upstream.url])
    await expect(askMany(watched, 2)).rejects.toThrow(
      new RegExp(`: 429 quota; it asks to wait ${shown}, and --fork-max-wait is 8 s$`),
    )
    expect(watched.waits).toEqual([])
    expect(upstream.requests).toHaveLength(1)
  })
})

describe('the budget for one piece of work', () => {
  const SILENT = (sent: number[]): Provider => ({
    name: 'a silent service',
    mostAtOnce: 100,
    send: async (_, timeoutMs) => {
      sent.push(timeoutMs)
      throw new ProviderFailure('broken', `no answer within ${timeoutMs / 1000} s`)
    },
  })

  test('bounds all its requests in a row', async () => {
    await using upstream = await startUpstream()
    const { client, waits } = clientOf([upstream.url])
    const limit = { status: 429, body: 'slow down', headers: { 'retry-after': '3' } }
    const ask = (): Promise<unknown> => client.request('eth_chainId', [])
    const work = withWaitBudget(async () => {
      upstream.faults.next.push(limit)
      const first = await ask()
      upstream.faults.next.push(limit)
      const second = await ask()
      upstream.faults.next.push(limit)
      return [first, second, await ask().catch(String)]
    })
    expect(await work).toEqual(['0x21', '0x21', expect.stringMatching(/429 slow down; nothing/)])
    expect(waits).toEqual([3_000, 3_000])
    // what begins anew may wait anew
    upstream.faults.next.push(limit)
    expect(await ask()).toBe('0x21')
  })

  test('counts a wait of several parallel requests once', async () => {
    const budget = new WaitBudget(0)
    budget.spend(1_000, 3_000)
    budget.spend(2_000, 4_000)
    budget.spend(1_500, 2_500)
    expect(budget.spent).toBe(3_000)
  })

  test('ends with the work, not with what runs after it', async () => {
    let later: (() => WaitBudget | undefined) | undefined
    const during = await withWaitBudget(async () => {
      later = AsyncResource.bind(currentWaitBudget)
      return currentWaitBudget()
    })
    expect(during).toBeInstanceOf(WaitBudget)
    expect(later?.()).toBeUndefined()
  })

  test('leaves time for each of several URLs, even if the first is silent', async () => {
    await using upstream = await startUpstream()
    const sent: number[] = []
    const providers = [SILENT(sent), httpProvider(upstream.url)]
    const { client, waits } = clientOf([], { providers, timeoutMs: 30_000 })
    expect(await client.request('eth_chainId', [])).toBe('0x21')
    expect([sent, waits]).toEqual([[4_000], []])
  })

  test('includes the wait for its turn', async () => {
    const time = fakeTime()
    const sent: number[] = []
    const provider: Provider = {
      ...SILENT(sent),
      mostAtOnce: 1,
      send: async (asks, timeoutMs) => {
        await time.wait(timeoutMs)
        return await SILENT(sent).send(asks, timeoutMs)
      },
    }
    const { client } = clientOf([], { providers: [provider], timeoutMs: 30_000, time })
    // more than are on their way at once
    const asked = Array.from({ length: 20 }, () => client.request('eth_chainId', []))
    for (const { status, reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[]) {
      expect(status).toBe('rejected')
      expect(String(reason)).toMatch(/no answer within 8 s; nothing better came within 8 s/)
    }
    expect(sent).toEqual(Array.from({ length: 8 }, () => 8_000))
  })
})

describe('a failed request', () => {
  test.each([
    [302, '/?key=abcdefgh', '127\\.0\\.0\\.1:\\d+/…'],
    [303, 'https://login.example/?key=abcdefgh', 'login\\.example/…'],
    [301, 'ftp://files.example', 'files\\.example'],
    [308, 'https://[', 'a text that is no URL'],
  ])('that is a redirect %i to %s is reported at once', async (status, location, shown) => {
    await using upstream = await startUpstream()
    const fault = { status, body: 'elsewhere', headers: { location } }
    upstream.faults.next.push(fault, fault, fault, fault)
    const watched = clientOf([upstream.url])
    await expect(askMany(watched, 2)).rejects.toThrow(
      new RegExp(` answered ${status}, a redirect to (\\w+://)?${shown}: name the URL of the node`),
    )
    expect(watched.waits).toEqual([])
  })

  test('is retried, then reported with its cause', async () => {
    await using upstream = await startUpstream()
    upstream.faults.next.push({ status: 502, body: '<html>bad gateway</html>' })
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 1)).toEqual(ZEROS(1))
    upstream.faults.isCut = true
    await expect(askMany(watched, 1)).rejects.toThrow(/^the forked network did not answer: http/)
    expect(watched.waits).toEqual([250, 250, 500, 1000])
  })

  test('is retried as often after others of its turn needed retries', async () => {
    await using upstream = await startUpstream()
    upstream.faults.mostTogether = 1
    const watched = clientOf([upstream.url])
    const seen = new Set<unknown>()
    upstream.faults.lie = ({ params: [account] }, result) => {
      const isNew = !seen.has(account)
      seen.add(account)
      return isNew ? null : result
    }
    const asked = [...Array(8).keys()].map((index) =>
      watched.client.request('eth_getBalance', [`0x${index}`.padEnd(42, '0'), 'latest'], quantity),
    )
    expect(await Promise.all(asked)).toEqual(ZEROS(8))
  })

  test('is retried if its error is a text', async () => {
    await using upstream = await startUpstream()
    upstream.faults.next.push({ status: 502, body: '{"error":"upstream overloaded"}' })
    expect(await askMany(clientOf([upstream.url]), 1)).toEqual(ZEROS(1))
  })

  test('is retried on another URL if there is one', async () => {
    await using broken = await startUpstream()
    await using good = await startUpstream()
    broken.faults.isCut = true
    const watched = clientOf([broken.url, good.url])
    expect(await askMany(watched, 5)).toEqual(ZEROS(5))
    expect(sizesOf(good)).toEqual([5])
    expect(await askMany(watched, 5)).toEqual(ZEROS(5))
    expect(sizesOf(broken)).toEqual([5])
    expect(watched.notices).toEqual([
      expect.stringMatching(`^asking ${good.url} now: ${broken.url}: socket hang up`),
    ])
  })

  test('with an invalid response is retried, then reported as it is', async () => {
    await using upstream = await startUpstream()
    let nothing = 2
    upstream.faults.lie = (_, result) => (nothing-- > 0 ? null : result)
    const watched = clientOf([upstream.url])
    const ask = (): Promise<unknown> => watched.client.request('eth_chainId', [], quantity)
    expect(await ask()).toBe('0x21')
    expect(watched.waits).toEqual([250, 500])
    nothing = 9
    expect(await ask()).toBeNull()
  })

  test.each([
    ['with HTTP 500', 500, '{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"busy"}}'],
    [
      'with HTTP 502',
      502,
      '{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"no backend"}}',
    ],
    ['of another request', 200, '{"jsonrpc":"2.0","id":7,"result":"0x1"}'],
  ])('with an internal error of JSON-RPC (%s) is retried', async (_, status, body) => {
    await using upstream = await startUpstream()
    upstream.faults.next.push({ status, body })
    const watched = clientOf([upstream.url])
    expect(await watched.client.request('eth_chainId', [])).toBe('0x21')
    expect(watched.waits).toEqual([250])
  })

  test('that stays is reported in the network’s words', async () => {
    await using upstream = await startUpstream()
    const body = '{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"busy"}}'
    for (let times = 0; times < 4; times++) upstream.faults.next.push({ status: 500, body })
    const watched = clientOf([upstream.url])
    await expect(watched.client.request('eth_chainId', [])).rejects.toThrow(
      /refuses eth_chainId: busy$/,
    )
    expect(watched.waits).toHaveLength(3)
  })

  test.each([
    ['401', { status: 401, body: 'no key' }],
    ['403', { status: 403, body: 'no such key' }],
    ['404', { status: 404, body: 'not here' }],
    [
      'an unknown method in HTTP 500',
      {
        status: 500,
        body: '{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"method not found"}}',
      },
    ],
    [
      'a call that reverts in HTTP 500',
      {
        status: 500,
        body: '{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"execution reverted"}}',
      },
    ],
  ])('with a permanent error (%s) is not retried', async (_, answer) => {
    await using upstream = await startUpstream()
    upstream.faults.next.push(answer)
    const watched = clientOf([upstream.url])
    const asked = watched.client.request('eth_chainId', [])
    await expect(asked).rejects.toThrow(/no key|no such key|not here|not found|reverted/)
    expect([watched.waits, upstream.requests.length]).toEqual([[], 1])
  })

  test('by a certificate of an unknown issuer fails at once, with advice', async () => {
    const server = https.createServer({ key: OWN_KEY, cert: OWN_CERTIFICATE })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const watched = clientOf([`https://127.0.0.1:${port}/${'k'.repeat(20)}`])
    await expect(watched.client.request('eth_chainId', [])).rejects.toThrow(
      /self-signed certificate;.* if you trust .* the environment variable NODE_EXTRA_CA_CERTS$/,
    )
    expect(watched.waits).toEqual([])
  })

  test('by TLS on a plain port fails at once', async () => {
    await using upstream = await startUpstream()
    const watched = clientOf([upstream.url.replace('http:', 'https:')])
    await expect(watched.client.request('eth_chainId', [])).rejects.toThrow(/https:.*: .*SSL/i)
    expect(watched.waits).toEqual([])
  })

  test.each<[string, (replies: readonly object[]) => readonly object[]]>([
    ['two replies to one request', ([first, ...others]) => [first!, ...others.slice(1), first!]],
    ['one reply more', (replies) => [...replies, { ...replies[0], id: 99 }]],
    ['one reply twice', (replies) => [...replies, replies[0]!]],
    ['a reply to nothing', ([first, ...others]) => [{ ...first, id: null }, ...others]],
  ])('by %s in a batch is retried in smaller ones', async (_, replies) => {
    await using upstream = await startUpstream()
    upstream.faults.replies = replies
    const address = (index: number): string => `0x${String(index).padStart(40, '0')}`
    for (const index of [1, 2, 3, 4]) {
      await upstream.ask('anvil_setBalance', address(index), `0x${index}`)
    }
    const { client } = clientOf([upstream.url])
    const asked = [1, 2, 3, 4].map((index) =>
      client.request('eth_getBalance', [address(index), 'latest']),
    )
    expect(await Promise.all(asked)).toEqual(['0x1', '0x2', '0x3', '0x4'])
    expect(client.traffic.batch).toBe(1)
  })

  test('by silence ends at the timeout', async () => {
    const silent = eip1193Provider({ request: () => new Promise(() => undefined) })
    const { client } = clientOf([], { providers: [silent], timeoutMs: 20, retries: 0 })
    await expect(client.request('eth_chainId', [])).rejects.toThrow(/no answer within 0.02 s/)
  })

  test('is not retried once the fork is closed', async () => {
    await using upstream = await startUpstream()
    upstream.faults.isCut = true
    const time = { now: () => 0, wait: async () => watched.client.close() }
    const watched = clientOf([upstream.url], { time })
    await expect(watched.client.request('eth_chainId', [])).rejects.toThrow('the fork was closed')
    expect(upstream.requests).toHaveLength(1)
  })

  test('on a closed fork fails at once', async () => {
    await using upstream = await startUpstream()
    const { client } = clientOf([upstream.url])
    const asked = client.request('eth_chainId', [])
    client.close()
    await expect(asked).rejects.toThrow('the fork was closed')
  })
})

describe('a secret in a URL', () => {
  const KEY = 'abcdef0123456789abcdef0123456789'

  test.each([
    [`https://mainnet.example.io/v3/${KEY}`, 'https://mainnet.example.io/…'],
    [`https://rpc.example.io/?apikey=${KEY}`, 'https://rpc.example.io/…'],
    [`https://user:${KEY}@rpc.example.io:8443`, 'https://rpc.example.io:8443/…'],
    ['http://127.0.0.1:8545', 'http://127.0.0.1:8545'],
  ])('is hidden: %s', (url, shown) => {
    expect(shownUrl(url)).toBe(shown)
    expect(cleanerOf(url)(`cannot reach ${url}, with ${url}`)).not.toContain(KEY)
  })

  test.each<[DevchainOptions, RegExp]>([
    [
      { fork: `https://rpc.example.io/v3/${KEY}@pending` },
      /got https:\/\/rpc\.example\.io\/…@pending$/,
    ],
    [{ fork: `http://127.0.0.1:8545@pending` }, /got http:\/\/…@pending$/],
    [{ fork: `ftp://${KEY}:x@rpc.example.io` }, /got ftp:\/\/…@rpc\.example\.io$/],
    [{ fork: `rpc.example.io/v3/${KEY}` }, /got rpc\.example\.io\/…$/],
    [{ fork: KEY }, /got …$/],
    [{ fork: { url: [`rpc.example.io?key=${KEY}`] } }, /got an object with url$/],
    [
      { fork: { url: `https://rpc.example.io/${KEY}`, block: 'new' } },
      /got an object with url, block "new"$/,
    ],
    [{ forkHeader: [`Bearer ${KEY}`] }, /got a line without a name and :$/],
    [{ forkHeader: [`x-key: ${KEY}\nx`, 'x'] }, /got x-key$/],
  ])('is hidden in errors about options: %j', async (options, message) => {
    const failed: unknown = await createDevchain(options).catch((error: unknown) => error)
    expect(String(failed)).toMatch(message)
    expect(String(failed)).not.toContain(KEY)
  })

  test.each([
    ['https://rpc.example.io/v3/abc123', 'abc123'],
    ['https://rpc.example.io/v3/k3y', 'k3y'],
    ['https://rpc.example.io/?apikey=s3cret&chain=mainnet', 's3cret'],
    ['https://rpc.example.io/a%2Fb%zz/abc123', 'abc123'],
    ['https://me:pa55@rpc.example.io', 'pa55'],
  ])('is hidden if short, while similar words are shown: %s', (url, key) => {
    const said = cleanerOf(url)(`the key "${key}" may not use mainnet, says rpc of v3 (${key})`)
    expect(said).toBe('the key "…" may not use mainnet, says rpc of v3 (…)')
  })

  test('is hidden in errors and warnings', async () => {
    await using upstream = await startUpstream()
    const url = `${upstream.url}/v3/${KEY}`
    const watched = clientOf([url], { retries: 0 })
    upstream.faults.next.push({ status: 429, body: `key ${KEY} has no more credits` })
    upstream.faults.next.push({ status: 500, body: `no such project ${KEY}` })
    const failed: unknown = await askMany(watched, 1).catch((error: unknown) => error)
    expect(String(failed)).toMatch(/answered 500: no such project …/)
    expect([String(failed), ...watched.notices].join()).not.toContain(KEY)
  })
})

describe('a secret in a header or in the data of an error', () => {
  const KEY = 'fedcba9876543210fedcba9876543210'

  test.each([
    ['a token', `authorization: Bearer ${KEY}`, ''],
    ['a key', `x-api-key: ${KEY}`, ''],
    ['one of several', `cookie: theme=dark; session=${KEY}`, ''],
    ['a password', 'x-team: ours', `user:${KEY}@`],
  ])('is hidden where the network quotes it: %s', async (_, header, user) => {
    await using upstream = await startUpstream()
    const value = header.slice(header.indexOf(':') + 2)
    const pair = Buffer.from(`user:${KEY}`).toString('base64')
    const quoted = `${value} ${KEY} ${pair}`
    upstream.faults.refuse = ({ method }) =>
      method === 'eth_getBalance'
        ? ({ code: -32000, message: `refused to ${quoted}`, data: { of: [quoted] } } as never)
        : undefined
    await using fork = await forkOf(upstream, {
      fork: { url: upstream.url.replace('//', `//${user}`) },
      forkHeader: [header],
    })
    const failed = (await fork.ask('eth_getBalance', `0x${'99'.repeat(20)}`).catch((e) => e)) as {
      message: string
      data: unknown
    }
    expect(failed.message).toMatch(/refused to .*…/)
    const said = JSON.stringify([failed.message, failed.data, fork.notices])
    expect(said).not.toContain(KEY)
    if (user !== '') expect(said).not.toContain(pair)
  })
})

test.each(['Authorization', 'authorization', 'AUTHORIZATION'])(
  'the header %s replaces the password in a URL',
  async (name) => {
    await using upstream = await startUpstream()
    await using fork = await forkOf(upstream, {
      fork: { url: upstream.url.replace('//', '//user:password@') },
      forkHeader: [`${name}: Bearer ours`],
    })
    expect(upstream.headers().authorization).toBe('Bearer ours')
    expect(fork.notices).toEqual([])
  },
)

test.each([
  [':p%40ss@', ':p@ss'],
  ['user:100%@', 'user:100%'],
])('the user and password %s of a URL are sent as %s', async (part, pair) => {
  await using upstream = await startUpstream()
  await using _ = await forkOf(upstream, { fork: { url: upstream.url.replace('//', `//${part}`) } })
  const sent = Buffer.from(pair).toString('base64')
  expect(upstream.headers().authorization).toBe(`Basic ${sent}`)
})

test('headers are sent to the hosts of --fork, and not to another that a request names', async () => {
  await using upstream = await startUpstream()
  await using other = await startUpstream()
  const sent = ({ headers }: typeof upstream): unknown => headers()['x-key']
  await using fork = await forkOf(upstream, { forkHeader: ['x-key: ours'] })
  expect(sent(upstream)).toBe('ours')
  await fork.ask('hardhat_reset', { forking: { jsonRpcUrl: other.url } })
  await fork.ask('eth_getBalance', `0x${'99'.repeat(20)}`)
  expect([other.requests.length > 0, sent(other)]).toEqual([true, undefined])
  await fork.ask('hardhat_reset', { forking: { jsonRpcUrl: `${upstream.url}/elsewhere` } })
  expect(sent(upstream)).toBe('ours')
  await using copy = await forkOf(upstream)
  await using bare = await forkOf(other, { fork: undefined, forkHeader: ['x-key: ours'] })
  await bare.ask('hardhat_reset', { forking: { jsonRpcUrl: other.url } })
  expect([sent(other), copy.notices]).toEqual(['ours', []])
})

test.each([
  ['http://localhost:8545', true],
  ['http://127.0.0.1:8545', true],
  ['http://10.2.3.4', true],
  ['http://172.20.0.2:1', true],
  ['http://[::1]:8545', true],
  ['http://node', true],
  ['https://mainnet.infura.io/v3/x', false],
  ['https://8.8.8.8', false],
  ['http://172.32.0.1', false],
])('isPrivateUrl of %s is %s', (url, isOwn) => {
  expect(isPrivateUrl(url)).toBe(isOwn)
})
