// Bad input against the whole product: each error says what is wrong, and nothing around it is lost.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createDevchain, type Devchain, type DevchainOptions } from '../../src/devchain.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { connectRaw, rawPost } from '../support/wire/raw.ts'
import { call, post } from '../support/wire/testserver.ts'

const ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const HASH = `0x${'ab'.repeat(32)}`
const LIMIT = 5_000_000

interface ErrorReply {
  readonly id: unknown
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
}

interface Product {
  readonly devchain: Devchain
  readonly url: string
  readonly port: number
  readonly socket: WebSocket
  readonly bugs: unknown[]
}

let product: Product

beforeAll(async () => {
  product = await start()
})

afterAll(async () => {
  expect(product.bugs).toEqual([])
  await product.devchain.close()
})

async function start(options: DevchainOptions = {}): Promise<Product> {
  const bugs: unknown[] = []
  const observer = { onBug: (bug: unknown) => bugs.push(bug) }
  const devchain = await createDevchain({ port: 0, ...options }, { observer })
  const { url, wsUrl, port } = await devchain.listen()
  const socket = new WebSocket(wsUrl)
  await once(socket, 'open')
  return { devchain, url, port, socket, bugs }
}

/** Sends a message over the WebSocket and gives the next one. */
async function overWebSocket(message: string | Uint8Array): Promise<unknown> {
  const replied = once(product.socket, 'message')
  product.socket.send(message)
  const [reply] = await replied
  return JSON.parse(`${reply}`)
}

async function nonceOf(): Promise<number> {
  const nonce = await product.devchain.request({
    method: 'eth_getTransactionCount',
    params: [ACCOUNT, 'latest'],
  })
  return Number(nonce)
}

/** Does `bad` while transactions and questions of others are in flight, and holds that none of them is lost. */
async function amongOthers<T>(bad: () => Promise<T>): Promise<T> {
  const before = await nonceOf()
  const send = (): Promise<unknown> =>
    post(product.url, call(1, 'eth_sendTransaction', [{ from: ACCOUNT, to: ACCOUNT }]))
  const ask = (): Promise<unknown> => post(product.url, call('ask', 'eth_chainId'))
  const [sent, , outcome, asked, sentToo] = await Promise.all([send(), ask(), bad(), ask(), send()])
  for (const each of [sent, sentToo]) expect(each).toHaveProperty('result')
  expect(asked).toEqual({ jsonrpc: '2.0', id: 'ask', result: '0x21' })
  expect(await nonceOf()).toBe(before + 2)
  return outcome
}

const nested = '['.repeat(10_000) + ']'.repeat(10_000)

const messages: readonly (readonly [string, string | Uint8Array, unknown, number, RegExp])[] = [
  ['nothing', '', null, -32700, /^parse error/],
  ['malformed JSON', '{"jsonrpc":"2.0","id":1,', null, -32700, /^parse error/],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), null, -32700, /expected UTF-8/],
  ['a number', '1', null, -32600, /expected a request object, got 1/],
  ['an empty batch', '[]', null, -32600, /at least one request/],
  ['a wrong version', '{"jsonrpc":"3.0","id":1,"method":"eth_chainId"}', 1, -32600, /got "3\.0"/],
  ['no method', '{"jsonrpc":"2.0","id":1}', 1, -32600, /expected "method"/],
  ['an object for an id', '{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}', null, -32600, /"id"/],
  [
    'text for params',
    '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":"x"}',
    1,
    -32600,
    /"params"/,
  ],
  ['nothing but nesting', nested, null, -32600, /nested too deeply: at most 100 levels/],
  [
    'nesting in a parameter',
    call(1, 'eth_call', [0]).replace('[0]', nested),
    null,
    -32600,
    /nested too deeply/,
  ],
  [
    'a batch over 1,000',
    `[${Array(1001).fill(call(1, 'eth_chainId')).join()}]`,
    null,
    -32005,
    /at most 1000 requests, got 1001/,
  ],
]

const transfer = { from: ACCOUNT, to: ACCOUNT }

