// How another network is asked: batches whose size is learned, limits, failures, and other nodes in place of one.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createDevchain, type DevchainOptions } from '../../../src/devchain.ts'
import { Client, type ClientOptions } from '../../../src/fork/client/client.ts'
import { eip1193Provider } from '../../../src/fork/client/eip1193.ts'
import { httpProvider } from '../../../src/fork/client/http.ts'
import { isPrivateUrl } from '../../../src/fork/client/private.ts'
import { type Provider, ProviderFailure } from '../../../src/fork/client/provider.ts'
import { cleanerOf, shownUrl } from '../../../src/fork/client/redact.ts'
import { forkOf, startUpstream, type Upstream } from '../../support/upstream.ts'

interface Watched {
  readonly client: Client
  /** Milliseconds that it waited, each time. */
  readonly waits: number[]
  readonly notices: string[]
}

function clientOf(urls: readonly string[], options: Partial<ClientOptions> = {}): Watched {
  const waits: number[] = []
  const notices: string[] = []
  const client = new Client({
    providers: urls.map((url) => httpProvider(url)),
    timeoutMs: 5_000,
    retries: 3,
    onNotice: (text) => notices.push(text),
    wait: async (milliseconds) => {
      waits.push(milliseconds)
    },
    ...options,
  })
  return { client, waits, notices }
}

/** Balances of so many accounts. */
function askMany({ client }: Watched, count: number): Promise<unknown[]> {
  const addresses = Array.from({ length: count }, (_, i) => `0x${`${i + 1}`.padStart(40, '0')}`)
  return Promise.all(addresses.map((each) => client.request('eth_getBalance', [each, 'latest'])))
}

const ZEROS = (count: number): string[] => Array.from({ length: count }, () => '0x0')

const sizesOf = ({ requests }: Upstream): number[] => requests.map(({ length }) => length)

