// The HTTP server over real sockets: what it answers, how it bounds clients, and how it ends.
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Site } from '../../src/rpc/site.ts'
import { createHostCheck } from '../../src/server/callers.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { connectRaw, rawPost } from '../support/wire/raw.ts'
import { call, result, startTestServer, stopTimers } from '../support/wire/testserver.ts'

const echo = (id: unknown, value: unknown = id): string => call(id, 'test_echo', [value])

describe('an HTTP request', () => {
  test('is accepted on any path, with any content type', async () => {
    await using server = await startTestServer()
    for (const path of ['', '/', '/some/chain?x=1', '/rpc/v1/key']) {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: echo(7),
      })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toEqual(result(7, 7))
    }
  })

  test('may have a chunked body', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    const body = echo(1, 'ü')
    const bytes = Buffer.from(body)
    raw.write('POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const byte of bytes) {
      raw.write('1\r\n')
      raw.write(Uint8Array.of(byte))
      raw.write('\r\n')
    }
    raw.write('0\r\n\r\n')
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 'ü'))
  })

  test('without an id gets 204 and no body, alone or in a batch', async () => {
    await using server = await startTestServer()
    const notification = { jsonrpc: '2.0', method: 'test_echo', params: [1] }
    for (const body of [notification, [notification, notification]]) {
      const response = await fetch(server.url, { method: 'POST', body: JSON.stringify(body) })
      expect(response.status).toBe(204)
      expect(await response.text()).toBe('')
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      // what only a preflight is asked for is not sent a hundred thousand times
      expect(response.headers.get('access-control-allow-methods')).toBe(null)
    }
    expect(server.calls).toHaveLength(3)
  })

  test('with "Expect: 100-continue" gets it, and then its reply', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    const body = echo(1)
    const length = { 'Content-Length': `${body.length}` }
    raw.write(rawPost('', { ...length, Expect: '100-continue' }))
    expect((await raw.reply()).status).toBe(100)
    raw.write(body)
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 1))
  })

  test('needs no Host header', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    const body = echo(1)
    raw.write(`POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    expect((await raw.reply()).status).toBe(200)
  })

  test('may name the server in its target, whose host counts', async () => {
    await using server = await startTestServer({ allowHost: ['chain.example'] })
    const statusOf = async (target: string, host: string): Promise<number> => {
      using raw = await connectRaw(server.port)
      raw.write(rawPost(echo(1), { Host: host }).replace(' / ', ` ${target} `))
      return (await raw.reply()).status
    }
    for (const target of ['http://localhost/', 'HTTP://chain.example:80/1?x=/', 'http://[::1]?x']) {
      expect(await statusOf(target, 'evil.example')).toBe(200)
    }
    for (const target of ['http://evil.example/', 'http://u@localhost/', 'https://evil.example']) {
      expect(await statusOf(target, 'localhost')).toBe(403)
    }
    using raw = await connectRaw(server.port)
    raw.write('GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect((await raw.reply()).status).toBe(200)
  })

  test('in HTTP/1.0 gets a reply, and the connection closes', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    const body = echo(1)
    raw.write(`POST / HTTP/1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 1))
    expect(await raw.ended()).toBe('')
  })

  test('with an upgrade to HTTP/2 is answered in HTTP/1.1, body included', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    const offer = {
      Connection: 'Upgrade, HTTP2-Settings',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'AAMAAABk',
    }
    raw.write(rawPost(echo(1), offer))
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 1))
    const [head = '', body = ''] = rawPost(echo(2), offer).split(/(?<=\r\n\r\n)/)
    raw.write(head)
    raw.write(body)
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(2, 2))
  })
})

