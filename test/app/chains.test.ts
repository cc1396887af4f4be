// Chains at paths over real sockets: numbers, names, options, limits, idle ones, and the endpoints of prool.
import { once } from 'node:events'
import { get } from 'node:http'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Front, openFront } from '../../src/app/front.ts'
import { type DevchainOptions, readDevchainOptions } from '../../src/app/settings.ts'
import { Logger } from '../../src/cli/log/logger.ts'
import { PLAIN } from '../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../src/cli/log/pretty.ts'
import type { Hooks } from '../../src/devchain.ts'
import { ALICE } from '../support/wire/stage.ts'
import { call, post, result } from '../support/wire/testserver.ts'

interface Opened extends AsyncDisposable {
  readonly front: Front
  readonly url: string
}

const blockNumber = call(1, 'eth_blockNumber')
const mine = call(1, 'evm_mine')

async function send(
  url: string,
  method: 'GET' | 'POST' = 'POST',
  body?: object,
): Promise<readonly [number, unknown]> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url, { method, ...init })
  const text = await response.text()
  return [response.status, text === '' ? '' : JSON.parse(text)]
}

/** GET with headers that `fetch` does not set. */
function visit(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly [number | undefined, string]> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { headers }, async (response) => {
      resolve([response.statusCode, await text(response)])
    })
    sent.on('error', reject)
  })
}

const errorOf = (url: string): Promise<readonly [number, unknown]> =>
  send(url, 'POST', JSON.parse(blockNumber))

