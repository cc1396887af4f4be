// When chains at paths end, and what whoever still uses them gets.
import { availableParallelism } from 'node:os'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Front, openFront } from '../../src/app/front.ts'
import { type DevchainOptions, readDevchainOptions } from '../../src/app/settings.ts'
import { createDevchain, type Hooks } from '../../src/devchain.ts'
import { Caller } from '../../src/rpc/session.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { connectRaw } from '../support/wire/raw.ts'
import { call, post, result } from '../support/wire/testserver.ts'

const mine = { method: 'evm_mine' }
const height = { method: 'eth_blockNumber' }
const blockNumber = call(1, 'eth_blockNumber')

interface Opened extends AsyncDisposable {
  readonly front: Front
  readonly url: string
}

async function opened(options: DevchainOptions = {}, hooks: Hooks = {}): Promise<Opened> {
  const settings = { port: 0, noArtifacts: true, clock: 'frozen', ...options } as const
  const front = await openFront(readDevchainOptions(settings), hooks)
  const { url } = await front.listen()
  return { front, url, [Symbol.asyncDispose]: () => front.close() }
}

/** A set-up that ends when a test lets it. */
function heldSetUp(front: Front): () => Promise<void> {
  let end = (): void => undefined
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  const setUp = front.setUp(() => held)
  return () => {
    end()
    return setUp
  }
}

afterEach(() => void vi.useRealTimers())

describe('a chain of a program', () => {
  test('is not idle while the program calls it, and says so once it was dropped', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    let now = 1_000_000
    await using devchain = await createDevchain(
      { chainIdle: 1, noArtifacts: true },
      { environment: { now: () => now } },
    )
    const { request, save } = await devchain.branch('alice')
    const pass = (): void => {
      now += 500
      vi.advanceTimersByTime(500)
    }
    for (let i = 1; i <= 6; i++) {
      pass()
      await request(mine)
      expect(await request(height)).toBe(`0x${i}`)
    }
    for (let i = 0; i < 4; i++) pass()
    expect((await devchain.chains()).map(({ path }) => path)).toEqual(['/'])
    const error = {
      code: -32000,
      message: 'the chain was dropped: it had no requests (--chain-idle)',
    }
    await expect(request(height)).rejects.toMatchObject(error)
    await expect(save()).rejects.toMatchObject(error)
  })

  test('is not made again by its handle, whoever dropped it', async () => {
    await using devchain = await createDevchain({ noArtifacts: true })
    const alice = await devchain.branch('alice')
    const bob = await devchain.branch('bob', { from: 'alice' })
    await devchain.request({ method: 'devchain_dropChain', params: ['alice'] })
    await bob.close()
    for (const { request, close } of [alice, bob]) {
      const error = { code: -32000, message: 'the chain was dropped' }
      await expect(request(mine)).rejects.toMatchObject(error)
      await close()
    }
    const { request } = await devchain.branch('alice')
    await request(mine)
    await expect(alice.request(height)).rejects.toThrow('the chain was dropped')
    await alice.close()
    expect(await request(height)).toBe('0x1')
  })

  test('ends with the program, which makes no other', async () => {
    const devchain = await createDevchain({ noArtifacts: true })
    const { request } = await devchain.branch('alice')
    await devchain.close()
    const error = { message: 'devchain is closed' }
    await expect(request(height)).rejects.toMatchObject(error)
    await expect(devchain.request(mine)).rejects.toMatchObject({ ...error, code: -32000 })
    await expect(devchain.branch('late')).rejects.toMatchObject(error)
    await expect(devchain.listen()).rejects.toMatchObject(error)
  })

  test('may be made with null in place of what is left out', async () => {
    await using devchain = await createDevchain({ noArtifacts: true })
    const given = [null, { from: null }, { block: null }, { options: null }] as unknown as {
      from: string
    }[]
    for (const [i, start] of given.entries()) {
      const { path } = await devchain.branch(`a${i}`, start)
      expect(path).toBe(`/a${i}`)
    }
    expect((await devchain.branch(null as unknown as string)).name).toBe('chain-1')
  })
})

describe('with --chain-idle', () => {
  test('a chain stays while a request runs or waits for it, and that long after its reply', async () => {
    let now = 1_000_000
    await using one = await opened({ chainIdle: '60' }, { environment: { now: () => now } })
    const { url, front } = one
    const minutesPass = (): void => {
      for (let i = 0; i < 2; i++) {
        now += 60_000
        front.chains.dropIdle()
      }
    }
    const end = heldSetUp(front)
    const slot = front.chains.slotFor('/5')
    const waiting = post(`${url}/5`, call(1, 'evm_mine'))
    const made = front.chains.create({ name: 'alice' })
    await eventually(() => slot.isOpening)
    minutesPass()
    await end()
    expect(await waiting).toEqual(result(1, '0x0'))
    expect((await made).path).toBe('/alice')
    const chain = await slot.open()
    const running = slot.whileUsed(end())
    minutesPass()
    await running
    front.chains.dropIdle()
    expect(await slot.open()).toBe(chain)
    minutesPass()
    expect(front.chains.at('/5')).toBeUndefined()
  })
})

