// Request bodies that come compressed, over real sockets.
import { once } from 'node:events'
import { request } from 'node:http'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, result, startTestServer, type TestServer } from '../support/wire/testserver.ts'

const LIMIT = 100_000
const ECHO = call(1, 'test_echo', ['ü'.repeat(1_000)])
const ECHOED = result(1, 'ü'.repeat(1_000))

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ bodyLimit: LIMIT })
})
afterAll(() => server.close())

interface Replied {
  readonly status: number | undefined
  readonly accepted: string | undefined
  readonly body: { readonly error?: { readonly code: number; readonly message: string } }
}

async function post(body: Uint8Array, encoding: string | string[]): Promise<Replied> {
  const sent = request(server.url, { method: 'POST' })
  sent.setHeader('content-encoding', encoding)
  sent.end(body)
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const accepted = response.headers['accept-encoding']
  return { status: response.statusCode, accepted, body: JSON.parse(`${Buffer.concat(chunks)}`) }
}

describe('the server reads the compressed body', () => {
  test.each<[encoding: string | string[], Uint8Array]>([
    ['gzip', gzipSync(ECHO)],
    ['x-gzip', gzipSync(ECHO)],
    [' GZIP ', gzipSync(ECHO)],
    ['deflate', deflateSync(ECHO)],
    ['deflate', deflateRawSync(ECHO)],
    ['br', brotliCompressSync(ECHO)],
    ['identity', Buffer.from(ECHO)],
    ['', Buffer.from(ECHO)],
    ['gzip, br', brotliCompressSync(gzipSync(ECHO))],
    [['br', 'identity', 'gzip'], gzipSync(brotliCompressSync(ECHO))],
  ])('%j', async (encoding, body) => {
    expect(await post(body, encoding)).toMatchObject({ status: 200, body: ECHOED })
  })
})

describe('the server refuses the compressed body', () => {
  test.each<[why: string, Uint8Array, encoding: string, number, code: number, RegExp]>([
    [
      'whose encoding is unknown',
      Buffer.from(ECHO),
      'compress',
      415,
      -32600,
      /^the content-encoding "compress" is not supported: send gzip, deflate, br or none$/,
    ],
    [
      'with one unknown encoding among others',
      gzipSync(ECHO),
      'zstd, gzip',
      415,
      -32600,
      /"zstd" is not supported/,
    ],
    [
      'with many encodings',
      gzipSync(ECHO),
      'gzip,gzip,gzip,gzip,gzip',
      415,
      -32600,
      /the body has 5 encodings, more than the limit of 4/,
    ],
    [
      'that is not what its header says',
      Buffer.from(ECHO),
      'gzip',
      400,
      -32600,
      /^the body is not valid gzip, its content-encoding: incorrect header check$/,
    ],
    [
      'that breaks off',
      gzipSync(ECHO).subarray(0, -20),
      'gzip',
      400,
      -32600,
      /unexpected end of file/,
    ],
    ['that is empty', Buffer.alloc(0), 'gzip', 400, -32600, /^the body is not valid gzip/],
    ['that is empty', Buffer.alloc(0), 'deflate', 400, -32600, /^the body is not valid deflate/],
    [
      'that grows over the limit',
      gzipSync(call(1, 'test_echo', ['x'.repeat(LIMIT)])),
      'gzip',
      413,
      -32005,
      /^the request's body is over the limit of 100000 bytes after decompressing gzip$/,
    ],
    [
      'that is a bomb within a bomb',
      gzipSync(gzipSync(Buffer.alloc(50_000_000))),
      'gzip, gzip',
      413,
      -32005,
      /over the limit of 100000 bytes/,
    ],
    [
      'that is over the limit as it comes',
      Buffer.alloc(2 * LIMIT),
      'gzip',
      413,
      -32005,
      /^the request's body is over the limit of 100000 bytes$/,
    ],
  ])('%s', async (_why, body, encoding, status, code, message) => {
    const replied = await post(body, encoding)
    expect(replied).toMatchObject({ status, body: { id: null, error: { code } } })
    expect(replied.body.error?.message).toMatch(message)
    expect(replied.accepted).toBe(status === 415 ? 'gzip, deflate, br' : undefined)
  })

  test('of a connection, which goes on', async () => {
    const init = { method: 'POST', headers: { 'content-encoding': 'zstd' }, body: 'x' }
    const refused = await fetch(server.url, init)
    expect(refused.status).toBe(415)
    await refused.text()
    expect(await server.post(ECHO)).toEqual(ECHOED)
    expect(server.bugs).toEqual([])
  })
})