const calls: readonly (readonly [string, string, unknown, number, RegExp])[] = [
  ['an unknown method', 'eth_getBalence', [], -32601, /did you mean eth_getBalance\?/],
  [
    'a method not supported',
    'eth_compileSolidity',
    ['contract {}', 1, 2],
    -32004,
    /compilers are deliberately not included/,
  ],
  ['a missing parameter', 'eth_getBalance', [], -32602, /parameter 1 \(address\) is missing/],
  ['a surplus parameter', 'eth_chainId', [1], -32602, /eth_chainId takes no parameters, got 1/],
  [
    'a surplus name',
    'eth_getBalance',
    { address: ACCOUNT, blok: 'latest' },
    -32602,
    /no parameter "blok"/,
  ],
  [
    'a number for an address',
    'eth_getBalance',
    [5, 'latest'],
    -32602,
    /address: expected a 20-byte address, got 5/,
  ],
  [
    'an object for an address',
    'eth_getBalance',
    [{}, 'latest'],
    -32602,
    /expected a 20-byte address, got \{\}/,
  ],
  [
    'a short address',
    'eth_getBalance',
    [ACCOUNT.slice(0, -1), 'latest'],
    -32602,
    /expected a 20-byte address/,
  ],
  [
    'a long address',
    'eth_getBalance',
    [`${ACCOUNT}00`, 'latest'],
    -32602,
    /expected a 20-byte address/,
  ],
  [
    'a word for a block',
    'eth_getBalance',
    [ACCOUNT, 'newest'],
    -32602,
    /expected a block: .* got "newest"/,
  ],
  ['a block that is not there', 'eth_getBalance', [ACCOUNT, '0xfffffff'], -32001, /0xfffffff/],
  [
    'a block hash that is not there',
    'eth_getBalance',
    [ACCOUNT, { blockHash: HASH }],
    -32001,
    /0xabab/,
  ],
  ['a block that is not named', 'eth_getBalance', [ACCOUNT, { blockNr: 1 }], -32602, /blockNr/],
  ['odd hex', 'web3_sha3', ['0x123'], -32602, /even number of hex digits, got "0x123"/],
  ['hex that is none', 'web3_sha3', ['0xzz'], -32602, /got "0xzz"/],
  ['hex without 0x', 'web3_sha3', ['1234'], -32602, /got "1234"/],
  [
    'an oversized quantity',
    'eth_getStorageAt',
    [ACCOUNT, `0x1${'0'.repeat(64)}`, 'latest'],
    -32602,
    /256 bits/,
  ],
  [
    'a negative quantity',
    'eth_getStorageAt',
    [ACCOUNT, '-0x1', 'latest'],
    -32602,
    /expected a quantity.*got "-0x1"/,
  ],
  [
    'a fraction',
    'eth_getStorageAt',
    [ACCOUNT, 1.5, 'latest'],
    -32602,
    /expected a quantity.*got 1\.5/,
  ],
  ['a short hash', 'eth_getTransactionByHash', ['0xabab'], -32602, /32 bytes/],
  ['a number for a boolean', 'eth_getBlockByNumber', ['latest', 1], -32602, /true or false, got 1/],
  ['text for a transaction', 'eth_sendTransaction', ['x'], -32602, /transaction.*got "x"/],
  ['a list for a transaction', 'eth_sendTransaction', [[]], -32602, /transaction.*got \[\]/],
  [
    'a wrong value',
    'eth_sendTransaction',
    [{ ...transfer, value: '1 ether' }],
    -32602,
    /value: expected a quantity.*got "1 ether"/,
  ],
  ['odd data', 'eth_call', [{ to: ACCOUNT, data: '0x1' }], -32602, /data: expected an even number/],
  [
    'data against input',
    'eth_call',
    [{ to: ACCOUNT, data: '0x11', input: '0x22' }],
    -32602,
    /data|input/,
  ],
  [
    'an override of too much',
    'eth_call',
    [transfer, 'latest', { [ACCOUNT]: { balance: 'much' } }],
    -32602,
    /balance: expected a quantity.*got "much"/,
  ],
  [
    'a sender without a key',
    'eth_sendTransaction',
    [{ from: `0x${'12'.repeat(20)}`, to: ACCOUNT }],
    -32602,
    /0x1212/,
  ],
  [
    'too little gas',
    'eth_sendTransaction',
    [{ ...transfer, gas: 100 }],
    -32003,
    /^intrinsic gas too low/,
  ],
  [
    'too much gas',
    'eth_sendTransaction',
    [{ ...transfer, gas: 40_000_000 }],
    -32003,
    /exceeds block gas limit/,
  ],
  [
    'too little money',
    'eth_sendTransaction',
    [{ ...transfer, value: `0x${'f'.repeat(30)}` }],
    -32003,
    /^insufficient funds/,
  ],
  [
    'an old nonce',
    'eth_sendTransaction',
    [{ ...transfer, nonce: 0, value: '0x7' }],
    -32003,
    /^nonce too low/,
  ],
  ['an empty raw transaction', 'eth_sendRawTransaction', ['0x'], -32602, /transaction/],
  ['garbage for a raw transaction', 'eth_sendRawTransaction', ['0x02deadbeef'], -32602, /./],
  [
    'a list that claims to be huge',
    'eth_sendRawTransaction',
    ['0xffffffffffffffffff'],
    -32602,
    /./,
  ],
  ['a filter that is not there', 'eth_getFilterChanges', ['0x99'], -32001, /filter 0x99 not found/],
  [
    'topics over four',
    'eth_getLogs',
    [{ topics: [null, null, null, null, null] }],
    -32602,
    /topics/,
  ],
  [
    'a hash and a range of blocks',
    'eth_getLogs',
    [{ blockHash: HASH, fromBlock: '0x1' }],
    -32602,
    /fromBlock|blockHash/,
  ],
  ['a subscription to nothing known', 'eth_subscribe', ['newBlocks'], -32602, /./],
  ['a day for seconds', 'evm_increaseTime', ['tomorrow'], -32602, /tomorrow/],
  ['a negative time', 'evm_increaseTime', [-1], -32602, /-1/],
  ['too many blocks to name', 'eth_feeHistory', ['0x1', 'latest', [200]], -32602, /200/],
]