describe('a connection', () => {
  test('may send requests slowly, and then upgrade to WebSocket', async () => {
    await using server = await startTestServer({ timeouts: { idleMs: 100 } })
    using idle = await connectRaw(server.port)
    idle.write(rawPost(echo(0)))
    await idle.reply()
    using slow = await connectRaw(server.port)
    slow.write(rawPost(echo(1)))
    expect(JSON.parse((await slow.reply()).body)).toEqual(result(1, 1))
    const request = rawPost(echo(2))
    slow.write(request.slice(0, -10))
    // by then both were looked at: the one is ended, the other is waited for
    expect(await idle.ended()).toBe('')
    slow.write(request.slice(-10))
    expect(JSON.parse((await slow.reply()).body)).toEqual(result(2, 2))
    const headers = [
      ...['GET / HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket'],
      ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
    ]
    slow.write(headers.join('\r\n'))
    const reply = await slow.reply()
    expect(reply.status).toBe(101)
    expect(reply.headers['sec-websocket-accept']).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  })

  test('has the replies of pipelined requests in order', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.write(
      [call(1, 'test_wait', ['a']), echo(2), call(3, 'test_refuse'), echo(4)]
        .map((body) => rawPost(body))
        .join(''),
    )
    await server.gates.arrival('a')
    server.gates.open('a')
    const ids: unknown[] = []
    for (let i = 0; i < 4; i++) ids.push(JSON.parse((await raw.reply()).body).id)
    expect(ids).toEqual([1, 2, 3, 4])
  })

  test('keeps 1,000 requests waiting, and refuses later ones', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.write(rawPost(call(0, 'test_wait', ['a'])).repeat(998))
    raw.write(rawPost(call(0, 'test_wait', ['b'])))
    await server.gates.arrival('b')
    raw.write(rawPost(call(0, 'test_wait', ['c'])) + rawPost(echo('one too many')))
    await server.gates.arrival('c')
    for (const gate of ['a', 'b', 'c']) server.gates.open(gate)
    const statuses: number[] = []
    for (let i = 0; i < 1001; i++) statuses.push((await raw.reply()).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1000)
    expect(statuses[1000]).toBe(503)
    raw.write(rawPost(echo(1)))
    expect((await raw.reply()).status).toBe(200)
  })

  test.each([false, true])(
    'whose replies are not read pauses and loses none (plainly: %s)',
    async (isPlain) => {
      await using server = await startTestServer({ isPlain })
      using raw = await connectRaw(server.port)
      raw.socket.pause()
      const count = 3_000
      const large = call(0, 'test_large', [20_000])
      for (let i = 0; i < count; i++) raw.write(rawPost(`${large}${' '.repeat(1_000)}`))
      for (let i = 0; i < 100; i++) expect(await server.post(echo(1))).toEqual(result(1, 1))
      const done = server.calls.filter(({ method }) => method === 'test_large').length
      expect(done).toBeGreaterThan(0)
      expect(done).toBeLessThan(count)
      raw.socket.resume()
      for (let i = 0; i < count; i++) expect((await raw.reply()).body).toHaveLength(20_036)
      expect(await server.post(echo(2))).toEqual(result(2, 2))
    },
  )

  test('that the client half-closes still delivers the reply', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.socket.end(rawPost(call(1, 'test_wait', ['a'])))
    await server.gates.arrival('a')
    // by then the end has come too
    for (let i = 0; i < 5; i++) expect(await server.post(echo(i))).toEqual(result(i, i))
    server.gates.open('a')
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 'a'))
    expect(await raw.ended()).toBe('')
  })

  test('that breaks off during a request does no harm', async () => {
    await using server = await startTestServer()
    const raw = await connectRaw(server.port)
    raw.write(rawPost(call(1, 'test_wait', ['a'])))
    await server.gates.arrival('a')
    raw.socket.resetAndDestroy()
    await once(raw.socket, 'close')
    server.gates.open('a')
    expect(await server.post(call(2, 'test_echo', ['still here']))).toEqual(result(2, 'still here'))
    expect(server.calls.map(({ method }) => method)).toContain('test_wait')
    expect(server.bugs).toEqual([])
  })

  test('that breaks off during a batch does not stop the batch', async () => {
    await using server = await startTestServer()
    const raw = await connectRaw(server.port)
    raw.write(rawPost(`[${call(1, 'test_wait', ['a'])},${call(2, 'test_wait', ['b'])}]`))
    await server.gates.arrival('a')
    raw.socket.resetAndDestroy()
    server.gates.open('a')
    await server.gates.arrival('b')
  })
})

describe('GET', () => {
  test.each(['/', '/health', '/health?x=1'])('%s describes the chain', async (path) => {
    await using server = await startTestServer()
    const response = await fetch(server.url + path)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ name: 'test' })
  })

  test('of another path lists what exists', async () => {
    await using server = await startTestServer()
    const response = await fetch(`${server.url}/other`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      error: {
        code: -32600,
        message: 'GET /other is not supported: GET / describes the chain, POST calls it',
      },
    })
  })

  test('as HEAD has the headers without the body, and the connection goes on', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.write('HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const { status, headers } = await raw.reply({ isHead: true })
    expect(status).toBe(200)
    expect(headers['content-length']).toBe('15')
    raw.write(rawPost(echo(1)))
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 1))
  })
})