/** In other threads, chains behave as in this one. */
describe.each([0, 2])('with --threads %d,', (threads) => {
  async function opened(options: DevchainOptions = {}, hooks: Hooks = {}): Promise<Opened> {
    const settings = readDevchainOptions({
      port: 0,
      noArtifacts: true,
      clock: 'frozen',
      threads,
      ...options,
    })
    const front = await openFront(settings, hooks)
    const { url } = await front.listen()
    return { front, url, [Symbol.asyncDispose]: () => front.close() }
  }

  describe('a numbered chain', () => {
    test('is made by its first request, and has the genesis of the default chain', async () => {
      await using one = await opened()
      const { url } = one
      await post(url, mine)
      await post(`${url}/7`, mine)
      await post(`${url}/7`, mine)
      // viem's own tests use such ids
      expect(await post(`${url}/7340129`, blockNumber)).toEqual(result(1, '0x0'))
      expect(await post(`${url}/007/`, blockNumber)).toEqual(result(1, '0x2'))
      expect(await post(url, blockNumber)).toEqual(result(1, '0x1'))
      const genesis = call(1, 'eth_getBlockByNumber', ['0x0', false])
      expect(await post(`${url}/7`, genesis)).toEqual(await post(url, genesis))
    })

    const paths = ['/0', '/-1', '/1.5', '/0x1', '/1/2', '/1234567890123456']
    test.each(paths)('does not exist at %s', async (path) => {
      await using one = await opened()
      const message = `there is no chain at ${path}, only /; a number from 1 to 999999999999999 makes one`
      expect(await errorOf(one.url + path)).toMatchObject([404, { error: { message } }])
    })

    test('is refused with 503 where there are as many as allowed', async () => {
      await using one = await opened({ maxChains: 2 })
      await post(`${one.url}/1`, blockNumber)
      await post(`${one.url}/2`, blockNumber)
      const message =
        'too many chains: the limit is 2 (--max-chains); drop one with devchain chain drop NAME'
      expect(await errorOf(`${one.url}/3`)).toMatchObject([
        503,
        { error: { code: -32005, message } },
      ])
      await post(one.url, call(1, 'devchain_dropChain', ['1']))
      expect(await post(`${one.url}/3`, blockNumber)).toEqual(result(1, '0x0'))
    })

    test('is dropped once it was idle for the time given, and not while a WebSocket is open', async () => {
      let now = 1_000_000
      const environment = { now: () => now }
      await using one = await opened({ chainIdle: '60' }, { environment })
      const { url, front } = one
      const socket = new WebSocket(`${url.replace('http', 'ws')}/2`)
      await once(socket, 'open')
      await post(`${url}/1`, blockNumber)
      front.chains.dropIdle()
      now += 59_000
      front.chains.dropIdle()
      expect((await front.chains.list()).map(({ path }) => path)).toContain('/1')
      now += 1_000
      front.chains.dropIdle()
      expect(front.chains.at('/1')).toBeUndefined()
      expect(front.chains.at('/2')).toBeDefined()
      socket.terminate()
    })
  })

  describe('a chain with a name', () => {
    test('is made by devchain_newChain, listed by devchain_chains and dropped by devchain_dropChain', async () => {
      await using one = await opened()
      const { url } = one
      await post(url, call(1, 'devchain_newChain', ['alice']))
      await post(`${url}/alice`, mine)
      await post(`${url}/5`, blockNumber)
      const { result: chains } = (await post(url, call(1, 'devchain_chains'))) as {
        result: readonly Record<string, unknown>[]
      }
      expect(await send(`${url}/alice`, 'GET')).toMatchObject([
        200,
        { chainId: 33, blockNumber: 1 },
      ])
      expect((await send(`${url}/bob`, 'GET'))[0]).toBe(404)
      expect(
        chains.map(({ path, blockNumber, requests }) => [path, blockNumber, requests]),
      ).toEqual([
        ['/', '0x0', 2],
        ['/alice', '0x1', 1],
        ['/5', '0x0', 1],
      ])
      await post(url, call(1, 'devchain_dropChain', ['alice']))
      expect((await errorOf(`${url}/alice`))[0]).toBe(404)
    })

    test.each([
      [
        'a b',
        'name: expected a number, or a letter and up to 63 letters, digits, - or _; got "a b"',
      ],
      ['0', 'name: expected a number from 1 to 999999999999999; got "0"'],
      [
        '1234567890123456',
        'name: expected a number from 1 to 999999999999999; got "1234567890123456"',
      ],
      ['health', 'name: /health is a path of devchain itself'],
    ])('is not called %s', async (name, message) => {
      await using one = await opened()
      const reply = await post(one.url, call(1, 'devchain_newChain', [name]))
      expect(reply).toMatchObject({ error: { message } })
    })

    test('begins after a block of another chain, also of one that a revert took away', async () => {
      await using one = await opened()
      const { url } = one
      const ask = async (method: string, ...params: readonly unknown[]): Promise<unknown> =>
        ((await post(url, call(1, method, params))) as { result: unknown }).result
      await post(url, mine)
      const id = await ask('evm_snapshot')
      await post(url, mine)
      const { hash } = (await ask('eth_getBlockByNumber', 'latest', false)) as { hash: string }
      await ask('evm_revert', id)
      const made = [
        await ask('devchain_newChain', { name: 'zero', from: '/', block: 'earliest' }),
        await ask('devchain_newChain', { name: 'two', from: '/', block: hash }),
      ]
      expect(made).toMatchObject([{ blockNumber: '0x0' }, { blockNumber: '0x2', blockHash: hash }])
      await post(`${url}/two`, mine)
      expect(await post(`${url}/two`, blockNumber)).toEqual(result(1, '0x3'))
      expect(await post(url, blockNumber)).toEqual(result(1, '0x1'))
      const unknown = { name: 'no', from: '/two', block: `0x${'ab'.repeat(32)}` }
      expect(await post(url, call(1, 'devchain_newChain', [unknown]))).toMatchObject({
        error: { code: -32001 },
      })
      // also of a chain that may be in another thread
      const there = async (method: string, ...params: readonly unknown[]): Promise<unknown> =>
        ((await post(`${url}/two`, call(1, method, params))) as { result: unknown }).result
      const before = await there('evm_snapshot')
      await post(`${url}/two`, mine)
      const head = (await there('eth_getBlockByNumber', 'latest', false)) as { hash: string }
      await there('evm_revert', before)
      const order = { name: 'four', from: '/two', block: head.hash }
      expect(await ask('devchain_newChain', order)).toMatchObject({ blockHash: head.hash })
    })

    test.each(['health', 'release'])('is not made at /%s, which is refused', async (name) => {
      await using one = await opened()
      const message = `there is no chain at /${name}, only /; it is a path of devchain itself`
      expect(await post(`${one.url}/${name}`, blockNumber)).toMatchObject({ error: { message } })
    })

    test('is known by its path, too, and a number by its zeros', async () => {
      await using one = await opened()
      const ask = (method: string, ...params: readonly unknown[]): Promise<unknown> =>
        post(one.url, call(1, method, params))
      expect(await ask('devchain_newChain', '/alice')).toMatchObject({ result: { path: '/alice' } })
      expect(await ask('devchain_newChain', '007')).toMatchObject({ result: { path: '/7' } })
      const bob = await ask('devchain_newChain', { name: 'bob', from: '007' })
      expect(bob).toMatchObject({ result: { path: '/bob' } })
      for (const name of ['/alice', '/007'])
        expect(await ask('devchain_dropChain', name)).toEqual(result(1, true))
      const message = 'name: the default chain at / cannot be dropped'
      expect(await ask('devchain_dropChain', '/')).toMatchObject({ error: { message } })
    })

    test('begins nowhere but at a chain or snapshot that there is', async () => {
      await using one = await opened()
      const reply = await post(one.url, call(1, 'devchain_newChain', [{ name: 'bob', from: 'x' }]))
      const message = 'from: expected a chain or a named snapshot; there are none; got "x"'
      expect(reply).toMatchObject({ error: { message } })
      expect((await errorOf(`${one.url}/bob`))[0]).toBe(404)
    })
  })

  describe('a chain with options of its own', () => {
    test('is made by POST with their JSON, and is another network', async () => {
      await using one = await opened()
      const { url } = one
      const options = { chainId: 10, accounts: 1, compat: 'anvil', hardfork: 'paris' }
      expect(await send(`${url}/l2`, 'POST', options)).toEqual([
        201,
        { name: 'l2', path: '/l2', chainId: 10 },
      ])
      expect(await send(`${url}/9/start`, 'POST', { chainId: 11 })).toMatchObject([200, {}])
      const ids = ['', '/l2', '/9'].map((path) => post(url + path, call(1, 'eth_chainId')))
      expect(await Promise.all(ids)).toEqual([
        result(1, '0x21'),
        result(1, '0xa'),
        result(1, '0xb'),
      ])
      const version = (await post(`${url}/l2`, call(1, 'web3_clientVersion'))) as { result: string }
      expect(version.result).toMatch(/^anvil/)
      expect(await post(`${url}/l2`, call(1, 'eth_accounts'))).toMatchObject({
        result: { length: 1 },
      })
    })

    test.each<[given: DevchainOptions, own: object, mining: boolean]>([
      [{ noMining: true }, { blockTime: 1 }, true],
      [{ blockTime: 1 }, { noMining: true }, false],
      [{ noMining: true }, { accounts: 1 }, false],
    ])('%j of the program gives way to what contradicts it in %j', async (given, own, mining) => {
      await using one = await opened(given)
      await send(`${one.url}/own`, 'POST', own)
      expect(await post(`${one.url}/own`, call(1, 'eth_mining'))).toEqual(result(1, mining))
    })

    test("has the defaults of its own compat, and none of the program's", async () => {
      await using one = await opened({ compat: 'hardhat', balance: 7 })
      await using other = await opened({ compat: 'geth', balance: 7 })
      const { url } = one
      await send(`${url}/g`, 'POST', { compat: 'geth' })
      for (const [method, params] of [
        ['eth_accounts', []],
        ['eth_coinbase', []],
        ['eth_chainId', []],
        ['eth_getBlockByNumber', ['0x0', false]],
        ['eth_getBalance', [ALICE, 'latest']],
      ] as const) {
        const asked = call(1, method, params)
        expect(await post(`${url}/g`, asked)).toEqual(await post(other.url, asked))
      }
    })

    test.each([
      [{ port: 1 }, 'option "port" cannot be one chain\'s own: it is set when devchain starts'],
      [
        { import: '/x' },
        'option "import" cannot be one chain\'s own: it is set when devchain starts',
      ],
      [
        { genesis: '/etc/passwd' },
        'option "genesis": expected its content; a chain at a path reads no files',
      ],
      [{ chainID: 1 }, 'unknown option "chainID"; did you mean "chainId"?'],
      [
        { from: '/', chainId: 1 },
        'from and options exclude each other: a chain with options has its own genesis',
      ],
    ])('is refused with %j', async (options, message) => {
      await using one = await opened()
      expect(await send(`${one.url}/x`, 'POST', options)).toEqual([400, { message }])
      expect(one.front.chains.at('/x')).toBeUndefined()
    })
  })

  describe('the endpoints of prool', () => {
    test('start, restart, stop and destroy a chain whose URL stays', async () => {
      await using one = await opened()
      const { url } = one
      const { hostname: host, port: text } = new URL(url)
      const port = Number(text)
      const endpoints = { default: { host, port, protocol: 'http' } }
      const descriptor = { endpoints, host, port, url: `${url}/3` }
      for (const method of ['GET', 'POST'] as const) {
        expect(await send(`${url}/3/start`, method)).toEqual([200, descriptor])
        await post(`${url}/3`, mine)
        expect(await send(`${url}/3/start`, method)).toEqual([200, descriptor])
        expect(await post(`${url}/3`, blockNumber)).toEqual(result(1, '0x1'))
        expect(await send(`${url}/3/restart`, method)).toEqual([200, descriptor])
        expect(await post(`${url}/3`, blockNumber)).toEqual(result(1, '0x0'))
        await post(`${url}/3`, mine)
        expect(await send(`${url}/3/stop`, method)).toEqual([200, ''])
        expect(await post(`${url}/3`, blockNumber)).toEqual(result(1, '0x0'))
        expect(await send(`${url}/3/destroy`, method)).toEqual([200, ''])
        expect(one.front.chains.at('/3')).toBeUndefined()
        expect(await send(`${url}/4/restart`, method)).toEqual([200, ''])
      }
      expect(await send(`${url}/healthcheck`, 'GET')).toEqual([200, ''])
      expect((await send(`${url}/3/else`, 'GET'))[0]).toBe(404)
    })

    test('know a number by its zeros', async () => {
      await using one = await opened()
      const { url, front } = one
      expect(await send(`${url}/005/start`, 'POST', { chainId: 5 })).toMatchObject([
        200,
        { url: `${url}/5` },
      ])
      await post(`${url}/5`, mine)
      expect(await send(`${url}/005/restart`)).toMatchObject([200, { url: `${url}/5` }])
      expect(await post(`${url}/5`, blockNumber)).toEqual(result(1, '0x0'))
      await post(`${url}/5`, mine)
      await send(`${url}/05/stop`)
      expect(await post(`${url}/5`, blockNumber)).toEqual(result(1, '0x0'))
      await send(`${url}/005/destroy`)
      expect(front.chains.at('/5')).toBeUndefined()
    })

    test.each(['{"chainId":5,}', '[1]', '"x"', '5'])('start no chain with %s', async (body) => {
      await using one = await opened()
      const response = await fetch(`${one.url}/6/start`, { method: 'POST', body })
      const message = 'expected options as a JSON object, or no body'
      expect([response.status, await response.json()]).toEqual([400, { message }])
      expect(one.front.chains.at('/6')).toBeUndefined()
    })

    test('are refused to links and images of other sites', async () => {
      await using one = await opened()
      await post(`${one.url}/3`, mine)
      for (const site of ['cross-site', 'same-site']) {
        const [status, body] = await visit(`${one.url}/3/destroy`, { 'sec-fetch-site': site })
        const message = 'pages of other sites may not control chains by links or images'
        expect([status, JSON.parse(body)]).toEqual([403, { message }])
      }
      expect(await post(`${one.url}/3`, blockNumber)).toEqual(result(1, '0x1'))
      for (const site of ['none', 'same-origin']) {
        const [status] = await visit(`${one.url}/3/restart`, { 'sec-fetch-site': site })
        expect(status).toBe(200)
      }
    })

    test('close the WebSockets of a chain that restarts', async () => {
      await using one = await opened()
      const socket = new WebSocket(`${one.url.replace('http', 'ws')}/3`)
      await once(socket, 'open')
      await send(`${one.url}/3/restart`)
      const [code, reason] = await once(socket, 'close')
      expect([code, String(reason)]).toEqual([1001, 'the chain was restarted'])
    })

    test('return the newest lines of a chain’s log', async () => {
      const log = new Logger({
        renderer: createPrettyRenderer(PLAIN, false),
        writer: { write: () => undefined },
      })
      await using one = await opened({}, { observer: log })
      for (let i = 0; i < 25; i++)
        await post(`${one.url}/3`, call(1, i % 2 ? 'eth_gasPrice' : 'eth_chainId'))
      await post(`${one.url}/4`, blockNumber)
      const [, messages] = await send(`${one.url}/3/messages`, 'GET')
      expect(messages).toHaveLength(20)
      expect((messages as readonly string[]).at(-1)).toMatch(/^3 {2}eth_chainId/)
    })

    test('lease a chain to one client at a time, anew for each', async () => {
      await using one = await opened()
      const { url } = one
      const count = Math.max(1, Math.floor(availableParallelism() / 2))
      const leases = await Promise.all(
        Array.from({ length: count }, async () => (await send(`${url}/acquire`))[1]),
      )
      const [first] = leases as readonly { readonly url: string; readonly token: string }[]
      await post(first!.url, mine)
      const waiting = send(`${url}/acquire`)
      const leaving = new AbortController()
      const left = fetch(`${url}/acquire`, { method: 'POST', signal: leaving.signal })
      leaving.abort()
      await expect(left).rejects.toThrow()
      expect(await send(`${url}/release/${first!.token}`)).toEqual([204, ''])
      const [status, next] = await waiting
      expect([status, next]).toMatchObject([200, { url: first!.url }])
      expect(await post(first!.url, blockNumber)).toEqual(result(1, '0x0'))
      expect((await send(`${url}/release/${first!.token}`))[0]).toBe(404)
    })

    test('lease no chain that somebody made, also where one of theirs was dropped', async () => {
      await using one = await opened()
      const { url } = one
      await post(url, call(1, 'devchain_newChain', ['lease-1']))
      await post(`${url}/lease-1`, mine)
      const lease = async (): Promise<{ readonly url: string; readonly token: string }> =>
        (await send(`${url}/acquire`))[1] as { readonly url: string; readonly token: string }
      const first = await lease()
      expect(first.url).toBe(`${url}/lease-2`)
      await send(`${url}/release/${first.token}`)
      await post(url, call(1, 'devchain_dropChain', ['lease-2']))
      await post(url, call(1, 'devchain_newChain', ['lease-2']))
      await post(`${url}/lease-2`, mine)
      const count = Math.max(1, Math.floor(availableParallelism() / 2))
      for (let i = 0; i < count; i++) {
        expect(await post((await lease()).url, blockNumber)).toEqual(result(1, '0x0'))
      }
      for (const name of ['lease-1', 'lease-2']) {
        expect(await post(`${url}/${name}`, blockNumber)).toEqual(result(1, '0x1'))
      }
    })
  })
})
