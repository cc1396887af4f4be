// The text of JSON-RPC over a real socket: envelopes, batches, notifications, ids.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS, parseMessage } from '../../src/rpc/wire.ts'
import { call, post, result, startTestServer } from '../support/wire/testserver.ts'

const invalid = (id: unknown, message: string): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32600, message: `invalid request: ${message}` },
})

describe('a request id', () => {
  test.each([
    ['a number', 1],
    ['zero', 0],
    ['a negative number', -1],
    ['a fraction', 1.5],
    ['the largest integer', Number.MAX_SAFE_INTEGER],
    ['text', 'abc'],
    ['empty text', ''],
    ['text with quotes and line breaks', '"\n\u2028\ud83d\ude00\\'],
    ['half of a character', '\ud83d'],
    ['null', null],
  ])('that is %s is returned unchanged, with results and errors', async (_what, id) => {
    await using server = await startTestServer()
    expect(await server.post(call(id, 'test_echo', [1]))).toEqual(result(id, 1))
    expect(await server.post(call(id, 'test_refuse'))).toMatchObject({
      id,
      error: { code: -32015 },
    })
    expect(await server.post(call(id, 'test_break'))).toMatchObject({ id, error: { code: -32603 } })
    expect(await server.post(call(id, 'no_such'))).toMatchObject({ id, error: { code: -32601 } })
    expect(await server.post(call(id, 'test_add'))).toMatchObject({ id, error: { code: -32602 } })
  })

  const numbers = ['9007199254740993', '-12345678901234567890', '1.10', '1e400']
  test.each(numbers)('that is %s is returned digit by digit', async (id) => {
    await using server = await startTestServer()
    const textOf = async (body: string): Promise<string> =>
      (await fetch(server.url, { method: 'POST', body })).text()
    const request = (method: string): string =>
      `{"method":"${method}","params":[{"id":9007199254740995}],"id":${id}}`
    expect(await textOf(request('test_echo'))).toContain(`"id":${id},"result":{"id":`)
    expect(await textOf(request('no_such'))).toContain(`"id":${id},"error"`)
    expect(await textOf(`{"id": ${id}}`)).toContain(`"id":${id},"error"`)
    const batch = `[${request('test_echo')},${call(2, 'test_echo', [2])},{"id":9007199254740992,"method":"no_such"}]`
    const replies = await textOf(batch)
    const found = [`"id":${id},`, '"id":2,', '"id":9007199254740992,'].map((each) =>
      replies.indexOf(each),
    )
    expect(found).toEqual(found.toSorted((a, b) => a - b))
    expect(found[0]).toBeGreaterThan(0)
  })

  test.each([true, {}, [], [1]])('that is %j is refused', async (id) => {
    await using server = await startTestServer()
    const shown = JSON.stringify(id)
    expect(await server.post(call(id, 'test_echo', [1]))).toEqual(
      invalid(null, `expected "id" to be a number, a string or null, got ${shown}`),
    )
    expect(server.calls).toEqual([])
  })
})