test.each(['PUT', 'DELETE', 'PATCH'])('%s is refused, and its body skipped', async (method) => {
  await using server = await startTestServer()
  using raw = await connectRaw(server.port)
  raw.write(rawPost(echo(1)).replace('POST', method) + rawPost(echo(2)))
  const { status, body } = await raw.reply()
  expect(status).toBe(405)
  expect(JSON.parse(body)).toMatchObject({
    id: null,
    error: { code: -32600, message: `${method} is not supported: POST a JSON-RPC request` },
  })
  expect(JSON.parse((await raw.reply()).body)).toEqual(result(2, 2))
})

describe('a web page of any origin', () => {
  test('passes the preflight', async () => {
    await using server = await startTestServer()
    const response = await fetch(server.url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, x-own',
      },
    })
    expect(response.status).toBe(204)
    const headers = Object.fromEntries(response.headers)
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'content-type, x-own',
      'access-control-allow-private-network': 'true',
    })
    expect(headers['access-control-allow-methods']).toContain('POST')
  })

  test('can read replies and errors', async () => {
    await using server = await startTestServer()
    const ask = (init: RequestInit): Promise<Response> => fetch(server.url, init)
    for (const response of [
      await ask({ method: 'POST', body: echo(1) }),
      await ask({ method: 'POST', body: '{' }),
      await ask({ method: 'GET' }),
      await ask({ method: 'PUT' }),
    ]) {
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      // what only a preflight is asked for is not sent a hundred thousand times
      expect(response.headers.get('access-control-allow-methods')).toBe(null)
    }
  })
})

describe('the Host header', () => {
  const bound = (host: string, ...allowHosts: string[]): ((header: string) => boolean) => {
    const check = createHostCheck(host, allowHosts)
    return (header) => check(header) === undefined
  }

  test.each([
    'localhost',
    'localhost:8545',
    'LocalHost:8545',
    'localhost.',
    'localhost.:8545',
    'app.localhost:3000',
    '127.0.0.1',
    '127.0.0.1:8545',
    '127.1.2.3:80',
    '[::1]',
    '[::1]:8545',
    '[0:0:0:0:0:0:0:1]:8545',
    '[::ffff:127.0.0.1]:8545',
    '',
  ])('may be loopback: "%s"', (header) => {
    expect(bound('127.0.0.1')(header)).toBe(true)
  })

  test.each([
    'evil.example',
    'evil.example:8545',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evillocalhost',
    '10.0.0.7:8545',
    '0.0.0.0:8545',
    '[fe80::1]:8545',
    '[::ffff:10.0.0.7]',
    '[',
    ':8545',
    '.',
  ])('may not be anything else: "%s"', (header) => {
    const isAllowed = bound('127.0.0.1')
    expect(isAllowed('localhost')).toBe(true)
    expect(isAllowed(header)).toBe(false)
  })

  test('may be what the server is bound to, or is configured to allow', () => {
    const isAllowed = bound('10.0.0.7', 'chain.example', 'FE80::1')
    for (const header of ['10.0.0.7:1', 'chain.example', 'CHAIN.example.:80', '[fe80::1]:1']) {
      expect(isAllowed(header), header).toBe(true)
    }
    expect(isAllowed('sub.chain.example')).toBe(false)
    expect(bound('127.0.0.1', '*')('evil.example')).toBe(true)
  })

  test.each(['0.0.0.0', '::'])('may be any address, but no name, under %s', (host) => {
    const isAllowed = bound(host)
    expect(isAllowed('192.168.0.4:8545')).toBe(true)
    expect(isAllowed('[fe80::1]:8545')).toBe(true)
    expect(isAllowed('evil.example')).toBe(false)
  })

  test('of another site is refused before the request is read, for any method', async () => {
    await using server = await startTestServer({ allowHost: ['chain.example'] })
    using raw = await connectRaw(server.port)
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      raw.write(rawPost(echo(1), { Host: 'evil.example' }).replace('POST', method))
      const { status, body } = await raw.reply()
      expect(status).toBe(403)
      expect(JSON.parse(body)).toMatchObject({
        error: {
          code: -32600,
          message:
            'the host "evil.example" is not allowed: start with --allow-host NAME to allow it',
        },
      })
    }
    expect(server.calls).toEqual([])
    raw.write(rawPost(echo(1), { Host: 'chain.example:8545' }))
    expect((await raw.reply()).status).toBe(200)
  })
})

