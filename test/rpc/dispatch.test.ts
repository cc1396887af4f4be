// The dispatcher: which method a name stands for, how parameters reach it, and what observers get.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { DevchainError, ERROR_CODES } from '../../src/core/errors.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import type { CallReport } from '../../src/rpc/report.ts'
import { countTurns, slowClock } from '../support/waiting/turns.ts'
import {
  call,
  ownContext,
  result,
  startTestServer,
  type TestServer,
  testMethods,
} from '../support/wire/testserver.ts'

const refusal = (id: unknown, code: number, message: string | RegExp): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: typeof message === 'string' ? message : expect.stringMatching(message) },
})

describe('dispatch of parameters', () => {
  test('accepts them by position or by name, in any order', async () => {
    await using server = await startTestServer()
    expect(await server.post(call(1, 'test_add', ['0x2', 3]))).toEqual(result(1, '0x5'))
    expect(await server.post(call(1, 'test_add', { b: '3', a: 2 }))).toEqual(result(1, '0x5'))
  })

  test.each([[['0x2']], [['0x2', null]], [{ a: '0x2' }], [{ a: '0x2', b: null }]])(
    'accepts null for an omitted one: %j',
    async (params) => {
      await using server = await startTestServer()
      expect(await server.post(call(1, 'test_add', params))).toEqual(result(1, '0x3'))
    },
  )

  test.each([
    ['missing', [], 'test_add: parameter 1 (a) is missing: expected quantity'],
    ['missing', [null, 1], 'test_add: parameter 1 (a) is missing: expected quantity'],
    ['missing', { b: 1 }, 'test_add: parameter 1 (a) is missing: expected quantity'],
    ['surplus', [1, 2, 3], 'test_add takes at most 2 (a, b), got 3'],
    ['surplus', [1, 2, null], 'test_add takes at most 2 (a, b), got 3'],
    ['surplus', { a: 1, c: 2 }, 'test_add has no parameter "c": it takes a, b'],
    ['surplus', { a: 1, 'x\n': 2 }, 'test_add has no parameter "x\\n": it takes a, b'],
    [
      'surplus',
      JSON.parse('{"a": 1, "__proto__": 2}'),
      'test_add has no parameter "__proto__": it takes a, b',
    ],
    ['wrong', ['x'], 'a: expected a quantity (0x hex or decimal), got "x"'],
    ['wrong', { a: {} }, 'a: expected a quantity (0x hex or decimal), got {}'],
  ])('refuses %s ones by name: %j', async (_what, params, message) => {
    await using server = await startTestServer()
    expect(await server.post(call(1, 'test_add', params))).toEqual(refusal(1, -32602, message))
  })

  test('refuses them for a method without any', async () => {
    await using server = await startTestServer()
    expect(await server.post(call(1, 'test_refuse', [1]))).toEqual(
      refusal(1, -32602, 'test_refuse takes no parameters, got 1'),
    )
    expect(await server.post(call(1, 'test_refuse', { a: 1 }))).toEqual(
      refusal(1, -32602, 'test_refuse has no parameter "a": it takes none'),
    )
  })
})

