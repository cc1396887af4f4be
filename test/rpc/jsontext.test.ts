// Results that are written as they are worked out: whole on every way out, in bounds, and holding nobody up.
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type JsonText, JsonWriter } from '../../src/rpc/jsontext.ts'
import { call, ownContext, result, startTestServer } from '../support/wire/testserver.ts'

/** Numbers whose text fills several pieces. */
const MANY = 400_000

const many = (count: number): unknown[] => ['ü', ...Array.from({ length: count }, (_, i) => i)]

async function written(pieces: readonly string[]): Promise<JsonText> {
  const writer = new JsonWriter()
  for (const piece of pieces) writer.write(piece)
  return writer.end()
}

describe('JsonWriter', () => {
  test('writes any length, which can be read again', async () => {
    const pieces = Array.from({ length: 300 }, (_, i) => `${i}ü`.repeat(1_000 + 10 * i))
    const text = await written(pieces)
    expect(await text.text(10 ** 9)).toBe(pieces.join(''))
    expect(await text.text(10 ** 9)).toBe(pieces.join(''))
    expect(text.size).toBe(Buffer.byteLength(pieces.join('')))
  })

  test('may write nothing, or inside other text', async () => {
    expect(await (await written([])).within('<', 'ö').text(10)).toBe('<ö')
  })

  test('output is not read if it is longer than wanted', async () => {
    const text = await written(['12345'])
    expect(await text.text(5)).toBe('12345')
    await expect(text.text(4)).rejects.toThrow('the result has 5 bytes, and may have 4 here')
  })

  test.each([
    ['all of it', { size: 3_000_000 }, () => 'x'.repeat(100_000)],
    // what cannot be packed any smaller
    ['what is kept of it', { kept: 1_000_000 }, () => randomText(100_000)],
  ])('refuses when %s is too much', async (_what, limits, next) => {
    const writer = new JsonWriter(limits)
    const writeAll = async (): Promise<void> => {
      for (let i = 0; i < 100; i++) {
        writer.write(next())
        await writer.yieldIfDue()
      }
      await writer.settle()
    }
    await expect(writeAll()).rejects.toMatchObject({ word: 'LIMIT_EXCEEDED' })
  })
})

describe('a long reply', () => {
  test('is complete over HTTP, with its length', async () => {
    await using server = await startTestServer()
    const body = call(1, 'test_long', [MANY])
    const response = await fetch(server.url, { method: 'POST', body })
    const text = await response.text()
    expect(JSON.parse(text)).toEqual(result(1, many(MANY)))
    expect(Number(response.headers.get('content-length'))).toBe(Buffer.byteLength(text))
    expect(server.calls[0]?.result).toMatch(/^\d,\d{3},\d{3} bytes of JSON$/)
  })

  test('is complete in a batch and in a WebSocket message', async () => {
    await using server = await startTestServer()
    const batch = `[${call(1, 'test_long', [MANY])},${call(2, 'test_echo', [2])}]`
    expect(await server.post(batch)).toEqual([result(1, many(MANY)), result(2, 2)])
    const socket = new WebSocket(server.url.replace('http', 'ws'))
    await once(socket, 'open')
    socket.send(call(3, 'test_long', [MANY]))
    const [message] = (await once(socket, 'message')) as [Buffer]
    expect(JSON.parse(message.toString())).toEqual(result(3, many(MANY)))
    socket.terminate()
  })

  test('that turns out short is written as a string, with its length in bytes', async () => {
    await using server = await startTestServer()
    const response = await fetch(server.url, { method: 'POST', body: call(1, 'test_long', [3]) })
    const written = await response.text()
    expect(JSON.parse(written)).toEqual(result(1, many(3)))
    expect(Number(response.headers.get('content-length'))).toBe(Buffer.byteLength(written))
  })

  test('is a value inside the process', async () => {
    await using server = await startTestServer()
    const context = ownContext(server)
    expect(await server.dispatcher.request(context, 'test_long', [3])).toEqual(many(3))
  })

  test('that is too long for a batch is an error in its place', async () => {
    await using server = await startTestServer({}, { limits: { replies: 100_000 } })
    const replies = await server.post(
      `[${call(1, 'test_long', [20_000])},${call(2, 'test_echo', [2])}]`,
    )
    expect(replies).toMatchObject([
      { id: 1, error: { code: -32005 } },
      { id: 2, result: 2 },
    ])
    const context = ownContext(server)
    const asked = server.dispatcher.request(context, 'test_long', [20_000])
    await expect(asked).rejects.toMatchObject({ code: -32005 })
  })

  test('is abandoned when nobody reads it, and the next request is served', async () => {
    await using server = await startTestServer()
    const socket = connect(server.port, '127.0.0.1')
    const body = call(1, 'test_long', [MANY])
    const head = `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`
    socket.write(head + body)
    await once(socket, 'data')
    socket.destroy()
    expect(await server.post(call(2, 'test_echo', [2]))).toEqual(result(2, 2))
    expect(server.bugs).toEqual([])
  })
})

/** Text of one byte a character with as little order as can be had without chance. */
function randomText(length: number): string {
  let state = 1
  let text = ''
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    text += String.fromCharCode(32 + ((state >>> 16) % 95))
  }
  return text
}