describe('a body over the limit', () => {
  const limit = 1_000
  const large = echo('x'.repeat(10 * limit))
  const refusal = {
    jsonrpc: '2.0',
    id: null,
    error: { code: -32005, message: "the request's body is over the limit of 1000 bytes" },
  }

  test('is refused by its declared length, and the connection goes on', async () => {
    await using server = await startTestServer({ bodyLimit: limit })
    using raw = await connectRaw(server.port)
    raw.write(rawPost(large))
    const { status, body } = await raw.reply()
    expect(status).toBe(413)
    expect(JSON.parse(body)).toEqual(refusal)
    raw.write(rawPost(echo(1)))
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 1))
  })

  test('in chunks is refused once it exceeds, and the connection goes on', async () => {
    await using server = await startTestServer({ bodyLimit: limit })
    using raw = await connectRaw(server.port)
    const chunk = `${limit.toString(16)}\r\n${'x'.repeat(limit)}\r\n`
    raw.write('POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
    raw.write(chunk + chunk)
    const { status, body } = await raw.reply()
    expect(status).toBe(413)
    expect(JSON.parse(body)).toEqual(refusal)
    raw.write(`${chunk.repeat(100)}0\r\n\r\n`)
    raw.write(rawPost(echo(1)))
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 1))
  })

  test('of many megabytes gets a reply and not a connection reset', async () => {
    await using server = await startTestServer({ bodyLimit: limit })
    const request = httpRequest(server.url, { method: 'POST' })
    const replied = once(request, 'response')
    const block = Buffer.alloc(1024 * 1024, 'x')
    for (let i = 0; i < 20; i++) request.write(block)
    request.end()
    const [response] = await replied
    expect(response.statusCode).toBe(413)
    response.resume()
    await once(request, 'close')
  })

  test('with "Expect: 100-continue" is refused without it', async () => {
    await using server = await startTestServer({ bodyLimit: limit })
    using raw = await connectRaw(server.port)
    raw.write(rawPost('', { 'Content-Length': `${limit + 1}`, Expect: '100-continue' }))
    const { status, headers } = await raw.reply()
    expect(status).toBe(413)
    expect(headers.connection).toBe('close')
    expect(await raw.ended()).toBe('')
  })

  test('is counted in bytes, and the limit itself is allowed', async () => {
    await using server = await startTestServer({ bodyLimit: limit })
    const body = echo(1, 'ü'.repeat(limit / 4))
    const pad = ' '.repeat(limit - Buffer.byteLength(body))
    expect(await server.post(body + pad)).toMatchObject({ result: expect.any(String) })
    expect(await server.post(`${body + pad} `)).toEqual(refusal)
  })
})

describe('invalid HTTP', () => {
  test.each([
    ['garbage', 'hello\r\n\r\n', 400, -32600],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, -32600],
    ['a length that is none', 'POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n', 400, -32600],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      -32600,
    ],
    ['a wrong chunk', 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400, -32600],
    ['a flood of one header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(2e7)}\r\n\r\n`, 431, -32005],
    ['a flood of headers', `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(1e5)}\r\n`, 431, -32005],
    ['a flood of path', `GET /${'x'.repeat(1e6)} HTTP/1.1\r\n\r\n`, 431, -32005],
  ])(
    'is refused in one line of JSON, and the connection closes: %s',
    async (_what, bytes, status, code) => {
      await using server = await startTestServer()
      using raw = await connectRaw(server.port)
      raw.write(Buffer.from(bytes, 'latin1'))
      const reply = await raw.reply()
      expect(reply.status).toBe(status)
      const { id, error } = JSON.parse(reply.body)
      expect(id).toBe(null)
      expect(error.code).toBe(code)
      expect(error.message).toMatch(/^[^\n]{10,150}$/)
      await raw.flushed()
      expect(await raw.ended()).toBe('')
      expect(await server.post(echo(1))).toEqual(result(1, 1))
    },
  )

  test('does not affect the replies to earlier requests', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.write(`${rawPost(call(1, 'test_wait', ['a']))}${rawPost(echo(2))}garbage\r\n\r\n`)
    await server.gates.arrival('a')
    server.gates.open('a')
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 'a'))
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(2, 2))
    expect((await raw.reply()).status).toBe(400)
    expect(await raw.ended()).toBe('')
  })

  test('in a body does not affect the replies to earlier requests', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    const chunked = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
    raw.write(rawPost(call(1, 'test_wait', ['a'])) + chunked)
    await server.gates.arrival('a')
    server.gates.open('a')
    expect(JSON.parse((await raw.reply()).body)).toEqual(result(1, 'a'))
    expect((await raw.reply()).status).toBe(400)
    expect(await raw.ended()).toBe('')
  })
})

