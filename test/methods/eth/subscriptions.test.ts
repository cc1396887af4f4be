// Subscriptions to a chain with many changes, over real sockets.
import { once } from 'node:events'
import { createTestClient, publicActions, webSocket } from 'viem'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startNode, type WireNode } from '../../support/wire/node.ts'

/** Emits 100 logs without topics, each of 4,096 bytes. */
const HUNDRED_LOGS = '0x60645b6110005fa0600190038060025700'
const LOGGER = '0x00000000000000000000000000000000000a11ce'

interface Notified {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly blockNumber: string
  readonly logIndex: string
  readonly removed: boolean
}

interface Client {
  readonly call: (method: string, ...params: unknown[]) => Promise<unknown>
  /** Results received so far. */
  readonly received: Notified[]
  /** Resolves when so many have been received. */
  readonly until: (count: number) => Promise<void>
  readonly socket: WebSocket
  readonly [Symbol.dispose]: () => void
}

async function connect({ url }: WireNode): Promise<Client> {
  const socket = new WebSocket(url.replace('http', 'ws'))
  const received: Notified[] = []
  const replies = new Map<number, (result: unknown) => void>()
  let wake = (): void => undefined
  let fail = (_reason: Error): void => undefined
  socket.on('message', (text) => {
    const message = JSON.parse(`${text}`)
    if (message.id === undefined) received.push(message.params.result)
    else replies.get(message.id)?.(message.error ?? message.result)
    wake()
  })
  socket.on('close', (code, reason) => fail(new Error(`closed: ${code} ${reason}`)))
  await once(socket, 'open')
  let nextId = 1
  return {
    received,
    socket,
    call: (method, ...params) => {
      const id = nextId++
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      return new Promise((resolve, reject) => {
        replies.set(id, resolve)
        fail = reject
      })
    },
    until: (count) =>
      new Promise((resolve, reject) => {
        fail = reject
        wake = () => {
          if (received.length >= count) resolve()
        }
        wake()
      }),
    [Symbol.dispose]: () => socket.terminate(),
  }
}

const request = (
  { devchain }: WireNode,
  method: string,
  ...params: readonly unknown[]
): Promise<unknown> => devchain.request({ method, params })

function expectInARow(heads: readonly Notified[], first: number): void {
  heads.forEach(({ number, parentHash }, index) => {
    if (Number(number) !== first + index || (index > 0 && parentHash !== heads[index - 1]?.hash)) {
      expect({ index, number: Number(number), parentHash }).toEqual({
        index,
        number: first + index,
        parentHash: heads[index - 1]?.hash,
      })
    }
  })
}

test('newHeads notifies a client of ten thousand blocks that it mines, in order, and then it gets its reply', async () => {
  await using node = await startNode()
  using client = await connect(node)
  await client.call('eth_subscribe', 'newHeads')
  expect(await client.call('hardhat_mine', '0x2710')).toBe(null)
  expect(await client.call('eth_blockNumber')).toBe('0x2710')
  await client.until(10_000)
  expect(client.received).toHaveLength(10_000)
  expectInARow(client.received, 1)
  expect(client.socket.readyState).toBe(WebSocket.OPEN)
})

test('newHeads notifies of the newest ten thousand of a billion blocks, and then of later ones', async () => {
  await using node = await startNode()
  using client = await connect(node)
  await client.call('eth_subscribe', 'newHeads')
  await client.call('hardhat_mine', '0x3b9aca00')
  await client.call('evm_mine')
  await client.until(10_001)
  expect(client.received).toHaveLength(10_001)
  expectInARow(client.received, 1_000_000_000 - 9_999)
})

test('logs notifies of all logs of a revert as removed, newest first', async () => {
  await using node = await startNode()
  using client = await connect(node)
  await request(node, 'hardhat_setCode', LOGGER, HUNDRED_LOGS)
  const id = await request(node, 'evm_snapshot')
  const [from] = (await request(node, 'eth_accounts')) as string[]
  for (let i = 0; i < 30; i++) {
    await request(node, 'eth_sendTransaction', { from, to: LOGGER, gas: '0x1000000' })
  }
  await client.call('eth_subscribe', 'logs')
  // 3,000 logs of 8 kB: more than any buffer takes
  expect(await client.call('evm_revert', id)).toBe(true)
  await client.until(3_000)
  const seen = client.received.map(({ removed, blockNumber, logIndex }) => [
    removed,
    Number(blockNumber) * 100 + Number(logIndex),
  ])
  expect(seen).toEqual(Array.from({ length: 3_000 }, (_, index) => [true, 3_099 - index]))
  expect(await client.call('eth_blockNumber')).toBe('0x0')
})

