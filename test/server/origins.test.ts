// Which web pages may call: by the Origin that their browser sends, over HTTP, its fast reader, and WebSocket.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createOriginCheck } from '../../src/server/callers.ts'
import { startLogged } from '../support/chain/loggedchain.ts'

const APP = 'https://app.example'
const EVIL = 'https://evil.example'
const BODY = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'

const refusal = (origin: string): string =>
  `pages of ${origin} are not allowed: start with --allow-origin ${origin} to allow them`

interface Checked {
  readonly isAllowed: (header: string | undefined) => boolean
  readonly reported: string[]
}

function checked(...allowed: string[]): Checked {
  const reported: string[] = []
  const check = createOriginCheck(allowed, (text) => reported.push(text))
  return { isAllowed: (header) => check(header) === undefined, reported }
}

describe('an origin', () => {
  test.each([
    'http://localhost',
    'http://localhost:3000',
    'https://LOCALHOST:3000',
    'http://app.localhost:5173',
    'http://127.0.0.1:8545',
    'http://127.9.8.7',
    'http://[::1]:3000',
    'tauri://localhost',
    '',
    undefined,
  ])('of this computer is always allowed: %s', (header) => {
    const { isAllowed, reported } = checked(APP)
    expect(isAllowed(header)).toBe(true)
    expect(reported).toEqual([])
  })

  test.each([
    EVIL,
    'http://app.example',
    'https://app.example:444',
    'https://sub.app.example',
    'https://app.example.evil.example',
    'http://localhost.evil.example',
    'http://evillocalhost',
    'http://192.168.0.4:3000',
    'http://localhost@evil.example',
    'http://localhost, https://evil.example',
    'chrome-extension://abcdefgh',
    'null',
    'nonsense',
  ])('that is foreign is allowed by default, and not if another is listed: %s', (header) => {
    expect(checked(APP).isAllowed(header)).toBe(false)
    expect(checked('*').isAllowed(header)).toBe(true)
    expect(checked(header).isAllowed(header)).toBe(true)
  })

  test('is allowed by its host name in any case', () => {
    const { isAllowed } = checked('app.example', 'https://other.example:3000')
    for (const header of [
      'http://app.example:1',
      'HTTPS://APP.example',
      'https://other.example:3000',
    ]) {
      expect(isAllowed(header), header).toBe(true)
    }
    expect(isAllowed('http://other.example:3000')).toBe(false)
  })

  test('that is foreign is logged once, allowed or not', () => {
    const any = checked('*')
    const some = checked(APP)
    for (const header of [EVIL, EVIL, 'https://EVIL.example', 'null', EVIL]) {
      any.isAllowed(header)
      some.isAllowed(header)
    }
    expect(any.reported).toEqual([
      `a page of ${EVIL} calls this chain; --allow-origin restricts this`,
      'a page without an origin (file:, sandbox) calls this chain; --allow-origin restricts this',
    ])
    expect(some.reported).toEqual([
      `a request from a page of ${EVIL} was refused; --allow-origin ${EVIL} allows it`,
      'a request from a page without an origin (file:, sandbox) was refused; --allow-origin null allows it',
    ])
  })

  test('is not logged beyond a limit, and the log says so', () => {
    const { isAllowed, reported } = checked(APP)
    for (let i = 0; i < 1_000; i++) isAllowed(`https://${i}.example`)
    expect(reported).toHaveLength(101)
    expect(reported[99]).toContain('https://99.example')
    expect(reported[100]).toBe('pages of over 100 origins called; further origins are not logged')
    expect(isAllowed('https://2000.example')).toBe(false)
  })

  test('is logged without control characters, and shortened', () => {
    const { reported, isAllowed } = checked('*')
    isAllowed(`https://a\u001b[2J${'a'.repeat(10_000)}`)
    expect(reported[0]!.length).toBeLessThan(300)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be none
    expect(reported[0]).not.toMatch(/[\u0000-\u001f]/)
  })
})

describe.each([
  ['the fast reader of HTTP and', false],
  ['node’s HTTP and', true],
])('over %s WebSocket the server', (_, isPlain) => {
  const options = (allowOrigin: readonly string[]): object => ({ port: 0, allowOrigin })

  test('refuses a page of another origin before its request runs', async () => {
    await using chain = await startLogged(options([APP]), { isPlain })
    const { url, wsUrl } = await chain.devchain.listen()
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      const body = method === 'POST' ? BODY.replace('eth_chainId', 'evm_mine') : null
      const reply = await fetch(url, { method, body, headers: { origin: EVIL } })
      expect(reply.status).toBe(403)
      expect(await reply.json()).toMatchObject({ error: { code: -32600, message: refusal(EVIL) } })
    }
    const socket = new WebSocket(wsUrl, { origin: EVIL })
    const [, response] = (await once(socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number },
    ]
    expect(response.statusCode).toBe(403)
    expect(await chain.ask('eth_blockNumber')).toBe('0x0')
    const reported = chain.lines().filter((line) => line.includes('page'))
    expect(reported).toEqual([
      expect.stringContaining(`from a page of ${EVIL} was refused; --allow-origin`),
    ])
  })

  test('accepts pages of an allowed origin, of this computer, and programs', async () => {
    await using chain = await startLogged(options([APP]), { isPlain })
    const { url, wsUrl } = await chain.devchain.listen()
    for (const origin of [APP, 'http://localhost:3000', undefined, APP]) {
      const headers = origin === undefined ? {} : { origin }
      const reply = await fetch(url, { method: 'POST', body: BODY, headers })
      expect(await reply.json()).toMatchObject({ result: '0x21' })
      expect((await fetch(url, { method: 'OPTIONS', headers })).status).toBe(204)
      const socket = new WebSocket(wsUrl, origin === undefined ? {} : { origin })
      await once(socket, 'open')
      socket.terminate()
    }
    const reported = chain.lines().filter((line) => line.includes('page'))
    // it was allowed just now
    expect(reported).toEqual([`a page of ${APP} calls this chain`])
  })

  test('accepts its own page at any host that is allowed by name', async () => {
    for (const allowHost of [['chain.example'], ['*']]) {
      await using chain = await startLogged({ ...options([APP]), allowHost }, { isPlain })
      const { port, wsUrl } = await chain.devchain.listen()
      const host = `chain.example:${port}`
      for (const [origin, isOwn] of [
        [`http://${host}`, allowHost[0] !== '*'],
        ['http://chain.example:1', false],
      ] as const) {
        const headers = { host, origin }
        const [reply] = (await once(get({ port, headers }), 'response')) as [IncomingMessage]
        reply.resume()
        expect(reply.statusCode).toBe(isOwn ? 200 : 403)
        const socket = new WebSocket(wsUrl, { headers })
        await once(socket, isOwn ? 'open' : 'unexpected-response')
        if (isOwn) socket.terminate()
      }
      const reported = chain.lines().filter((line) => line.includes('a page of http'))
      expect(reported).toHaveLength(allowHost[0] === '*' ? 2 : 1)
    }
  })

  test('accepts any page by default, and logs each foreign origin once', async () => {
    await using chain = await startLogged({ port: 0 }, { isPlain })
    const { url } = await chain.devchain.listen()
    for (const origin of [APP, EVIL, APP, EVIL, 'http://localhost:1']) {
      const reply = await fetch(url, { method: 'POST', body: BODY, headers: { origin } })
      expect(await reply.json()).toMatchObject({ result: '0x21' })
    }
    const reported = chain.lines().filter((line) => line.includes('a page of'))
    expect(reported).toHaveLength(2)
  })
})