// each waits for the server's second: all do so at once
describe.concurrent('a slow client', () => {
  const quick = { timeouts: { headersMs: 30, requestMs: 60 } }

  test.each([
    ['nothing', ''],
    ['half a request line', 'POST / HT'],
    ['half the headers', 'POST / HTTP/1.1\r\nHost: localhost\r\nX-'],
    ['half a body', rawPost(echo(1)).slice(0, -5)],
    ['half of the chunks', 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n'],
  ])('that sends %s gets a timeout error', async (_what, bytes) => {
    await using server = await startTestServer(quick)
    using raw = await connectRaw(server.port)
    raw.write(bytes)
    const { status, body } = await raw.reply()
    expect(status).toBe(408)
    expect(JSON.parse(body)).toMatchObject({
      id: null,
      error: { code: -32600, message: 'the request was not complete in time' },
    })
    expect(await raw.ended()).toBe('')
    expect(server.calls).toEqual([])
  })

  test('that finishes after the timeout gets no second reply, and nothing is run', async () => {
    await using server = await startTestServer(quick)
    using raw = await connectRaw(server.port)
    const request = rawPost(echo(1))
    raw.write(request.slice(0, -5))
    expect((await raw.reply()).status).toBe(408)
    raw.write(request.slice(-5) + rawPost(echo(2)))
    expect(await raw.ended()).toBe('')
    expect(await server.post(echo(3))).toEqual(result(3, 3))
    expect(server.calls.map(({ params }) => params)).toEqual([[3]])
  })

  test('does not stop a request that runs for longer', async () => {
    await using server = await startTestServer(quick)
    using patient = await connectRaw(server.port)
    patient.write(rawPost(call(1, 'test_wait', ['a'])))
    using slow = await connectRaw(server.port)
    slow.write('POST / HT')
    await slow.ended()
    server.gates.open('a')
    expect(JSON.parse((await patient.reply()).body)).toEqual(result(1, 'a'))
  })

  test('that breaks off during a body gets an error if it still reads', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.socket.end(rawPost(echo(1)).slice(0, -5))
    const { status, body } = await raw.reply()
    expect(status).toBe(400)
    expect(JSON.parse(body).error.message).toBe(
      'the connection closed before the request was complete',
    )
    expect(await raw.ended()).toBe('')
  })

  test('that breaks off and does not read does no harm', async () => {
    await using server = await startTestServer()
    const raw = await connectRaw(server.port)
    raw.write(rawPost(echo(1)).slice(0, -5))
    raw.socket.resetAndDestroy()
    await once(raw.socket, 'close')
    expect(await server.post(echo(2))).toEqual(result(2, 2))
    expect(server.calls).toHaveLength(1)
  })
})

describe('an idle connection', () => {
  test('is closed after its timeout', async () => {
    await using server = await startTestServer({ timeouts: { idleMs: 1 } })
    using raw = await connectRaw(server.port)
    raw.write(rawPost(echo(1)))
    expect((await raw.reply()).status).toBe(200)
    expect(await raw.ended()).toBe('')
  })
})

