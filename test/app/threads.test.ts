// Chains in threads (--threads): the same as without. Here the other end of a thread's port is in this thread; test/e2e has threads.
import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Front, openFront } from '../../src/app/front.ts'
import type { ObservedCall, Observer } from '../../src/app/observer.ts'
import { type DevchainOptions, readDevchainOptions } from '../../src/app/settings.ts'
import { ENDS, type NamedCall, SAME, WRITES } from '../support/chain/writes.ts'
import { call, post, result } from '../support/wire/testserver.ts'

const CHAINS = 8

interface Opened extends AsyncDisposable {
  readonly front: Front
  readonly url: string
}

async function opened(options: DevchainOptions, observer: Observer = {}): Promise<Opened> {
  const settings = readDevchainOptions({ port: 0, noArtifacts: true, accounts: 3, ...options })
  const front = await openFront(settings, { environment: SAME, observer })
  const { url } = await front.listen()
  return { front, url, [Symbol.asyncDispose]: () => front.close() }
}

const textOf = ({ method, params }: NamedCall): string => call(1, method, params)

const CALLS = [
  ...WRITES.map(textOf),
  `[${call(5, 'evm_mine', [])},${call(6, 'eth_nothing', [])}]`,
  '{"no":',
]

const ENDED = ENDS.map(textOf)

async function repliesTo(url: string, bodies: readonly string[]): Promise<readonly unknown[]> {
  const replies: unknown[] = []
  for (const body of bodies) replies.push(await post(url, body))
  return replies
}

const schedule = fc.array(
  fc.record({ chain: fc.nat(CHAINS - 1), body: fc.constantFrom(...CALLS) }),
  { minLength: 40, maxLength: 120 },
)

test('each of eight chains in three threads replies and ends as it does in a process of its own', async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (steps) => {
      await using all = await opened({ clock: 'step:3', threads: 3 })
      const bodiesOf = (chain: number): readonly string[] =>
        steps.filter((step) => step.chain === chain).map(({ body }) => body)
      const numbers = Array.from({ length: CHAINS }, (_, i) => i)
      const replies = await Promise.all(
        numbers.map((i) => repliesTo(`${all.url}/${i + 1}`, [...bodiesOf(i), ...ENDED])),
      )
      for (const i of numbers) {
        await using alone = await opened({ clock: 'step:3' })
        expect(replies[i]).toEqual(await repliesTo(`${alone.url}/1`, [...bodiesOf(i), ...ENDED]))
      }
    }),
    { numRuns: 2, seed: 31 },
  )
})

interface Client extends Disposable {
  readonly socket: WebSocket
  readonly messages: readonly unknown[]
  /** Waits until so many messages have come. */
  readonly until: (count: number) => Promise<unknown>
}

async function connected(url: string): Promise<Client> {
  const socket = new WebSocket(url.replace('http', 'ws'))
  const messages: unknown[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data))))
  await once(socket, 'open')
  const until = (count: number): Promise<unknown> =>
    expect.poll(() => messages.length).toBeGreaterThanOrEqual(count)
  return { socket, messages, until, [Symbol.dispose]: () => socket.terminate() }
}

/** What a subscriber gets of many blocks, and of the call that makes them. */
async function notified(threads: number): Promise<readonly unknown[]> {
  await using one = await opened({ clock: 'step:3', threads })
  using client = await connected(`${one.url}/1`)
  client.socket.send(call(1, 'eth_subscribe', ['newHeads']))
  await client.until(1)
  client.socket.send(call(2, 'evm_mine', [{ blocks: 3 }]))
  await client.until(5)
  // more than one message between threads may have, and more than may be on their way
  client.socket.send(call(3, 'hardhat_mine', ['0x1388']))
  await client.until(5_006)
  return client.messages
}

test('subscribers in threads get what subscribers without threads get, in the same order', async () => {
  const [one, other] = await Promise.all([notified(0), notified(2)])
  const heads = (all: readonly unknown[]): readonly unknown[] =>
    all.filter((each) => !('id' in (each as object)))
  expect(heads(other)).toEqual(heads(one))
  // the reply to a call comes after the few blocks that it made
  expect(other.slice(0, 5)).toEqual(one.slice(0, 5))
  expect(other[4]).toMatchObject({ id: 2 })
})

