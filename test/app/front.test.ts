// The front: which chain a path leads to, over HTTP, over WebSocket and in the events of observers.
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Backend } from '../../src/app/backend.ts'
import { type Front, openFront } from '../../src/app/front.ts'
import type { Observer } from '../../src/app/observer.ts'
import { readDevchainOptions } from '../../src/app/settings.ts'
import type { Renderer } from '../../src/cli/log/folding.ts'
import { createJsonRenderer } from '../../src/cli/log/json.ts'
import { Logger } from '../../src/cli/log/logger.ts'
import { PLAIN } from '../../src/cli/log/palette.ts'
import { createPrettyRenderer } from '../../src/cli/log/pretty.ts'
import { connectRaw, rawPost } from '../support/wire/raw.ts'
import { call, post, result } from '../support/wire/testserver.ts'

interface Opened extends AsyncDisposable {
  readonly front: Front
  readonly url: string
  readonly port: number
}

async function opened(
  names: readonly string[],
  hooks: { readonly observer?: Observer; readonly isPlain?: boolean } = {},
): Promise<Opened> {
  const front = await openFront(readDevchainOptions({ port: 0 }), hooks)
  for (const name of names) await front.chains.create({ name })
  const { url, port } = await front.listen()
  return { front, url, port, [Symbol.asyncDispose]: () => front.close() }
}

const blockNumber = call(1, 'eth_blockNumber')
const mine = call(1, 'evm_mine')

describe.each([false, true])('HTTP routing (plainly: %s)', (isPlain) => {
  test('leads a path to the chain of its name, and / to the first chain', async () => {
    await using two = await opened(['alice'], { isPlain })
    const { url } = two
    await post(`${url}/alice`, mine)
    await post(`${url}/alice/?key=1`, mine)
    expect(await post(`${url}/alice`, blockNumber)).toEqual(result(1, '0x2'))
    expect(await post(url, blockNumber)).toEqual(result(1, '0x0'))
    await post(`${url}/?key=1`, mine)
    expect(await post(`${url}/`, blockNumber)).toEqual(result(1, '0x1'))
    expect(await post(`${url}/alice`, blockNumber)).toEqual(result(1, '0x2'))
  })

  test('refuses a path that names none of several chains', async () => {
    await using two = await opened(['alice'], { isPlain })
    const response = await fetch(`${two.url}/alcie`, { method: 'POST', body: mine })
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        jsonrpc: '2.0',
        id: null,
        error: {
          code: -32600,
          message: 'there is no chain at /alcie, only /, /alice; devchain chain new alcie makes it',
        },
      },
    ])
    expect(await post(two.url, blockNumber)).toEqual(result(1, '0x0'))
  })

  test('refuses a path that names no chain where there is only the default one', async () => {
    await using one = await opened([], { isPlain })
    const response = await fetch(`${one.url}/v3/key`, { method: 'POST', body: mine })
    expect([response.status, await response.json()]).toMatchObject([
      404,
      {
        error: {
          message:
            'there is no chain at /v3/key, only /; a number from 1 to 999999999999999 makes one',
        },
      },
    ])
    expect(await post(one.url, blockNumber)).toEqual(result(1, '0x0'))
  })

  test('keeps the responses of one connection in order across chains', async () => {
    await using two = await opened(['alice'], { isPlain })
    await post(`${two.url}/alice`, mine)
    using raw = await connectRaw(two.port)
    const toAlice = rawPost(blockNumber).replace('POST / ', 'POST /alice ')
    raw.write([toAlice, rawPost(blockNumber), toAlice].join(''))
    const replies = [await raw.reply(), await raw.reply(), await raw.reply()]
    expect(replies.map(({ body }) => JSON.parse(body).result)).toEqual(['0x1', '0x0', '0x1'])
  })
})

describe('WebSocket routing', () => {
  async function connect(url: string): Promise<{
    readonly ask: (text: string) => Promise<unknown>
    readonly messages: unknown[]
    readonly [Symbol.dispose]: () => void
  }> {
    const socket = new WebSocket(url.replace('http', 'ws'))
    const messages: unknown[] = []
    await once(socket, 'open')
    socket.on('message', (data) => messages.push(JSON.parse(data.toString())))
    return {
      ask: async (text) => {
        socket.send(text)
        const [data] = await once(socket, 'message')
        return JSON.parse(data.toString())
      },
      messages,
      [Symbol.dispose]: () => socket.terminate(),
    }
  }

  test('keeps a session on the chain of its path', async () => {
    await using two = await opened(['alice'])
    using alice = await connect(`${two.url}/alice`)
    await alice.ask(mine)
    expect(await alice.ask(blockNumber)).toEqual(result(1, '0x1'))
    expect(await post(two.url, blockNumber)).toEqual(result(1, '0x0'))
  })

  test('notifies subscribers of their own chain', async () => {
    await using two = await opened(['alice'])
    using alice = await connect(`${two.url}/alice`)
    using first = await connect(two.url)
    const subscribe = call(1, 'eth_subscribe', ['newHeads'])
    await alice.ask(subscribe)
    await first.ask(subscribe)
    await post(`${two.url}/alice`, mine)
    await post(`${two.url}/alice`, mine)
    await post(two.url, mine)
    // whatever was sent before the reply to another question is here
    await Promise.all([alice.ask(blockNumber), first.ask(blockNumber)])
    const heads = (messages: readonly unknown[]): unknown[] =>
      (messages as { params?: { result: { number: string } } }[]).flatMap(
        ({ params }) => params?.result.number ?? [],
      )
    expect([heads(alice.messages), heads(first.messages)]).toEqual([['0x1', '0x2'], ['0x1']])
  })

  test('refuses a path that names none of several chains', async () => {
    await using two = await opened(['alice'])
    await expect(connect(`${two.url}/alcie`)).rejects.toThrow('404')
  })
})