describe('a request', () => {
  test.each([
    ['a number', 5, null, 'expected a request object, got 5'],
    ['text', '"eth_chainId"', null, 'expected a request object, got "eth_chainId"'],
    ['null', 'null', null, 'expected a request object, got null'],
    [
      'without a method',
      { jsonrpc: '2.0', id: 1 },
      1,
      'expected "method" to be the name of a method, got undefined',
    ],
    [
      'with a number for a method',
      { jsonrpc: '2.0', id: 1, method: 5 },
      1,
      'expected "method" to be the name of a method, got 5',
    ],
    [
      'of another version',
      { jsonrpc: '1.0', id: 1, method: 'test_echo' },
      1,
      'expected "jsonrpc": "2.0", got "1.0"',
    ],
    [
      'of the version as a number',
      { jsonrpc: 2, id: 1, method: 'test_echo' },
      1,
      'expected "jsonrpc": "2.0", got 2',
    ],
    [
      'with text for params',
      { jsonrpc: '2.0', id: 'a', method: 'test_echo', params: 'x' },
      'a',
      'expected "params" to be a list or an object, got "x"',
    ],
    [
      'with a number for params',
      { jsonrpc: '2.0', id: 'a', method: 'test_echo', params: 0 },
      'a',
      'expected "params" to be a list or an object, got 0',
    ],
    [
      'malformed and without an id',
      { jsonrpc: '2.0', method: 1, params: 'bar' },
      null,
      'expected "method" to be the name of a method, got 1',
    ],
    [
      'malformed otherwise and without an id',
      { jsonrpc: '2.0', method: 'test_echo', params: 'bar' },
      null,
      'expected "params" to be a list or an object, got "bar"',
    ],
  ])('that is %s is refused with its id', async (_what, body, id, message) => {
    await using server = await startTestServer()
    expect(await server.post(body)).toEqual(invalid(id, message))
    expect(server.calls).toEqual([])
  })

  test('is quoted in an error with at most 100 characters', async () => {
    await using server = await startTestServer()
    const reply = (await server.post({ id: 1, method: ['x'.repeat(1e6)] })) as {
      readonly error: { readonly message: string }
    }
    expect(reply.error.message.length).toBeLessThan(200)
  })

  test.each([
    ['no version', { id: 1, method: 'test_echo', params: [7] }],
    [
      'members that nobody knows',
      { jsonrpc: '2.0', id: 1, method: 'test_echo', params: [7], trace: 'x' },
    ],
    ['members in another order', { params: [7], method: 'test_echo', id: 1, jsonrpc: '2.0' }],
  ])('may have %s', async (_what, body) => {
    await using server = await startTestServer()
    expect(await server.post(body)).toEqual(result(1, 7))
  })

  test.each([
    ['null', null],
    ['an empty list', []],
    ['an empty object', {}],
    ['nothing', undefined],
  ])('may have %s for params', async (_what, params) => {
    await using server = await startTestServer()
    const body = { jsonrpc: '2.0', id: 1, method: 'test_refuse', params }
    expect(await server.post(body)).toMatchObject({ error: { code: -32015 } })
  })

  test('may contain white space, and strings that look like structure', async () => {
    await using server = await startTestServer()
    const value = '[[[{{{"\\"\\\\'.repeat(100)
    expect(await server.post(` \r\n\t${call(1, 'test_echo', [value])}\n `)).toEqual(
      result(1, value),
    )
  })

  test('of any JSON gets its own id back', async () => {
    await using server = await startTestServer()
    const { url } = server
    const value = fc.jsonValue({ maxDepth: 8 }).filter((each) => each !== null)
    await fc.assert(
      fc.asyncProperty(value, async (each) => {
        const sent = JSON.parse(JSON.stringify(each)) as unknown
        expect(await post(url, call(1, 'test_echo', [sent]))).toEqual(result(1, sent))
      }),
      { numRuns: 100, seed: 6 },
    )
  })
})

describe('the nesting of a request', () => {
  test('may have 100 levels and no more', async () => {
    await using server = await startTestServer()
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
    const body = (levels: number): string =>
      `{"jsonrpc":"2.0","id":1,"method":"test_echo","params":${nested(levels - 1)}}`
    expect(await server.post(body(100))).toHaveProperty('result')
    const refusal = invalid(null, 'nested too deeply: at most 100 levels are read')
    expect(await server.post(body(101))).toEqual(refusal)
    expect(await server.post(body(10_000))).toEqual(refusal)
    expect(await server.post('['.repeat(1_000_000))).toEqual(refusal)
    expect(await server.post('{"a":'.repeat(100_000))).toEqual(refusal)
  })

  test('ignores brackets in strings', () => {
    const key = fc.string({
      unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', 'u'),
      maxLength: 6,
    })
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        key,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3 }),
      ),
    }))
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 5 }), (given, depth) => {
        const read = (): unknown =>
          parseMessage(JSON.stringify(given), { ...DEFAULT_LIMITS, depth })
        if (levelsOf(given) <= depth) expect(read()).toEqual(JSON.parse(JSON.stringify(given)))
        else expect(read).toThrow(`nested too deeply: at most ${depth} levels are read`)
      }),
      { seed: 20261121, numRuns: 2_000 },
    )
  })

  test('is counted to the end of invalid JSON', () => {
    for (const text of ['"', '"\\', '"\\"', '\\"[', '["\\\\"[', ']]]]', '"[[[[']) {
      expect(() => parseMessage(text, { ...DEFAULT_LIMITS, depth: 2 })).toThrow(/parse error/)
    }
    expect(() => parseMessage('"\\\\"[[[', { ...DEFAULT_LIMITS, depth: 2 })).toThrow(/nested/)
  })
})

/** Lists and objects inside each other. */
function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf))
}