describe.each([0, 2])('with --threads %d, a chain that ends while it opens', (threads) => {
  test('is an error for who makes it and for who waits for it, and leaves another of its name', async () => {
    const bugs: unknown[] = []
    await using one = await opened({ threads }, { observer: { onBug: (bug) => bugs.push(bug) } })
    const { url, front } = one
    const end = heldSetUp(front)
    const made = post(url, call(7, 'devchain_newChain', ['alice']))
    await eventually(() => front.chains.at('/alice')?.isOpening)
    const asked = front.chains.at('/alice')!.answer(new Caller(), Buffer.from(call(8, 'evm_mine')))
    const dropped = post(url, call(1, 'devchain_dropChain', ['alice']))
    await eventually(() => front.chains.at('/alice') === undefined)
    const again = post(url, call(1, 'devchain_newChain', ['alice']))
    // while the set-up runs
    expect(await dropped).toEqual(result(1, true))
    const error = { code: -32000, message: 'the chain was dropped' }
    expect(await made).toEqual({ jsonrpc: '2.0', id: 7, error })
    expect(JSON.parse(String(await asked))).toEqual({ jsonrpc: '2.0', id: 8, error })
    await eventually(() => front.chains.at('/alice')?.isOpening)
    await end()
    expect(await again).toMatchObject({ result: { path: '/alice' } })
    expect(await post(`${url}/alice`, blockNumber)).toEqual(result(1, '0x0'))
    expect(bugs).toEqual([])
  })

  test('serves who waits for it if it was only restarted', async () => {
    await using one = await opened({ threads })
    const { url, front } = one
    const end = heldSetUp(front)
    const asked = post(`${url}/5`, call(3, 'evm_mine'))
    await eventually(() => front.chains.at('/5')?.isOpening)
    await front.chains.at('/5')!.end('the chain was restarted')
    await end()
    expect(await asked).toEqual(result(3, '0x0'))
    expect(await post(`${url}/5`, blockNumber)).toEqual(result(1, '0x1'))
  })
})

describe('a lease goes back if its client leaves', () => {
  const count = Math.max(1, Math.floor(availableParallelism() / 2))

  /** Resolves once the server knows that the client of `/acquire` has closed its side. */
  async function leftClient(url: string): Promise<void> {
    using raw = await connectRaw(Number(new URL(url).port))
    raw.write('POST /acquire HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n')
    raw.socket.end()
    expect((await raw.reply()).status).toBe(102)
  }

  const acquire = async (url: string): Promise<string> => {
    const response = await fetch(`${url}/acquire`, { method: 'POST' })
    return ((await response.json()) as { readonly token: string }).token
  }

  test('while it waits for one', async () => {
    await using one = await opened()
    const { url } = one
    const [first] = await Promise.all(Array.from({ length: count }, () => acquire(url)))
    await leftClient(url)
    await fetch(`${url}/release/${first}`, { method: 'POST' })
    expect(await acquire(url)).toMatch(/^[\da-f-]{36}$/)
  })

  test('while its chain opens', async () => {
    await using one = await opened()
    const { url, front } = one
    const end = heldSetUp(front)
    await leftClient(url)
    expect(front.chains.at('/lease-1')?.isOpening).toBe(true)
    await end()
    const tokens = await Promise.all(Array.from({ length: count }, () => acquire(url)))
    expect(new Set(tokens).size).toBe(count)
  })

  test('but not if it only closed its side', async () => {
    await using one = await opened()
    using raw = await connectRaw(Number(new URL(one.url).port))
    raw.write('POST /acquire HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n')
    const end = heldSetUp(one.front)
    raw.socket.end()
    expect((await raw.reply()).status).toBe(102)
    await end()
    let reply = await raw.reply()
    while (reply.status === 102) reply = await raw.reply()
    const { token } = JSON.parse(reply.body) as { readonly token: string }
    expect((await fetch(`${one.url}/release/${token}`, { method: 'POST' })).status).toBe(204)
  })
})

test('a chain that cannot be opened is an error with the id of the request', async () => {
  await using one = await opened()
  await one.front.setUp(() => Promise.reject(new Error('no deployer'))).catch(() => undefined)
  expect(await post(`${one.url}/1`, call(42, 'eth_chainId'))).toMatchObject({
    id: 42,
    error: { code: -32000 },
  })
})

test('a program that polls without a pause lets timers, such as those of mining, have their turn', async () => {
  await using devchain = await createDevchain({ noArtifacts: true })
  let hadTurn = false
  setImmediate(() => {
    hadTurn = true
  })
  for (let polls = 0; polls < 100_000 && !hadTurn; polls++) await devchain.request(height)
  expect(hadTurn).toBe(true)
})
