// The accelerated server against node's HTTP server: the same bytes, however they are cut, have the same replies.
import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextTurn } from '../support/waiting/turns.ts'
import { rawPost } from '../support/wire/raw.ts'
import { call, startTestServer, type TestServer } from '../support/wire/testserver.ts'

const BODY_LIMIT = 2_000

const servers: Partial<Record<'fast' | 'plain', TestServer>> = {}

beforeAll(async () => {
  servers.fast = await startTestServer({ bodyLimit: BODY_LIMIT })
  servers.plain = await startTestServer({ isPlain: true, bodyLimit: BODY_LIMIT })
})
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.close()))
})

/** All that a server says to these pieces, sent one after another, until it ends the connection. */
async function talk(server: TestServer | undefined, pieces: readonly Buffer[]): Promise<string> {
  const socket = connect({
    port: server?.port ?? 0,
    host: '127.0.0.1',
    allowHalfOpen: true,
    noDelay: true,
  })
  const said: Buffer[] = []
  socket.on('data', (chunk: Buffer) => said.push(chunk))
  // a server that has refused what comes, and waits no longer for its end, resets the connection
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  for (const piece of pieces) {
    socket.write(piece)
    await nextTurn()
  }
  socket.end()
  await closed
  return Buffer.concat(said).toString('latin1')
}

/** A reply in the form that both agree on: the order and the case of headers do not matter, nor the time of day. */
interface Said {
  readonly status: string
  readonly headers: readonly string[]
  readonly body: string
}

function repliesIn(text: string): Said[] {
  const replies: Said[] = []
  for (let rest = text; rest !== ''; ) {
    const [head = ''] = rest.split('\r\n\r\n', 1)
    const [status = '', ...lines] = head.split('\r\n')
    const headers = lines
      .map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase()))
      .filter((line) => !line.startsWith('date: '))
      .sort()
    const length = /content-length: (\d+)/i.exec(head)?.[1] ?? 0
    const from = head.length + 4
    const body = rest.slice(from, from + Number(length))
    // what is wrong with a request that also breaks off is reported by whichever of the two a server finds first
    replies.push(status.includes(' 400 ') ? refused(status, body) : { status, headers, body })
    rest = rest.slice(from + Number(length))
    // nobody reads on
    if (headers.includes('connection: close')) break
  }
  return replies
}

function refused(status: string, body: string): Said {
  const { id, error } = JSON.parse(body)
  return { status, headers: [], body: `${id} ${error.code}` }
}

/** Cuts bytes at these places, in thousandths of their length. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => Math.floor((place * bytes.length) / 1000))
  const sorted = [...new Set([0, ...ends, bytes.length])].sort((a, b) => a - b)
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end))
}

/** The bytes of a text, each as a character. */
const asLatin1 = (text: string): string => Buffer.from(text).toString('latin1')

const shortBody = fc.constantFrom(
  call(1, 'test_echo', ['ü']),
  call(2, 'test_refuse'),
  call(3, 'test_add', ['0x1']),
  call('x', 'test_large', [30_000]),
  call(4, 'test_long', [40]),
  JSON.stringify({ jsonrpc: '2.0', method: 'test_echo', params: [1] }),
  `[${call(1, 'test_echo', [1])},${call(2, 'no_such')}]`,
  '[]',
  '',
  '{"id":1',
)

const anySize = fc.integer({ min: 0, max: 2 * BODY_LIMIT })

const body = fc.oneof(
  shortBody,
  anySize.map((size) => call(5, 'test_echo', ['x'.repeat(size)])),
)

/** Headers as clients send them, and as they should not. */
const headers = fc.dictionary(
  fc.constantFrom(
    ...['Host', 'host', 'Connection', 'connection', 'Accept', 'Accept-Encoding', 'User-Agent'],
    ...[
      'Content-Type',
      'Origin',
      'Expect',
      'Keep-Alive',
      'Te',
      'Trailer',
      'Upgrade',
      'X-Y',
      'X Y',
      '',
    ],
    ...['Content-Length', 'content-length', 'Transfer-Encoding', 'Access-Control-Request-Headers'],
    'Content-Encoding',
  ),
  fc.constantFrom(
    ...[
      'localhost',
      '127.0.0.1:8545',
      '[::1]',
      'evil.example',
      'keep-alive',
      'Keep-Alive',
      'close',
      'Close',
    ],
    ...['close, x', 'upgrade', 'h2c', '100-continue', 'chunked', 'gzip', '*/*', 'application/json'],
    ...[
      '',
      '  spaced\t',
      '0',
      '5',
      '007',
      '+5',
      '5, 5',
      '99999999',
      '1e1',
      'a\u00ffb',
      'a\u0000b',
      'a\nb',
      'a\rb',
    ],
  ),
  { maxKeys: 3 },
)