describe('a request’s bytes', () => {
  test.each([
    ['nothing', '', /^parse error: Unexpected end of JSON input$/],
    ['white space', ' \n', /^parse error: Unexpected end of JSON input$/],
    ['half an object', '{"jsonrpc":"2.0"', /^parse error: Expected/],
    ['two requests', `${call(1, 'test_echo')}${call(2, 'test_echo')}`, /^parse error: Unexpected/],
    ['line breaks', '{\n\n\nx\n}', /^parse error: [^\n]+$/],
    ['a comma too many', '[1,]', /^parse error: Unexpected/],
    ['quotes of the wrong kind', "{'id':1}", /^parse error: Expected/],
    ['a number that is none', '{"id":NaN}', /^parse error: Unexpected/],
    ['a form', 'method=eth_chainId&id=1', /^parse error: Unexpected/],
    ['a byte order mark', '\ufeff{}', /^parse error: Unexpected/],
    ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22]), /^parse error: expected UTF-8$/],
    [
      'a surrogate in UTF-8',
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      /^parse error: expected UTF-8$/,
    ],
    ['half a character', Buffer.from([0x22, 0xf0, 0x9f, 0x98]), /^parse error: expected UTF-8$/],
    ['UTF-16', Buffer.from('{"id":1,"method":"ü"}', 'utf16le'), /^parse error: /],
    [
      'compressed text',
      Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff]),
      /^parse error: expected UTF-8$/,
    ],
  ])('that are %s are a parse error', async (_what, body, message) => {
    await using server = await startTestServer()
    expect(await server.post(body)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: expect.stringMatching(message) },
    })
    expect(await server.post(call(1, 'test_echo', [1]))).toEqual(result(1, 1))
  })
})

describe('a batch', () => {
  test('has its replies in order, each independent', async () => {
    await using server = await startTestServer()
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'test_echo', params: ['a'] },
      { jsonrpc: '2.0', method: 'test_echo', params: ['a notification'] },
      5,
      { jsonrpc: '2.0', id: 2, method: 'no_such' },
      { jsonrpc: '2.0', id: 3, method: 'test_break' },
      { jsonrpc: '2.0', id: 4, method: 'test_unwritable' },
      [],
      { jsonrpc: '2.0', id: 1, method: 'test_echo', params: ['the same id'] },
    ]
    expect(await server.post(batch)).toMatchObject([
      result(1, 'a') as object,
      { id: null, error: { code: -32600 } },
      { id: 2, error: { code: -32601 } },
      { id: 3, error: { code: -32603 } },
      { id: 4, error: { code: -32603 } },
      { id: null, error: { code: -32600 } },
      result(1, 'the same id') as object,
    ])
    expect(server.calls.map(({ method }) => method)).toEqual([
      'test_echo',
      'test_echo',
      'no_such',
      'test_break',
      'test_unwritable',
      'test_echo',
    ])
  })

  test('runs its requests one after another', async () => {
    await using server = await startTestServer()
    const replied = server.post(`[${call(1, 'test_wait', ['a'])},${call(2, 'test_echo', [2])}]`)
    await server.gates.arrival('a')
    expect(server.calls).toEqual([])
    server.gates.open('a')
    expect(await replied).toEqual([result(1, 'a'), result(2, 2)])
  })

  test('that is empty is refused', async () => {
    await using server = await startTestServer()
    expect(await server.post('[]')).toEqual(
      invalid(null, 'expected at least one request in a batch'),
    )
  })

  test('may have 1,000 requests and no more', async () => {
    await using server = await startTestServer()
    const batch = (size: number): unknown[] =>
      Array.from({ length: size }, (_, id) => ({ id, method: 'test_echo', params: [id] }))
    const replies = (await server.post(batch(1000))) as unknown[]
    expect(replies).toEqual(Array.from({ length: 1000 }, (_, id) => result(id, id)))
    expect(await server.post(batch(1001))).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32005, message: 'a batch may have at most 1000 requests, got 1001' },
    })
    expect(server.calls).toHaveLength(1000)
  })

  test('stops when its replies become too large, and says of each remaining request that it was not run', async () => {
    await using server = await startTestServer({}, { limits: { replies: 1_000 } })
    const large = { id: 1, method: 'test_large', params: [600] }
    const replies = await server.post([large, large, { ...large, id: 'third' }, 5])
    expect(replies).toMatchObject([
      { id: 1, result: 'x'.repeat(600) },
      { id: 1, result: 'x'.repeat(600) },
      {
        id: 'third',
        error: { code: -32005, message: expect.stringMatching(/^not run: .* 1000 /) },
      },
      { id: null, error: { code: -32600 } },
    ])
    expect(server.calls).toHaveLength(2)
  })
})