describe('dispatch of a name', () => {
  test('accepts another name of the same method', async () => {
    await using server = await startTestServer()
    expect(await server.post(call(1, 'test_same', [1]))).toEqual(result(1, 1))
    expect(server.calls[0]?.method).toBe('test_same')
  })

  test('resolves aliases of a method or a module, and aliases of aliases', async () => {
    const aliases = [
      { from: 'my_echo', to: 'test_echo' },
      { from: 'new_*', to: 'test_*' },
      { from: 'newest_*', to: 'new_*' },
    ]
    await using server = await startTestServer({}, { aliases })
    for (const name of ['test_echo', 'my_echo', 'new_echo', 'new_same', 'newest_echo']) {
      expect(await server.post(call(1, name, [1])), name).toEqual(result(1, 1))
    }
    expect(await server.post(call(1, 'new_gone'))).toMatchObject({ error: { code: -32601 } })
  })

  test('refuses an absent one, though other names and aliases still work', async () => {
    const aliases = [
      { from: 'my_echo', to: 'test_echo' },
      { from: 'new_*', to: 'test_*' },
      { from: 'test_add', to: 'test_echo' },
    ]
    const absent = ['test_echo', 'test_add', 'never_was']
    await using server = await startTestServer({}, { aliases, absent })
    for (const params of [[1], [], { a: 1 }]) {
      expect(await server.post(call(1, 'test_echo', params))).toEqual(
        refusal(1, -32601, /^the method test_echo does not exist/),
      )
    }
    for (const name of ['test_same', 'my_echo', 'new_echo', 'test_add']) {
      expect(await server.post(call(1, name, [1])), name).toEqual(result(1, 1))
    }
  })

  test('passes it on to a rewriter of parameters, which may refuse them', async () => {
    const seen: unknown[] = []
    const adapt = (method: string, params: readonly unknown[]): readonly unknown[] => {
      seen.push([method, params])
      if (params[0] === 7) throw new DevchainError('INVALID_PARAMS', 'no seven')
      return params.map((param) => (param === 'two' ? 2 : param))
    }
    await using server = await startTestServer({}, { adapt })
    expect(await server.post(call(1, 'test_same', [1]))).toEqual(result(1, 1))
    expect(await server.post(call(1, 'test_add', { b: 1, a: 7 }))).toEqual(
      refusal(1, -32602, 'no seven'),
    )
    expect(await server.post(call(1, 'test_same', ['two']))).toEqual(result(1, 2))
    expect(seen).toEqual([
      ['test_same', [1]],
      ['test_add', [7, 1]],
      ['test_same', ['two']],
    ])
  })

  test('suggests the nearest for an unknown one', async () => {
    await using server = await startTestServer()
    for (const [name, message] of [
      ['test_ecko', 'the method test_ecko does not exist: did you mean test_echo?'],
      ['TEST_ECHO', 'the method TEST_ECHO does not exist: did you mean test_echo?'],
      ['test', 'the method test does not exist: rpc.discover lists all'],
      ['', 'the method "" does not exist: rpc.discover lists all'],
      ['a\nb', 'the method "a\\nb" does not exist: rpc.discover lists all'],
      ['__proto__', 'the method __proto__ does not exist: rpc.discover lists all'],
      ['constructor', 'the method constructor does not exist: rpc.discover lists all'],
    ] as const) {
      expect(await server.post(call(1, name))).toEqual(refusal(1, -32601, message))
    }
    const long = 'x'.repeat(1_000_000)
    expect(await server.post(call(1, long))).toEqual(
      refusal(1, -32601, /^the method "x{96}\.\.\. does not exist/),
    )
  })

  test('says why a method is not supported, whatever the parameters', async () => {
    await using server = await startTestServer()
    const message = 'old_gone is not supported: nobody wants it'
    for (const params of [[], [1, 2, 3], { a: 1 }]) {
      expect(await server.post(call(1, 'old_gone', params))).toEqual(refusal(1, -32004, message))
    }
  })

  test('says that a module is disabled', async () => {
    await using server = await startTestServer({}, { disabled: ['other', 'old'] })
    expect(await server.post(call(1, 'other_echo', [1]))).toEqual(
      refusal(1, -32601, 'the method other_echo is not available: the module other is disabled'),
    )
    expect(await server.post(call(1, 'old_gone'))).toMatchObject({ error: { code: -32601 } })
    expect(await server.post(call(1, 'test_echo', [1]))).toEqual(result(1, 1))
    expect([...server.dispatcher.registry.keys()]).not.toContain('other_echo')
  })

  test('refuses a method of a disabled module under any name', async () => {
    const aliases = [{ from: 'new_*', to: 'test_*' }]
    await using server = await startTestServer({}, { disabled: ['test'], aliases })
    for (const name of ['test_echo', 'other_echo', 'new_echo']) {
      expect(await server.post(call(1, name, [1]))).toEqual(
        refusal(1, -32601, `the method ${name} is not available: the module test is disabled`),
      )
    }
    expect(await server.post(call(1, 'test_ecko'))).toEqual(
      refusal(1, -32601, 'the method test_ecko is not available: the module test is disabled'),
    )
  })

  test('says so for a disabled module without methods', async () => {
    await using server = await startTestServer({}, { disabled: ['later'] })
    expect(await server.post(call(1, 'later_echo'))).toEqual(
      refusal(1, -32601, 'the method later_echo is not available: the module later is disabled'),
    )
  })
})

describe('a bug', () => {
  const internal = 'internal error: a bug in devchain; its log has the details'

  test('in a method goes to onBug with details, and to the caller without', async () => {
    await using server = await startTestServer()
    expect(await server.post(call(1, 'test_break'))).toEqual(refusal(1, -32603, internal))
    expect(server.bugs).toEqual([new TypeError('secret of the implementation')])
    expect(await server.post(call(2, 'test_echo', [1]))).toEqual(result(2, 1))
  })

  test('in a method’s result costs only its own reply', async () => {
    await using server = await startTestServer()
    expect(await server.post(call(1, 'test_unwritable'))).toEqual(refusal(1, -32603, internal))
    expect(server.bugs).toEqual([expect.any(TypeError)])
  })

  test('in a notification goes to onBug too', async () => {
    await using server = await startTestServer()
    await fetch(server.url, { method: 'POST', body: '{"method":"test_break"}' })
    expect(server.bugs).toHaveLength(1)
  })

  test('in the observer goes to onBug, and does not affect the reply', async () => {
    const bug = new Error('cannot write the log')
    const bugs: unknown[] = []
    const observe = (): void => {
      throw bug
    }
    await using server = await startTestServer({}, { observe, onBug: (each) => bugs.push(each) })
    expect(await server.post(call(1, 'test_echo', [1]))).toEqual(result(1, 1))
    expect(bugs).toEqual([bug])
  })

  test('in onBug itself causes a warning, and does not affect the reply', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const onBug = (): void => {
      throw new Error('the log is full')
    }
    await using server = await startTestServer({}, { onBug })
    expect(await server.post(call(1, 'test_break'))).toEqual(refusal(1, -32603, internal))
    expect((await warned).message).toMatch(/the log is full.*secret of the implementation/)
  })
})