test('eth_unsubscribe stops all notifications, even pending ones', async () => {
  await using node = await startNode()
  using client = await connect(node)
  const id = await client.call('eth_subscribe', 'newHeads')
  const other = await client.call('eth_subscribe', 'newPendingTransactions')
  await client.call('hardhat_mine', '0x2710')
  expect(await client.call('eth_unsubscribe', id)).toBe(true)
  const before = client.received.length
  expect(before).toBeLessThan(10_000)
  const [from] = (await client.call('eth_accounts')) as string[]
  const hash = await client.call('eth_sendTransaction', { from, to: from })
  await client.until(before + 1)
  expect(client.received.slice(before)).toEqual([hash])
  expect(await client.call('eth_unsubscribe', other)).toBe(true)
})

test('viem’s block watcher sees ten thousand blocks that its test client mines', async () => {
  await using node = await startNode()
  const transport = webSocket(node.url.replace('http', 'ws'))
  const client = createTestClient({ mode: 'hardhat', transport }).extend(publicActions)
  const heard: bigint[] = []
  const failures: unknown[] = []
  let wake = (): void => undefined
  const all = new Promise<void>((resolve) => {
    wake = resolve
  })
  const stop = client.watchBlockNumber({
    onBlockNumber: (number) => {
      heard.push(number)
      if (number === 10_000n) wake()
    },
    onError: (error) => failures.push(error),
  })
  // the subscription is there when what was sent after it is answered
  await client.getBlockNumber()
  await client.mine({ blocks: 10_000 })
  expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(10_000n)
  await all
  expect(heard).toEqual(Array.from({ length: 10_000 }, (_, index) => BigInt(index + 1)))
  expect(failures).toEqual([])
  stop()
  const { socket } = await (
    client.transport as unknown as { getRpcClient(): Promise<{ socket: { close(): void } }> }
  ).getRpcClient()
  socket.close()
})

test.each([
  ['hardhat', true],
  ['geth', false],
] as const)('newPendingTransactions accepts a filter as %s does: %j', async (compat, isTaken) => {
  await using node = await startNode({ compat })
  using client = await connect(node)
  const answer = await client.call('eth_subscribe', 'newPendingTransactions', { address: LOGGER })
  if (!isTaken) {
    expect(answer).toMatchObject({ message: expect.stringMatching(/expected true or false/) })
    return
  }
  const [from, to] = (await client.call('eth_accounts')) as string[]
  const hash = await client.call('eth_sendTransaction', { from, to, gas: '0x5208' })
  await client.until(1)
  expect(client.received).toEqual([hash])
})

const SUBSCRIBERS = ['eth_subscribe', 'listen', 'eth\\u005fsubscribe']

test.each(SUBSCRIBERS)(
  'a batch that subscribes by %s and mines gets the id of its subscription before the notification',
  async (name) => {
    await using node = await startNode({ alias: ['listen=eth_subscribe'] })
    const socket = new WebSocket(node.url.replace('http', 'ws'))
    await once(socket, 'open')
    const messages: { readonly method?: string }[] = []
    const all = new Promise<void>((resolve) => {
      socket.on('message', (text) => {
        if (messages.push(JSON.parse(`${text}`)) === 4) resolve()
      })
    })
    const methods = [['NAME', 'newHeads'], ['NAME', 'syncing'], ['evm_mine'], ['evm_mine']]
    const batch = methods.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))
    socket.send(JSON.stringify(batch).replaceAll('NAME', name))
    await all
    socket.terminate()
    expect(messages[0]).toMatchObject([{ id: 0 }, { id: 1 }, { id: 2 }, { id: 3 }])
    for (const message of messages.slice(1)) expect(message.method).toBe('eth_subscription')
  },
)

test('logs notifies only of blocks in the range of its filter', async () => {
  await using node = await startNode()
  using client = await connect(node)
  await request(node, 'hardhat_setCode', LOGGER, '0x60006000a000')
  await client.call('eth_subscribe', 'logs', { fromBlock: '0x2', toBlock: '0x3' })
  await client.call('eth_subscribe', 'logs', { fromBlock: '0x4' })
  const [from] = (await request(node, 'eth_accounts')) as string[]
  for (let i = 0; i < 5; i++) {
    await client.call('eth_sendTransaction', { from, to: LOGGER, gas: '0x10000' })
  }
  await client.until(4)
  expect(client.received.map(({ blockNumber }) => Number(blockNumber))).toEqual([2, 3, 4, 5])
})

test.each([
  [{ fromBlock: '0x5', toBlock: '0x1' }, 'expected a range of blocks that ends after it begins'],
  [{ blockHash: `0x${'ab'.repeat(32)}` }, `block 0x${'ab'.repeat(32)} not found`],
])('logs refuses %j, as eth_newFilter does', async (filter, message) => {
  await using node = await startNode()
  using client = await connect(node)
  const refusal = { message: expect.stringContaining(message) }
  expect(await client.call('eth_subscribe', 'logs', filter)).toMatchObject(refusal)
  expect(await client.call('eth_newFilter', filter)).toMatchObject(refusal)
})