describe('a client that disconnects', () => {
  const long = (name: string): string => call(1, 'test_untilGone', [name])

  test('is noticed by its running call', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.write(rawPost(long('a')))
    await server.gates.arrival('a begins')
    raw.socket.resetAndDestroy()
    await server.gates.arrival('a ends')
    expect(await server.post(echo(2))).toEqual(result(2, 2))
  })

  test('is noticed even if it first only half-closes', async () => {
    await using server = await startTestServer()
    const controller = new AbortController()
    const reply = fetch(server.url, {
      method: 'POST',
      body: long('a'),
      signal: controller.signal,
    })
    await server.gates.arrival('a begins')
    controller.abort()
    await expect(reply).rejects.toThrow()
    await server.gates.arrival('a ends')
  })

  test('is not confused with one that half-closes and still reads', async () => {
    await using server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.write(rawPost(call(1, 'test_wait', ['a'])))
    raw.socket.end()
    await server.gates.arrival('a')
    expect((await raw.reply()).status).toBe(102)
    server.gates.open('a')
    const replies = [await raw.reply()]
    while (replies.at(-1)?.status === 102) replies.push(await raw.reply())
    expect(JSON.parse(replies.at(-1)?.body ?? '')).toEqual(result(1, 'a'))
  })
})

describe('a site beside JSON-RPC', () => {
  const page: Site = {
    owns: ({ method, target, accept }) =>
      method === 'GET' && target === '/' && accept.includes('text/html'),
    answer: async () => ({
      status: 200,
      contentType: 'text/html',
      body: '<p>hello</p>',
      headers: { 'content-security-policy': "default-src 'self'" },
    }),
  }

  test('gets its requests before the sites after it', async () => {
    await using server = await startTestServer({ sites: [page] })
    const seen = await fetch(server.url, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([await seen.text(), seen.headers.get('content-security-policy')]).toEqual([
      '<p>hello</p>',
      "default-src 'self'",
    ])
    expect(await (await fetch(server.url)).json()).toEqual({ name: 'test' })
  })

  test('gets no requests with a refused host', async () => {
    await using server = await startTestServer({ sites: [page] })
    using raw = await connectRaw(server.port)
    const headers = { Accept: 'text/html', Host: 'rebound.example' }
    raw.write(rawPost('', headers).replace('POST', 'GET'))
    expect((await raw.reply()).status).toBe(403)
  })
})

describe('a bug', () => {
  const bug = new TypeError('secret of the implementation')
  const broken = (): never => {
    throw bug
  }
  const message = 'internal error: a bug in devchain; its log has the details'
  const refusal = { jsonrpc: '2.0', id: null, error: { code: -32603, message } }

  test.each([false, true])('in a handler is reported as one (plainly: %s)', async (isPlain) => {
    await using server = await startTestServer({ isPlain, makeContext: broken })
    expect(await server.post(echo(1))).toEqual(refusal)
    expect(server.bugs).toEqual([bug])
  })

  test('in the description of the chain is reported as one', async () => {
    await using server = await startTestServer({ info: broken })
    const response = await fetch(server.url)
    expect([response.status, await response.json()]).toEqual([500, refusal])
    expect(server.bugs).toEqual([bug])
    expect(await server.post(echo(1))).toEqual(result(1, 1))
  })
})

describe('stopping the server', () => {
  test('closes idle, incomplete and refused connections at once', async () => {
    stopTimers(onTestFinished)
    const server = await startTestServer()
    const idle = await connectRaw(server.port)
    idle.write(rawPost(echo(1)))
    await idle.reply()
    const half = await connectRaw(server.port)
    half.write('POST / HT')
    const refused = await connectRaw(server.port)
    refused.write('garbage\r\n\r\n')
    await refused.reply()
    await server.close()
    for (const { ended, socket } of [idle, half, refused]) {
      await ended()
      socket.destroy()
    }
    await expect(fetch(server.url)).rejects.toThrow()
  })

  test('does not wait for a running request, and survives its end', async () => {
    const server = await startTestServer()
    using raw = await connectRaw(server.port)
    raw.write(rawPost(call(1, 'test_wait', ['a'])))
    await server.gates.arrival('a')
    await server.close()
    expect(await raw.ended()).toBe('')
    server.gates.open('a')
    await eventually(() => server.calls.length === 1)
    expect(server.bugs).toEqual([])
  })

  test('may be done twice', async () => {
    const server = await startTestServer()
    await Promise.all([server.close(), server.close()])
    await server.close()
  })
})

test('listening on a port in use fails with its code', async () => {
  await using server = await startTestServer()
  await expect(startTestServer({ port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('the server’s URL has the address, in brackets if it has colons', async () => {
  await using server = await startTestServer({ host: '::1' })
  expect(server.url).toBe(`http://[::1]:${server.port}`)
  expect(await server.post(echo(1))).toEqual(result(1, 1))
})
