// How a URL is posted to: compressed answers, answers that send elsewhere, connections that are kept.
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { Poster } from '../../../src/rpc/post.ts'

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

function post(url: URL, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const poster = new Poster(url, headers)
  onTestFinished(() => poster.close())
  return poster.post('{}', 10_000).then(({ text }) => text)
}

test.each(['gzip', 'GZIP', 'x-gzip'])('Poster reads a %s response', async (encoding) => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync('{"result":1}'))
  })
  expect(await post(url)).toBe('{"result":1}')
})

test('Poster skips a byte order mark before a response', async () => {
  const url = await serve((_, response) => response.end('\uFEFF{"result":"\u00e9"}'))
  expect(await post(url)).toBe('{"result":"\u00e9"}')
})

test('Poster follows a redirect, and sends headers to their own server only', async () => {
  const there = await serve((request, response) => {
    response.end(`${request.method} ${request.headers.authorization}`)
  })
  const here = await serve((request, response) => {
    const target = request.url === '/' ? '/moved' : there.href
    response.writeHead(request.url === '/stay' ? 200 : 308, { location: target }).end('here')
  })
  expect(await post(here, { authorization: 'secret' })).toBe('POST undefined')
  expect(await post(new URL('/stay', here), { authorization: 'secret' })).toBe('here')
})

test('Poster stops at a redirect loop', async () => {
  const url = await serve((_, response) => {
    response.writeHead(307, { location: '/' }).end('round')
  })
  expect(await post(url)).toBe('round')
})

test('Poster retries when the server closes a kept connection at its next use', async () => {
  let requests = 0
  const url = await serve((request, response) => {
    requests += 1
    // the second is cut before it is answered
    if (requests === 2) request.socket.destroy()
    else response.end(String(requests))
  })
  const poster = new Poster(url, {})
  onTestFinished(() => poster.close())
  expect((await poster.post('{}', 10_000)).text).toBe('1')
  expect((await poster.post('{}', 10_000)).text).toBe('3')
})