describe('the observer', () => {
  test('gets each call once, with its parameters and result', async () => {
    await using server = await startTestServer()
    await server.post([
      { id: 1, method: 'test_add', params: { a: '0x1' } },
      { method: 'test_echo', params: ['x'] },
      { id: 2, method: 'test_refuse' },
      { id: 3, method: 'no_such', params: [1] },
      { id: 4, method: 5 },
    ])
    const took = expect.any(Number)
    const reports: CallReport[] = [
      {
        method: 'test_add',
        params: { a: '0x1' },
        durationMs: took,
        result: '0x2',
        error: undefined,
        notes: [],
      },
      {
        method: 'test_echo',
        params: ['x'],
        durationMs: took,
        result: 'x',
        error: undefined,
        notes: [],
      },
      {
        method: 'test_refuse',
        params: [],
        durationMs: took,
        result: undefined,
        error: { code: -32015, message: 'it was refused', data: '0x1234' },
        notes: [],
      },
      {
        method: 'no_such',
        params: [1],
        durationMs: took,
        result: undefined,
        error: { code: -32601, message: expect.any(String) },
        notes: [],
      },
    ]
    expect(server.calls).toEqual(reports)
  })

  test('gets messages that are no valid calls, too', async () => {
    await using server = await startTestServer()
    await server.post('{')
    await server.post([])
    await server.post([
      { id: 1, method: 5 },
      { id: 2, method: 'test_echo', params: [1] },
    ])
    expect(server.calls).toHaveLength(1)
    const messages = server.unreadable.map(({ method, params, result, error }) => {
      expect([method, params, result]).toEqual(['(unreadable)', [], undefined])
      return [error?.code, error?.message]
    })
    expect(messages).toEqual([
      [-32700, expect.stringMatching(/^parse error: /)],
      [-32600, 'invalid request: expected at least one request in a batch'],
      [-32600, 'invalid request: expected "method" to be the name of a method, got 5'],
    ])
  })

  test('gets the duration of the call', async () => {
    await using server = await startTestServer()
    const clock = vi.spyOn(performance, 'now')
    onTestFinished(() => clock.mockRestore())
    clock.mockReturnValue(1_000)
    const replied = server.post(call(1, 'test_wait', ['a']))
    await server.gates.arrival('a')
    clock.mockReturnValue(1_250)
    server.gates.open('a')
    await replied
    expect(server.calls[0]?.durationMs).toBe(250)
  })
})

describe('a batch', () => {
  test('lets others have their turn between its calls', async () => {
    await using server = await startTestServer()
    const batch = Array.from({ length: 100 }, (_, id) => JSON.parse(call(id, 'test_echo', [id])))
    using _time = slowClock()
    using others = countTurns()
    const text = await server.dispatcher.dispatch(ownContext(server), JSON.stringify(batch))
    expect(JSON.parse(String(text))).toEqual(batch.map(({ id }) => result(id, id)))
    expect(others.count()).toBeGreaterThan(5)
  })
})