describe('a malformed message', () => {
  test.each(messages)(
    'of %s is refused without side effects',
    async (_what, body, id, code, message) => {
      for (const send of [() => post(product.url, body), () => overWebSocket(body)]) {
        const reply = (await amongOthers(send)) as ErrorReply
        expect(reply).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
        expect(reply.error.message).toMatch(message)
        expect(reply).not.toHaveProperty('result')
      }
    },
  )
})

describe('an invalid call', () => {
  test.each(calls)(
    'with %s is refused without side effects',
    async (_what, method, params, code, message) => {
      await post(product.url, call(1, 'eth_sendTransaction', [transfer]))
      const body = call('my id', method, params)
      for (const send of [() => post(product.url, body), () => overWebSocket(body)]) {
        const reply = (await amongOthers(send)) as ErrorReply
        expect(reply).toMatchObject({ jsonrpc: '2.0', id: 'my id', error: { code } })
        expect(reply.error.message).toMatch(message)
        expect(reply.error.message).toMatch(/^[^\n]{1,500}$/)
      }
    },
  )

  test('in a batch does not affect its neighbours', async () => {
    const bad = calls.map(
      ([, method, params], id) => JSON.parse(call(id, method, params)) as object,
    )
    const batch = bad.flatMap((each) => [{ id: 'good', method: 'eth_chainId' }, each])
    const replies = (await post(product.url, batch)) as {
      readonly id: unknown
      readonly error?: { readonly code: number }
    }[]
    expect(replies).toHaveLength(batch.length)
    const good = replies.filter(({ id }) => id === 'good')
    expect(good).toEqual(bad.map(() => ({ jsonrpc: '2.0', id: 'good', result: '0x21' })))
    const codes = replies.filter(({ id }) => id !== 'good').map(({ error }) => error?.code)
    expect(codes).toEqual(calls.map(([, , , code]) => code))
  })
})

describe('a body over the limit', () => {
  const over = call(1, 'web3_sha3', [`0x${'00'.repeat(LIMIT / 2)}`])
  const within = call(1, 'web3_sha3', [`0x${'00'.repeat(LIMIT / 2 - 100)}`])

  test('of 5 MB is refused, and one within it accepted', async () => {
    const reply = await amongOthers(() => post(product.url, over))
    expect(reply).toMatchObject({
      id: null,
      error: { code: -32005, message: expect.stringContaining('5000000 bytes') },
    })
    expect(await post(product.url, within)).toHaveProperty('result')
  })

  test('over WebSocket is refused with code 1009', async () => {
    const socket = new WebSocket(product.url.replace('http', 'ws'))
    await once(socket, 'open')
    const reply = once(socket, 'message')
    const closed = once(socket, 'close')
    socket.send(over)
    expect(JSON.parse(`${(await reply)[0]}`)).toMatchObject({ id: null, error: { code: -32005 } })
    expect((await closed)[0]).toBe(1009)
  })

  test('is measured by --body-limit', async () => {
    const { devchain, url } = await start({ bodyLimit: '1kB' })
    expect(await post(url, call(1, 'web3_sha3', [`0x${'00'.repeat(600)}`]))).toMatchObject({
      error: { code: -32005 },
    })
    expect(await post(url, call(1, 'web3_sha3', [`0x${'00'.repeat(400)}`]))).toHaveProperty(
      'result',
    )
    await devchain.close()
  })
})

