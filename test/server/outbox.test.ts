// What a WebSocket client gets that the server believes to be slow.
import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { HeapTrimmer } from '../../src/server/heaptrimmer.ts'
import { Outbox, Turns } from '../../src/server/outbox.ts'
import { nextTurn } from '../support/waiting/turns.ts'

/** A client, and a socket that is as full as it is made. */
function slowClient() {
  const closed: number[] = []
  const socket = new Duplex({ read: () => undefined, write: () => undefined })
  let unread = 0
  Object.defineProperty(socket, 'writableLength', { get: () => unread })
  const client = {
    readyState: 1,
    send: (text: string) => {
      unread += text.length
    },
    close: (code: number) => closed.push(code),
    once: () => undefined,
  } as unknown as WebSocket
  const read = (): void => {
    unread = 0
    socket.emit('drain')
  }
  const options = {
    timeouts: { headersMs: 1, requestMs: 1, idleMs: 1, stallMs: 1 },
    heapTrimmer: new HeapTrimmer(),
  }
  const outbox = new Outbox(client, socket, new Turns(), options)
  // as many as are sent in any turn fill it
  outbox.add('eth_subscription', { most: 5_000, params: Array(5_000).fill('x'.repeat(20_000)) })
  return { closed, socket, read }
}

test('a client that reads nothing for as long as is allowed is cut off', async () => {
  const { closed, socket } = slowClient()
  socket.emit('timeout')
  await nextTurn(2)
  expect(closed).toEqual([1008])
})

test('a client that read while the server was held is not cut off', async () => {
  const { closed, socket, read } = slowClient()
  // timers come before sockets: the timeout is seen first
  socket.emit('timeout')
  read()
  await nextTurn(2)
  expect(closed).toEqual([])
})