describe('an in-process request', () => {
  test('has the same results and errors as over the wire', async () => {
    await using server = await startTestServer()
    const request = server.dispatcher.request.bind(server.dispatcher)
    const context = ownContext(server)
    expect(await request(context, 'test_add', ['0x1'])).toBe('0x2')
    expect(await request(context, 'test_add', { a: 1 })).toBe('0x2')
    const failure = await request(context, 'test_refuse').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(RpcError)
    expect(failure).toMatchObject({ code: -32015, message: 'it was refused', data: '0x1234' })
    await expect(request(context, 'no_such')).rejects.toMatchObject({ code: -32601 })
    await expect(request(context, 'test_add', 'x')).rejects.toMatchObject({ code: -32600 })
    await expect(request(context, 5 as unknown as string)).rejects.toMatchObject({ code: -32600 })
    await expect(request(context, 'test_break')).rejects.toMatchObject({ code: -32603 })
    expect(server.calls).toHaveLength(5)
  })
})

test.each([
  ['PARSE_ERROR', -32700],
  ['INVALID_REQUEST', -32600],
  ['METHOD_NOT_FOUND', -32601],
  ['INVALID_PARAMS', -32602],
  ['METHOD_NOT_SUPPORTED', -32004],
  ['NOT_FOUND', -32001],
  ['NONCE_TOO_LOW', -32003],
  ['LIMIT_EXCEEDED', -32005],
  ['EXECUTION_REVERTED', -32015],
  ['EXECUTION_HALTED', -32015],
] as const)('%s is %d on the wire', (word, code) => {
  expect(ERROR_CODES[word]).toBe(code)
})

describe('lazy methods', () => {
  const first = testMethods.filter(({ name }) => name === 'test_echo')
  const start = async (
    loadAll: () => Promise<typeof testMethods> = async () => testMethods,
  ): Promise<{ readonly server: TestServer; readonly loads: () => number }> => {
    let loads = 0
    const counted = (): Promise<typeof testMethods> => {
      loads++
      return loadAll()
    }
    const server = await startTestServer({}, { methods: first, loadAll: counted })
    return { server, loads: () => loads }
  }

  test('are loaded once, at the first call of one', async () => {
    const { server, loads } = await start()
    await using _ = server
    expect(await server.post(call(1, 'test_echo', [1]))).toEqual(result(1, 1))
    expect(loads()).toBe(0)
    const both = [call(2, 'test_add', ['0x2', 3]), call(3, 'test_echo', [1])]
    expect(await server.post(`[${both}]`)).toEqual([result(2, '0x5'), result(3, 1)])
    const asked = [4, 5].map((id) => server.post(call(id, 'test_add', ['0x2', id])))
    expect(await Promise.all(asked)).toEqual([result(4, '0x6'), result(5, '0x7')])
    expect(loads()).toBe(1)
    // in the order of all
    expect([...new Set(server.dispatcher.registry.values())]).toEqual(testMethods)
  })

  test('are loaded before a name is reported as unknown', async () => {
    const { server, loads } = await start()
    await using _ = server
    const unknown = refusal(1, -32601, 'the method test_ad does not exist: did you mean test_add?')
    expect(await server.post(call(1, 'test_ad'))).toEqual(unknown)
    expect(loads()).toBe(1)
  })

  test('are loaded before an unreadable message is logged, as some have secrets', async () => {
    const { server, loads } = await start()
    await using _ = server
    expect(await server.post('{"id":1')).toMatchObject({ error: { code: -32700 } })
    expect(loads()).toBe(1)
    expect(server.unreadable).toHaveLength(1)
  })

  test('that fail to load are a bug, others still work, and the next call tries again', async () => {
    const bug = new Error('too many open files')
    let fails = true
    const { server } = await start(async () => {
      if (fails) throw bug
      return testMethods
    })
    await using _ = server
    expect(await server.post(call(1, 'test_add', ['0x2']))).toEqual(
      refusal(1, -32603, /^internal error/),
    )
    expect(await server.post('{"id":1')).toMatchObject({ error: { code: -32700 } })
    expect(await server.post(call(2, 'test_echo', [1]))).toEqual(result(2, 1))
    expect(server.bugs).toEqual([bug, bug])
    fails = false
    expect(await server.post(call(3, 'test_add', ['0x2']))).toEqual(result(3, '0x3'))
  })
})
