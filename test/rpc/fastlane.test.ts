// How the fast lane reads: past the stream of the socket, as long as that holds nothing back.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createDispatcher } from '../../src/rpc/dispatch.ts'
import { FastLane } from '../../src/server/fastlane.ts'
import { Relief } from '../../src/server/relief.ts'
import { eventually } from '../support/eventually.ts'
import { connectRaw, rawPost } from '../support/raw.ts'
import { call } from '../support/testserver.ts'

test('reads past the stream of the socket, and through it what came while it was paused', async () => {
  const onBug = (error: unknown): never => {
    throw error
  }
  const lane = new FastLane(
    {
      dispatcher: createDispatcher({ methods: [], onBug }),
      makeContext: () => ({}),
      bodyLimit: 1_000,
      info: () => ({}),
      timeouts: { headersMs: 10_000, requestMs: 10_000, idleMs: 10_000, stallMs: 5_000 },
      checkHost: () => undefined,
      relief: new Relief(),
      onBug,
    },
    (socket) => socket.destroy(new Error('nothing here is for the slow lane')),
  )
  const server = createServer((socket) => lane.take(socket)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    lane.close()
    server.close()
  })
  const accepted = once(server, 'connection') as Promise<[Socket]>
  await once(server, 'listening')
  using raw = await connectRaw((server.address() as AddressInfo).port)
  const [socket] = await accepted
  let throughStream = 0
  socket.on('data', ({ length }: Buffer) => {
    throughStream += length
  })
  const answer = async (id: number): Promise<void> => {
    expect(JSON.parse((await raw.reply()).body)).toMatchObject({ id, error: { code: -32601 } })
  }
  for (const id of [1, 2]) {
    raw.write(rawPost(call(id, 'test_nothing')))
    await answer(id)
  }
  expect(throughStream).toBe(0)
  socket.pause()
  const held = rawPost(call(3, 'test_nothing')) + rawPost(call(4, 'test_nothing'))
  raw.write(held)
  await eventually(() => socket.readableLength === held.length)
  socket.resume()
  await answer(3)
  await answer(4)
  expect(throughStream).toBe(held.length)
  raw.write(rawPost(call(5, 'test_nothing')))
  await answer(5)
  expect(throughStream).toBe(held.length)
})