describe('a connection', () => {
  test.each([
    ['half a request', rawPost(call(1, 'evm_mine')).slice(0, -5), 400, -32600],
    ['no HTTP', 'SELECT * FROM accounts\r\n\r\n', 400, -32600],
    [
      'a flood of headers',
      `POST / HTTP/1.1\r\n${'X-Header: value\r\n'.repeat(50_000)}\r\n`,
      431,
      -32005,
    ],
  ])('with %s gets an error, and nothing is mined', async (_what, bytes, status, code) => {
    const reply = await amongOthers(async () => {
      using raw = await connectRaw(product.port)
      raw.socket.end(bytes)
      return await raw.reply()
    })
    expect(reply.status).toBe(status)
    expect(JSON.parse(reply.body)).toMatchObject({ id: null, error: { code } })
  })

  test('that breaks off during a batch does not damage the chain', async () => {
    const before = await nonceOf()
    const raw = await connectRaw(product.port)
    const batch = Array.from({ length: 50 }, (_, id) => call(id, 'eth_sendTransaction', [transfer]))
    raw.write(rawPost(`[${batch.join()}]`))
    await eventually(async () => (await nonceOf()) > before)
    raw.socket.resetAndDestroy()
    await eventually(async () => (await nonceOf()) === before + 50)
  })

  test.each(['evil.example', 'localhost.evil.example:8545', '10.0.0.1'])(
    'for the host %s is refused over HTTP and WebSocket',
    async (host) => {
      using raw = await connectRaw(product.port)
      raw.write(rawPost(call(1, 'eth_accounts'), { Host: host }))
      expect((await raw.reply()).status).toBe(403)
      const socket = new WebSocket(product.url.replace('http', 'ws'), { headers: { host } })
      const [error] = await once(socket, 'error')
      expect(error.message).toBe('Unexpected server response: 403')
    },
  )

  test('is accepted for a host of --allow-host over HTTP and WebSocket', async () => {
    const { devchain, port } = await start({ allowHost: ['chain.example'] })
    using raw = await connectRaw(port)
    raw.write(rawPost(call(1, 'eth_chainId'), { Host: 'chain.example' }))
    expect((await raw.reply()).status).toBe(200)
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { headers: { host: 'chain.example' } })
    await once(socket, 'open')
    socket.terminate()
    await devchain.close()
  })
})

describe('a bad genesis file', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'devchain-genesis-'))
  })
  afterAll(async () => {
    await rm(folder, { recursive: true })
  })

  test.each([
    ['no JSON', '{"alloc":', /is not valid JSON/],
    ['a list', '[]', /expected an object/],
    [
      'a wrong balance',
      `{"alloc":{"${ACCOUNT}":{"balance":"lots"}}}`,
      /balance: expected an integer.*got "lots"/,
    ],
    ['a wrong address', '{"alloc":{"0x12":{"balance":"1"}}}', /0x12/],
    ['odd code', `{"alloc":{"${ACCOUNT}":{"code":"0x123"}}}`, /code: expected bytes/],
    ['a wrong slot', `{"alloc":{"${ACCOUNT}":{"storage":{"x":"0x1"}}}}`, /storage/],
    ['a member misspelt', '{"timestmp":"0x1"}', /timestmp/],
    ['a negative gas limit', '{"gasLimit":-5}', /gasLimit: expected .*got -5/],
    ['two faults', '{"gasLimit":"x","timestamp":"y"}', /gasLimit.*timestamp/],
  ])('with %s is refused by name', async (_what, content, message) => {
    const file = path.join(folder, 'genesis.json')
    writeFileSync(file, content)
    const refused = createDevchain({ genesis: file })
    await expect(refused).rejects.toMatchObject({ word: 'INVALID_PARAMS' })
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.toThrow('genesis.json')
  })

  test('that does not exist, or is a folder, is refused by name', async () => {
    await expect(createDevchain({ genesis: path.join(folder, 'none.json') })).rejects.toThrow(
      /none\.json: there is no such file/,
    )
    await expect(createDevchain({ genesis: folder })).rejects.toThrow(folder)
  })
})