const chunked = shortBody.map((text) => {
  const bytes = asLatin1(text)
  const chunk = bytes === '' ? '' : `${bytes.length.toString(16)}\r\n${bytes}\r\n`
  return `POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`
})

const request = fc.oneof(
  { arbitrary: body.map((text) => asLatin1(rawPost(text))), weight: 4 },
  {
    arbitrary: fc.tuple(body, headers).map(([text, more]) => asLatin1(rawPost(text, more))),
    weight: 4,
  },
  {
    arbitrary: fc
      .tuple(
        body,
        fc.constantFrom('POST', 'GET', 'TRACE', 'OPTIONS', 'PUT', 'post', 'BREW', 'CONNECT'),
        fc.constantFrom(
          '/',
          '/health',
          '/a?b=%20#c',
          '*',
          'http://localhost/',
          '',
          '/a b',
          '/\u00ff',
        ),
        fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'http/1.1', ''),
      )
      .map(([text, method, path, version]) =>
        asLatin1(rawPost(text)).replace('POST / HTTP/1.1', `${method} ${path} ${version}`),
      ),
    weight: 3,
  },
  { arbitrary: chunked, weight: 1 },
  {
    arbitrary: fc.constantFrom(
      '\r\n',
      'garbage\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      `POST / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      `POST / HTTP/1.1\r\nX: ${'x'.repeat(9_000)}\r\nContent-Length: 0\r\n\r\n`,
    ),
    weight: 1,
  },
)

/** One byte more, less or other. */
interface Fault {
  readonly place: number
  readonly kind: 'more' | 'less' | 'other'
  readonly byte: number
}

const fault: fc.Arbitrary<Fault> = fc.record({
  place: fc.integer({ min: 0, max: 999 }),
  kind: fc.constantFrom('more', 'less', 'other'),
  byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 9, 10, 13, 32, 58, 127)),
})

function withFault(bytes: Buffer, { place, kind, byte }: Fault): Buffer {
  const at = Math.floor((place * bytes.length) / 1000)
  const middle = kind === 'less' ? [] : [byte]
  return Buffer.concat([
    bytes.subarray(0, at),
    Uint8Array.from(middle),
    bytes.subarray(kind === 'more' ? at : at + 1),
  ])
}

const places = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 8 })

async function expectTheSame(bytes: Buffer, cuts: readonly number[]): Promise<void> {
  const pieces = cut(bytes, cuts)
  const [fast, slow] = await Promise.all([talk(servers.fast, pieces), talk(servers.plain, pieces)])
  expect(repliesIn(fast)).toEqual(repliesIn(slow))
  expect(servers.fast?.bugs).toEqual([])
}

describe('both HTTP servers reply the same', () => {
  test('to one request and to many pipelined ones, in any pieces', async () => {
    const requests = fc.array(request, { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(requests, places, async (texts, cuts) => {
        await expectTheSame(Buffer.from(texts.join(''), 'latin1'), cuts)
      }),
      { seed: 20261121, numRuns: 400 },
    )
  })

  test('to a request with one byte wrong, missing or added', async () => {
    await fc.assert(
      fc.asyncProperty(request, body, fault, places, async (text, next, wrong, cuts) => {
        const bytes = Buffer.from(text + asLatin1(rawPost(next)), 'latin1')
        await expectTheSame(withFault(bytes, wrong), cuts)
      }),
      { seed: 20261121, numRuns: 400 },
    )
  })

  test('to a request that breaks off anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        request,
        fc.integer({ min: 0, max: 999 }),
        places,
        async (text, end, cuts) => {
          const bytes = Buffer.from(rawPost(call(0, 'test_echo', [0])) + text, 'latin1')
          await expectTheSame(bytes.subarray(0, Math.floor((end * bytes.length) / 1000)), cuts)
        },
      ),
      { seed: 20261121, numRuns: 200 },
    )
  })
})