test('a program’s observer gets the events of the first chain, and added chains have their own', async () => {
  const heard: string[] = []
  const listener = (chain: string): Observer => ({
    onCall: ({ method }) => heard.push(`${chain}: ${method}`),
    onChange: ({ after }) => heard.push(`${chain}: block ${after.tree.canonical.length - 1}`),
  })
  const observer = { ...listener('first'), ofChain: (name: string) => listener(name) }
  await using three = await opened(['alice', 'bob'], { observer })
  const { url } = three
  await post(`${url}/alice`, mine)
  await post(`${url}/bob`, blockNumber)
  await post(url, mine)
  expect(heard).toEqual([
    ...['alice: block 1', 'alice: evm_mine'],
    'bob: eth_blockNumber',
    ...['first: block 1', 'first: evm_mine'],
  ])
})

test('an observer is notified once that what older reverts left is forgotten', async () => {
  const notices: string[] = []
  await using one = await opened([], { observer: { onNotice: (text) => notices.push(text) } })
  const revert = async (): Promise<void> => {
    const id = await post(one.url, call(1, 'evm_snapshot'))
    await post(one.url, mine)
    await post(one.url, call(1, 'evm_revert', [(id as { readonly result: string }).result]))
  }
  for (let times = 0; times < 16; times++) await revert()
  expect(notices).toEqual([])
  for (let times = 0; times < 2; times++) await revert()
  expect(notices).toEqual([
    'devchain_leftBlocks has the blocks that the newest 16 reverts left, at most 1,024; older ones are forgotten',
  ])
})

describe('the log of several chains', () => {
  async function logged(renderer: Renderer): Promise<readonly string[]> {
    let text = ''
    const log = new Logger({ renderer, writer: { write: (lines) => (text += lines) } })
    {
      await using three = await opened(['alice', 'bob'], { observer: log })
      const { url } = three
      for (const path of ['/', '/alice', '/alice', '/bob']) await post(url + path, blockNumber)
      await post(`${url}/alice`, mine)
      await post(url, mine)
    }
    log.end()
    return text.trimEnd().split('\n')
  }

  test('has the name before what a chain did, and folds calls of one chain', async () => {
    const lines = await logged(createPrettyRenderer(PLAIN, false))
    const shown = lines.map((line) => line.replace(/ +[\d.]+ .?s /, ' ').replace(/0x\w+$/, '…'))
    expect(shown).toEqual([
      'eth_blockNumber  0',
      'alice  eth_blockNumber  0  ×2',
      'bob  eth_blockNumber  0',
      'alice  evm_mine  1 block',
      '  block 1 …',
      expect.stringContaining('    empty'),
      'evm_mine  1 block',
      '  block 1 …',
      expect.stringContaining('    empty'),
      expect.stringMatching(/^ended after .*: 6 calls, 0 transactions, 2 blocks$/),
    ])
  })

  test('in JSON has the name in each line of a named chain', async () => {
    const lines = await logged(createJsonRenderer(Date.now, false))
    const events = lines.map((line) => JSON.parse(line))
    expect(events.map(({ event, chain, id, call: of }) => [event, chain, id ?? of])).toEqual([
      ['call', undefined, 1],
      ['call', 'alice', 2],
      ['call', 'alice', 3],
      ['call', 'bob', 4],
      ['call', 'alice', 5],
      ['block', 'alice', 5],
      ['call', undefined, 6],
      ['block', undefined, 6],
      ['end', undefined, undefined],
    ])
  })
})

test('opening a chain under a name in use is refused', async () => {
  await using two = await opened(['alice'])
  const { url, front } = two
  await post(`${url}/alice`, mine)
  const refusal = { word: 'INVALID_PARAMS', message: 'there is already a chain at /alice' }
  await expect(front.chains.create({ name: 'alice' })).rejects.toMatchObject(refusal)
  expect(await post(`${url}/alice`, blockNumber)).toEqual(result(1, '0x1'))
  const both = await Promise.allSettled([1, 2].map(() => front.chains.create({ name: 'bob' })))
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})

test('changing a setting affects its own chain only', async () => {
  await using one = await opened([])
  const { first } = one.front
  await one.front.chains.create({ name: 'alice' })
  const alice = one.front.chains.at('/alice')!.chain as Backend
  await alice.request('evm_setAutomine', [false])
  expect([alice, first].map(({ node }) => node.chain.state.mining.mode.kind)).toEqual([
    'manual',
    'instant',
  ])
})