test('subscriptions end with their chain, and with their client', async () => {
  await using one = await opened({ threads: 1 })
  using gone = await connected(`${one.url}/1`)
  using stays = await connected(`${one.url}/2`)
  for (const { socket, until } of [gone, stays]) {
    socket.send(call(1, 'eth_subscribe', ['newHeads']))
    await until(1)
  }
  const closed = once(gone.socket, 'close')
  await post(one.url, call(1, 'devchain_dropChain', ['1']))
  expect(String((await closed)[1])).toBe('the chain was dropped')
  await post(`${one.url}/1`, call(1, 'evm_mine', []))
  await post(`${one.url}/2`, call(1, 'evm_mine', []))
  await stays.until(2)
  expect(gone.messages).toHaveLength(1)
  stays.socket.close()
  await once(stays.socket, 'close')
  expect(await post(`${one.url}/2`, call(1, 'evm_mine', []))).toEqual(result(1, '0x0'))
})

test('a call is cancelled when its client disconnects, over HTTP and WebSocket', async () => {
  const calls: ObservedCall[] = []
  const ofChain = (): Observer => ({ onCall: (each) => calls.push(each) })
  await using one = await opened({ threads: 1 }, { onCall: () => undefined, ofChain })
  const url = `${one.url}/1`
  const to = `0x${'11'.repeat(20)}`
  await post(url, call(1, 'anvil_setCode', [to, '0x5b5f56']))
  // a loop for hours
  const asked = call(1, 'eth_call', [{ to, gas: '0x7fffffffffff' }, 'latest'])
  const cancelled = (): number =>
    calls.filter(({ refusal }) => refusal?.word === 'CANCELLED').length

  using client = await connected(url)
  await new Promise((resolve) => client.socket.send(asked, resolve))
  client.socket.terminate()
  await expect.poll(cancelled).toBe(1)

  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const head = `POST /1 HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${asked.length}\r\n\r\n`
  await new Promise((resolve) => socket.write(head + asked, resolve))
  socket.destroy()
  await expect.poll(cancelled).toBe(2)
})

test('artifacts from a client of any thread are known to the chains of all, also of those that start later', async () => {
  await using one = await opened({ threads: 3 })
  const account = `0x${'11'.repeat(20)}`
  const codeOf = { Alpha: `0x${'6001600255'.repeat(9)}00`, Beta: `0x${'6003600455'.repeat(9)}00` }
  type Name = keyof typeof codeOf
  const add = (path: string, contractName: Name): Promise<unknown> => {
    const deployedBytecode = codeOf[contractName]
    const artifact = { contractName, abi: [], bytecode: '0x', deployedBytecode }
    return post(one.url + path, call(1, 'devchain_addArtifacts', [artifact]))
  }
  const nameAt = async (path: string, name: Name): Promise<unknown> => {
    await post(one.url + path, call(1, 'anvil_setCode', [account, codeOf[name]]))
    return await post(one.url + path, call(1, 'devchain_names', [[account]]))
  }
  await post(`${one.url}/1`, call(1, 'evm_mine', []))
  expect(await add('/1', 'Alpha')).toMatchObject({ result: '0x1' })
  expect(await add('', 'Beta')).toMatchObject({ result: '0x1' })
  for (const path of ['', '/1', '/2', '/3']) {
    expect(await nameAt(path, 'Alpha')).toMatchObject({ result: { [account]: 'Alpha' } })
    expect(await nameAt(path, 'Beta')).toMatchObject({ result: { [account]: 'Beta' } })
  }
})

test.each([
  ['whole', 60_000, [100_000, 1_000_000]],
  ['in pieces', 600_000, [5_000_000, 50_000_000]],
] as const)('a long reply comes %s, over HTTP and WebSocket', async (_how, gas, [least, most]) => {
  await using one = await opened({ threads: 1 })
  const url = `${one.url}/1`
  const to = `0x${'11'.repeat(20)}`
  // a loop, until the gas is used
  await post(url, call(1, 'anvil_setCode', [to, '0x5b5f56']))
  const asked = call(1, 'debug_traceCall', [{ to, gas: `0x${gas.toString(16)}` }, 'latest', {}])
  const text = await (await fetch(url, { method: 'POST', body: asked })).text()
  expect(text.length).toBeGreaterThan(least)
  expect(text.length).toBeLessThan(most)
  using client = await connected(url)
  client.socket.send(asked)
  await client.until(1)
  expect(client.messages[0]).toEqual(JSON.parse(text))
})