describe('requests of one turn', () => {
  test('go out together', async () => {
    await using upstream = await startUpstream()
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 90)).toEqual(ZEROS(90))
    expect(sizesOf(upstream)).toEqual([90])
    expect(watched.client.traffic).toEqual({ sent: 1, asked: 90, batch: 100 })
  })

  test('come in the batches that the network takes, once it has refused larger ones', async () => {
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

  test('come one by one where no batch is taken', async () => {
    await using upstream = await startUpstream()
    upstream.faults.mostTogether = 1
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 8)).toEqual(ZEROS(8))
    expect(watched.client.traffic.batch).toBe(1)
  })

  test('are answered each: an error of one is not that of the others', async () => {
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

test('a trace goes out alone', async () => {
  await using upstream = await startUpstream()
  const { client } = clientOf([upstream.url])
  const call = { to: `0x${'12'.repeat(20)}` }
  await Promise.all([
    client.request('eth_chainId', []),
    client.request('debug_traceCall', [call, 'latest']),
    client.request('eth_blockNumber', []),
    client.request('eth_gasPrice', []),
  ])
  expect(upstream.requests.map((all) => all.map(({ method }) => method)).toSorted()).toEqual([
    ['debug_traceCall'],
    ['eth_blockNumber', 'eth_gasPrice'],
    ['eth_chainId'],
  ])
})

describe('another node in place of one', () => {
  test('is asked by all that the first does not answer, and nobody comes back to that', async () => {
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

  test('is asked even where nothing is to be repeated, and each of them once', async () => {
    await using upstream = await startUpstream()
    const dead = ['http://127.0.0.1:1', 'http://127.0.0.1:2']
    const { client } = clientOf([...dead, upstream.url], { retries: 0 })
    expect(await client.request('eth_chainId', [])).toBe('0x21')
    const none = clientOf(dead, { retries: 0 })
    await expect(none.client.request('eth_chainId', [])).rejects.toThrow(/127\.0\.0\.1:2/)
    expect(none.notices).toHaveLength(1)
  })
})

describe('a limit', () => {
  test('has fewer requests on their way, until some are answered', async () => {
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
    ['by a long Retry-After', 429, 'slow down', { 'retry-after': '900' }, 60_000],
    [
      'by a date of Retry-After',
      429,
      'slow down',
      { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' },
      60_000,
    ],
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
  ])('%s is waited for, and told', async (_, status, body, headers, waited) => {
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

  test('on single items of a batch has those alone asked again', async () => {
    await using upstream = await startUpstream()
    let refusals = 4
    upstream.faults.refuse = () =>
      refusals-- > 0 ? { code: -32007, message: '50/second request limit reached' } : undefined
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 10)).toEqual(ZEROS(10))
    expect(sizesOf(upstream)).toEqual([10, 4])
  })

  test('has the next URL asked at once, and is waited for where all limit', async () => {
    await using busy = await startUpstream()
    await using idle = await startUpstream()
    const slowDown = { status: 429, body: 'slow down', headers: { 'retry-after': '60' } }
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
    expect(watched.waits).toEqual([60_000])
  })

  test('of several batches at once has one URL after another asked, and leaves none out', async () => {
    await using busy = await startUpstream()
    await using idle = await startUpstream()
    const slowDown = { status: 429, body: 'slow down' }
    busy.faults.next.push(slowDown, slowDown)
    const watched = clientOf([busy.url, idle.url])
    expect(await askMany(watched, 200)).toEqual(ZEROS(200))
    expect(watched.waits).toEqual([])
    expect(sizesOf(idle)).toEqual([100, 100])
  })

  test('that does not end is an error with the network’s words, after bounded waits', async () => {
    await using upstream = await startUpstream()
    upstream.faults.refuse = () => ({ code: 429, message: 'monthly quota used up' })
    const watched = clientOf([upstream.url])
    await expect(askMany(watched, 2)).rejects.toThrow(/cannot be asked: monthly quota used up/)
    expect(watched.waits).toHaveLength(16)
    expect(Math.max(...watched.waits)).toBe(10_000)
  })
})

describe('a failure', () => {
  test('is tried again, and in the end told with its cause', async () => {
    await using upstream = await startUpstream()
    upstream.faults.next.push({ status: 502, body: '<html>bad gateway</html>' })
    const watched = clientOf([upstream.url])
    expect(await askMany(watched, 1)).toEqual(ZEROS(1))
    upstream.faults.isCut = true
    await expect(askMany(watched, 1)).rejects.toThrow(/^the forked network cannot be asked: http/)
    expect(watched.waits).toEqual([250, 250, 500, 1000])
  })

  test('has another node asked where there is one', async () => {
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

  test('by silence ends with the time that was given', async () => {
    const silent = eip1193Provider({ request: () => new Promise(() => undefined) })
    const { client } = clientOf([], { providers: [silent], timeoutMs: 20, retries: 0 })
    await expect(client.request('eth_chainId', [])).rejects.toThrow(/no answer within 0.02 s/)
  })

  test('is not tried again once the fork is closed', async () => {
    await using upstream = await startUpstream()
    upstream.faults.isCut = true
    const watched = clientOf([upstream.url], { wait: async () => watched.client.close() })
    await expect(watched.client.request('eth_chainId', [])).rejects.toThrow('the fork was closed')
    expect(upstream.requests).toHaveLength(1)
  })

  test('of a closed fork comes at once', async () => {
    await using upstream = await startUpstream()
    const { client } = clientOf([upstream.url])
    const asked = client.request('eth_chainId', [])
    client.close()
    await expect(asked).rejects.toThrow('the fork was closed')
  })
})

describe('keys of a URL', () => {
  const KEY = 'abcdef0123456789abcdef0123456789'

  test.each([
    [`https://mainnet.example.io/v3/${KEY}`, 'https://mainnet.example.io/…'],
    [`https://rpc.example.io/?apikey=${KEY}`, 'https://rpc.example.io/…'],
    [`https://user:${KEY}@rpc.example.io:8443`, 'https://rpc.example.io:8443/…'],
    ['http://127.0.0.1:8545', 'http://127.0.0.1:8545'],
  ])('are not shown: %s', (url, shown) => {
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
    [{ forkHeader: [`x-key: ${KEY}\nx`, 'x'] }, /got x-key, a line without a name and :$/],
  ])('are not in errors about options: %j', async (options, message) => {
    const failed: unknown = await createDevchain(options).catch((error: unknown) => error)
    expect(String(failed)).toMatch(message)
    expect(String(failed)).not.toContain(KEY)
  })

  test('are not in errors and notices either', async () => {
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

describe('keys of headers, and those in the data of an error', () => {
  const KEY = 'fedcba9876543210fedcba9876543210'

  test.each([
    ['a token', `authorization: Bearer ${KEY}`, ''],
    ['a key', `x-api-key: ${KEY}`, ''],
    ['one of several', `cookie: theme=dark; session=${KEY}`, ''],
    ['a password', 'x-team: ours', `user:${KEY}@`],
  ])('are not shown where the network quotes them: %s', async (_, header, user) => {
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

test('headers are sent to the hosts that --fork names, and to no other that a request names', async () => {
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
])('%s is an address of one’s own: %s', (url, isOwn) => {
  expect(isPrivateUrl(url)).toBe(isOwn)
})
