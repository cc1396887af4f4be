// WebSocket sessions over real sockets: order, bounds, notifications, and how they end.
import { once } from 'node:events'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import type { EndSession } from '../../src/server/answer.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { nextTurn, slowClock } from '../support/waiting/turns.ts'
import { connectRaw } from '../support/wire/raw.ts'
import {
  call,
  result,
  startTestServer,
  stopTimers,
  type TestServer,
} from '../support/wire/testserver.ts'

interface Client {
  readonly socket: WebSocket
  readonly send: (message: string | Uint8Array) => void
  /** The next message, parsed. Rejects when the session has ended. */
  readonly next: () => Promise<unknown>
  /** The code and the reason that the session has ended with. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly [Symbol.dispose]: () => void
}

async function connect(server: TestServer, options: ClientOptions = {}): Promise<Client> {
  const socket = new WebSocket(server.url.replace('http', 'ws'), options)
  const inbox: unknown[] = []
  let wake = (): void => undefined
  socket.on('message', (message) => {
    inbox.push(JSON.parse(message.toString()))
    wake()
  })
  socket.on('error', () => undefined)
  const closed = once(socket, 'close').then(([code, reason]) => {
    wake()
    return { code, reason: `${reason}` }
  })
  await once(socket, 'open')
  return {
    socket,
    send: (message) => socket.send(message),
    next: async () => {
      while (inbox.length === 0) {
        if (socket.readyState === WebSocket.CLOSED) throw new Error('the session has ended')
        await new Promise<void>((resolve) => (wake = resolve))
      }
      return inbox.shift()
    },
    closed,
    [Symbol.dispose]: () => socket.terminate(),
  }
}

const echo = (id: unknown, value: unknown = id): string => call(id, 'test_echo', [value])

describe('a WebSocket session', () => {
  test('responds to requests, batches and errors, in text and binary frames', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(echo(1, 'ü'))
    expect(await client.next()).toEqual(result(1, 'ü'))
    client.send(Buffer.from(`[${echo('a')},${echo('b')}]`))
    expect(await client.next()).toEqual([result('a', 'a'), result('b', 'b')])
    client.send(call(2, 'test_refuse'))
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32015, data: '0x1234' } })
  })

  test('responds in order, one message at a time', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(call(1, 'test_wait', ['a']))
    for (let id = 2; id <= 100; id++) client.send(echo(id))
    await server.gates.arrival('a')
    expect(server.calls).toEqual([])
    server.gates.open('a')
    for (let id = 1; id <= 100; id++) expect(await client.next()).toMatchObject({ id })
  })

  test('does not wait for other sessions', async () => {
    await using server = await startTestServer()
    using waiting = await connect(server)
    using other = await connect(server)
    waiting.send(call(1, 'test_wait', ['a']))
    await server.gates.arrival('a')
    other.send(echo(2))
    expect(await other.next()).toEqual(result(2, 2))
    expect(await server.post(echo(3))).toEqual(result(3, 3))
    server.gates.open('a')
    expect(await waiting.next()).toEqual(result(1, 'a'))
  })

  test('sends no response to notifications, alone or in a batch', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    const notification = '{"jsonrpc":"2.0","method":"test_echo","params":[1]}'
    client.send(notification)
    client.send(`[${notification},${notification}]`)
    client.send(echo(1))
    expect(await client.next()).toEqual(result(1, 1))
    expect(server.calls).toHaveLength(4)
  })

  test('responds to invalid JSON, and goes on', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    for (const message of [
      '{',
      Uint8Array.of(0x22, 0xff, 0x22),
      '',
      '[]',
      '5',
      '['.repeat(10_000),
    ]) {
      client.send(message)
      const reply = await client.next()
      expect(reply).toMatchObject({ id: null, error: { code: expect.any(Number) } })
    }
    client.send(echo(1))
    expect(await client.next()).toEqual(result(1, 1))
  })

  test('responds to invalid UTF-8, and goes on', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.socket.send(Uint8Array.of(0x22, 0xff, 0x22), { binary: false })
    expect(await client.next()).toMatchObject({ error: { code: -32700 } })
    client.send(echo(1))
    expect(await client.next()).toEqual(result(1, 1))
  })

  test('accepts fragmented messages', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    for (const letter of echo(1)) client.socket.send(letter, { fin: false })
    client.socket.send('', { fin: true })
    expect(await client.next()).toEqual(result(1, 1))
  })

  test('responds to pings while a request runs', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(call(1, 'test_wait', ['a']))
    client.socket.ping('still there?')
    const [payload] = await once(client.socket, 'pong')
    expect(`${payload}`).toBe('still there?')
    server.gates.open('a')
    expect(await client.next()).toEqual(result(1, 'a'))
  })

  test('runs all received requests, even after the client disconnects', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(call(1, 'test_wait', ['a']))
    for (let id = 2; id <= 10; id++) client.send(echo(id))
    client.socket.close()
    await server.gates.arrival('a')
    server.gates.open('a')
    await eventually(() => server.calls.length === 10)
    expect(await client.closed).toMatchObject({ code: 1005 })
  })
})

describe('a flood of WebSocket messages', () => {
  test('does not hold up other sessions', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    using other = await connect(server)
    using _time = slowClock()
    for (let id = 1; id <= 500; id++) client.send(echo(id))
    other.send(echo('other'))
    expect(await other.next()).toEqual(result('other', 'other'))
    expect(server.calls.length).toBeLessThan(400)
    for (let id = 1; id <= 500; id++) expect(await client.next()).toMatchObject({ id })
  })

  test('is read only as fast as it is handled, and none is lost', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(call(0, 'test_wait', ['a']))
    await server.gates.arrival('a')
    const filling = 'x'.repeat(5_000)
    for (let id = 1; id <= 4_000; id++) client.send(echo(id, filling))
    for (let i = 0; i < 100; i++) expect(await server.post(echo(i))).toEqual(result(i, i))
    // 20 MB do not fit into the buffers of the sockets: the rest stays with the client
    expect(client.socket.bufferedAmount).toBeGreaterThan(0)
    server.gates.open('a')
    for (let id = 0; id <= 4_000; id++)
      expect((await client.next()) as object).toHaveProperty('id', id)
    expect(client.socket.bufferedAmount).toBe(0)
  })

  test('without reading replies pauses, and none is lost', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.socket.pause()
    for (let id = 0; id < 100; id++) client.send(call(id, 'test_large', [1_000_000]))
    for (let i = 0; i < 100; i++) expect(await server.post(echo(1))).toEqual(result(1, 1))
    const done = server.calls.filter(({ method }) => method === 'test_large').length
    expect(done).toBeGreaterThan(0)
    expect(done).toBeLessThan(100)
    client.socket.resume()
    for (let id = 0; id < 100; id++) expect(await client.next()).toHaveProperty('id', id)
  })
})

describe('WebSocket notifications', () => {
  test('come in order, before the reply that follows them', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(call(1, 'test_notify', [3]))
    for (let i = 0; i < 3; i++) {
      expect(await client.next()).toEqual({
        jsonrpc: '2.0',
        method: 'test_notified',
        params: { i, filling: 'x' },
      })
    }
    expect(await client.next()).toEqual(result(1, null))
  })

  test('may be any number for a reading client, in order, and do not delay the reply', async () => {
    await using server = await startTestServer({ timeouts: { stallMs: 30_000 } })
    using client = await connect(server)
    client.send(call('a', 'test_notify', [30_000, 1_000]))
    client.send(call('b', 'test_notify', [50, 1_000_000]))
    client.send(echo('c'))
    const reported: unknown[] = []
    const replied: unknown[] = []
    while (reported.length < 30_050 || replied.length < 3) {
      const message = (await client.next()) as { id?: string; params?: { i: number } }
      if (message.params === undefined) replied.push([message.id, reported.length < 30_050])
      else reported.push(message.params.i)
    }
    expect(replied).toEqual(['a', 'b', 'c'].map((id) => [id, true]))
    expect(reported).toEqual([...Array(30_000).keys(), ...Array(50).keys()])
  })

  test('to one client leave time for others', async () => {
    await using server = await startTestServer()
    using flooded = await connect(server)
    using other = await connect(server)
    flooded.send(call('a', 'test_notify', [60_000, 1_000]))
    let reported = 0
    flooded.socket.on('message', () => (reported += 1))
    await once(flooded.socket, 'message')
    other.send(call('b', 'test_notify', [3]))
    for (let i = 0; i < 3; i++) expect(await other.next()).toHaveProperty('params.i', i)
    expect(await other.next()).toEqual(result('b', null))
    expect(await server.post(echo(1))).toEqual(result(1, 1))
    expect(reported).toBeLessThan(60_000)
    await eventually(() => reported === 60_001)
  })

  test('that are filtered out leave time for others too', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(call(1, 'test_notifyNothing', ['a']))
    expect(await client.next()).toEqual(result(1, null))
    expect(await server.post(echo(2))).toEqual(result(2, 2))
    server.gates.open('a')
    await server.gates.arrival('a is over')
  })

  test('that a client does not read are limited: it gets the reason and is disconnected', async () => {
    await using server = await startTestServer({ timeouts: { stallMs: 50 } })
    using client = await connect(server)
    client.socket.pause()
    client.send(call(1, 'test_onClose', ['closed']))
    client.send(call(2, 'test_notify', [30_000, 1_000]))
    await server.gates.arrival('sent 30000')
    client.socket.resume()
    expect(await client.closed).toEqual({
      code: 1008,
      reason: 'too many unread notifications',
    })
    await server.gates.arrival('closed')
  })

  test('in small numbers wait for a client that does not read for a while', async () => {
    await using server = await startTestServer({ timeouts: { stallMs: 1 } })
    using client = await connect(server)
    client.socket.pause()
    client.send(call(2, 'test_notify', [900, 20_000]))
    await eventually(() => server.calls.length === 1)
    for (let i = 0; i < 100; i++) expect(await server.post(echo(i))).toEqual(result(i, i))
    client.socket.resume()
    for (let count = 0; count < 901; count++) await client.next()
  })

  test('to a disconnected client are dropped', async () => {
    await using server = await startTestServer()
    const client = await connect(server)
    client.send(call(1, 'test_onClose', ['closed']))
    client.send(call(2, 'test_wait', ['a']))
    client.send(call(3, 'test_notify', [3]))
    await server.gates.arrival('a')
    client.socket.terminate()
    await server.gates.arrival('closed')
    server.gates.open('a')
    await eventually(() => server.calls.length === 3)
    expect(server.bugs).toEqual([])
  })
})

describe('the end of a session', () => {
  test('is reported to its listeners, before and after it', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(call(1, 'test_onClose', ['before']))
    client.send(call(2, 'test_wait', ['a']))
    client.send(call(3, 'test_onClose', ['after']))
    await server.gates.arrival('a')
    client.socket.terminate()
    await server.gates.arrival('before')
    server.gates.open('a')
    await server.gates.arrival('after')
  })

  test('is noticed by its running call', async () => {
    await using server = await startTestServer()
    using client = await connect(server)
    client.send(call(1, 'test_untilGone', ['a']))
    await server.gates.arrival('a begins')
    client.socket.terminate()
    await server.gates.arrival('a ends')
  })

  test('has code 1001 at server stop, at once and after all replies', async () => {
    stopTimers(onTestFinished)
    const server = await startTestServer()
    using idle = await connect(server)
    using busy = await connect(server)
    busy.send(echo(1))
    busy.send(call(2, 'test_wait', ['a']))
    await server.gates.arrival('a')
    await server.close()
    expect(await idle.closed).toEqual({ code: 1001, reason: 'devchain is stopping' })
    expect(await busy.closed).toEqual({ code: 1001, reason: 'devchain is stopping' })
    expect(await busy.next()).toEqual(result(1, 1))
    server.gates.open('a')
    await eventually(() => server.calls.length === 2)
    expect(server.bugs).toEqual([])
  })

  test('has a reason of at most 123 bytes, whatever the thread of its chain failed with', async () => {
    const sessions = new Set<EndSession>()
    const targetOf = () => ({ answer: () => undefined, sessions })
    await using server = await startTestServer({ front: { targetOf, sites: [] } })
    using client = await connect(server)
    for (const endSession of sessions) endSession(`é ${'x'.repeat(200)}`)
    expect(await client.closed).toEqual({ code: 1001, reason: `? ${'x'.repeat(121)}` })
  })

  test('does not wait for a client that does not respond', async () => {
    stopTimers(onTestFinished)
    const server = await startTestServer()
    using client = await connect(server)
    client.socket.pause()
    const closed = server.close()
    for (let ms = 0; ms < 100; ms++) {
      await nextTurn()
      vi.advanceTimersByTime(1)
    }
    await closed
  })
})

describe('a WebSocket message over the limit', () => {
  const limit = 10_000

  test('is refused, and ends the session after earlier replies', async () => {
    await using server = await startTestServer({ bodyLimit: limit })
    using client = await connect(server)
    client.send(call(1, 'test_wait', ['a']))
    client.send(echo(2))
    client.send(echo(3, 'x'.repeat(limit)))
    client.send(echo(4))
    await server.gates.arrival('a')
    server.gates.open('a')
    expect(await client.next()).toEqual(result(1, 'a'))
    expect(await client.next()).toEqual(result(2, 2))
    const message = 'the message is over the limit of 10000 bytes'
    expect(await client.next()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32005, message },
    })
    expect(await client.closed).toEqual({ code: 1009, reason: message })
  })

  test.each([
    ['far', { fin: true }],
    ['in fragments', { fin: false }],
  ])('as %s ends the session at once, and no other', async (_what, options) => {
    await using server = await startTestServer({ bodyLimit: limit })
    using client = await connect(server)
    using other = await connect(server)
    const piece = options.fin ? 'x'.repeat(100 * limit) : 'x'.repeat(limit)
    for (let i = 0; i < 3; i++) client.socket.send(piece, options)
    expect(await client.closed).toMatchObject({ code: 1009 })
    other.send(echo(1))
    expect(await other.next()).toEqual(result(1, 1))
  })

  test('must be larger than the limit itself', async () => {
    await using server = await startTestServer({ bodyLimit: limit })
    using client = await connect(server)
    client.send(echo(1).padEnd(limit))
    expect(await client.next()).toEqual(result(1, 1))
  })
})

describe('a WebSocket protocol error', () => {
  test.each([
    ['an unknown kind of frame', [0x83, 0x80, 0, 0, 0, 0], 1002],
    ['an unmasked frame', [0x81, 0x01, 0x31], 1002],
    ['a reserved bit', [0xc1, 0x80, 0, 0, 0, 0], 1002],
    ['a fragment of nothing', [0x80, 0x80, 0, 0, 0, 0], 1002],
    [
      'a flood of fragments',
      Array.from({ length: 20_000 }, (_, i) => [i === 0 ? 1 : 0, 0x81, 0, 0, 0, 0, 0x20]).flat(),
      1008,
    ],
  ])('%s ends the session with its code', async (_what, bytes, code) => {
    await using server = await startTestServer()
    using other = await connect(server)
    using client = await connectRaw(server.port)
    client.write(UPGRADE)
    expect((await client.reply()).status).toBe(101)
    client.write(Uint8Array.from(bytes))
    const frame = Buffer.from(await client.ended(), 'latin1')
    expect([frame[0], frame.readUInt16BE(2)]).toEqual([0x88, code])
    other.send(echo(1))
    expect(await other.next()).toEqual(result(1, 1))
  })
})

const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n')

describe('a WebSocket upgrade', () => {
  test('by a page of another site is refused', async () => {
    await using server = await startTestServer()
    using client = await connectRaw(server.port)
    client.write(UPGRADE.replace('localhost', 'evil.example'))
    const { status, body } = await client.reply()
    expect(status).toBe(403)
    expect(JSON.parse(body)).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('"evil.example" is not allowed') },
    })
    expect(await client.ended()).toBe('')
  })

  test('that is refused and breaks off does no harm', async () => {
    await using server = await startTestServer()
    using client = await connectRaw(server.port)
    client.write(UPGRADE.replace('localhost', 'evil.example'))
    expect((await client.reply()).status).toBe(403)
    client.socket.resetAndDestroy()
    await once(client.socket, 'close')
    expect(await server.post(echo(1))).toEqual(result(1, 1))
  })

  test('is accepted for an allowed host, on any path, from any origin', async () => {
    await using server = await startTestServer({ allowHost: ['chain.example'] })
    using client = await connect(server, {
      headers: { host: 'chain.example:8545' },
      origin: 'https://app.example',
    })
    client.send(echo(1))
    expect(await client.next()).toEqual(result(1, 1))
  })

  test('without a key is refused', async () => {
    await using server = await startTestServer()
    using client = await connectRaw(server.port)
    client.write(UPGRADE.replace(/Sec-WebSocket-Key.*\r\n/, ''))
    expect((await client.reply()).status).toBe(400)
    expect(await client.ended()).toBe('')
  })

  test('beyond the maximum of sessions is refused until one ends', async () => {
    await using server = await startTestServer()
    const clients = await Promise.all(Array.from({ length: 1000 }, () => connect(server)))
    using raw = await connectRaw(server.port)
    raw.write(UPGRADE)
    const { status, body } = await raw.reply()
    expect(status).toBe(503)
    expect(JSON.parse(body).error).toEqual({
      code: -32005,
      message: 'over 1000 WebSocket sessions are open',
    })
    clients[0]?.send(call(1, 'test_onClose', ['gone']))
    await clients[0]?.next()
    clients[0]?.socket.close()
    await server.gates.arrival('gone')
    using next = await connect(server)
    next.send(echo(1))
    expect(await next.next()).toEqual(result(1, 1))
    for (const { socket } of clients) socket.terminate()
  })

  test('that breaks off does no harm', async () => {
    await using server = await startTestServer()
    const raw = await connectRaw(server.port)
    raw.write(UPGRADE)
    raw.socket.resetAndDestroy()
    await once(raw.socket, 'close')
    expect(await server.post(echo(1))).toEqual(result(1, 1))
  })
})
