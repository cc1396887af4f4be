// A server with a handful of methods of its own, for tests of the wire that no chain should take part in.
import { vi } from 'vitest'
import { healthSite } from '../../../src/app/front.ts'
import { DevchainError } from '../../../src/core/errors.ts'
import { OPTIONS } from '../../../src/options/table.ts'
import { Dispatcher, type DispatcherOptions } from '../../../src/rpc/dispatch.ts'
import { JsonWriter } from '../../../src/rpc/jsontext.ts'
import {
  type Declaration,
  defineMethod,
  type Method,
  optional,
  type Param,
  param,
} from '../../../src/rpc/method.ts'
import { anything, nothing, quantity, quantityNumber, text } from '../../../src/rpc/primitives.ts'
import { type CallReport, UNREADABLE } from '../../../src/rpc/report.ts'
import type { Encoder, Json } from '../../../src/rpc/schema.ts'
import { Caller } from '../../../src/rpc/session.ts'
import type { Site } from '../../../src/rpc/site.ts'
import type { Target } from '../../../src/server/answer.ts'
import { type RunningServer, type ServerOptions, startServer } from '../../../src/server/server.ts'
import { nextTurn } from '../waiting/turns.ts'

/** What the handlers are given. */
export interface TestContext {
  readonly caller: Caller
  readonly gates: Gates
}

/** Things that a test lets happen when it is time. */
export class Gates {
  readonly #gates = new Map<string, PromiseWithResolvers<void>>()
  readonly #arrivals = new Map<string, PromiseWithResolvers<void>>()

  /** Resolves when the test opens the gate of this name. */
  pass(name: string): Promise<void> {
    of(this.#arrivals, name).resolve()
    return of(this.#gates, name).promise
  }

  /** Resolves when somebody waits at the gate. */
  arrival(name: string): Promise<void> {
    return of(this.#arrivals, name).promise
  }

  open(name: string): void {
    of(this.#gates, name).resolve()
  }
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
}

function of(
  gates: Map<string, PromiseWithResolvers<void>>,
  name: string,
): PromiseWithResolvers<void> {
  const known = gates.get(name)
  if (known !== undefined) return known
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  const gate = { promise, resolve }
  gates.set(name, gate)
  return gate
}

function method<const P extends readonly Param<unknown>[], R>(
  declaration: Omit<Declaration<TestContext, P, R>, 'summary' | 'example'>,
): Method<TestContext> {
  return defineMethod<TestContext, P, R>({
    ...declaration,
    summary: `What ${declaration.name} does.`,
    example: { params: [] },
  })
}

/** A result that cannot be written as JSON: what a wrong encoder would give. */
const unwritable: Encoder<null> = {
  name: 'unwritable',
  json: {},
  encode: () => 1n as unknown as Json,
}

const gone: Method<TestContext> = {
  ...method({ name: 'old_gone', params: [], result: nothing, handle: () => null }),
  unsupported: 'nobody wants it',
}

function* fillings(
  count: number,
  size: number,
  onEnd: () => void,
): IterableIterator<Json, undefined> {
  try {
    for (let i = 0; i < count; i++) yield { i, filling: 'x'.repeat(size) }
  } finally {
    onEnd()
  }
  return undefined
}

function* nothings(
  isOver: () => boolean,
  onEnd: () => void,
): IterableIterator<undefined, undefined> {
  while (!isOver()) yield undefined
  onEnd()
  return undefined
}

/** Methods that answer, wait, fail and are broken. */
export const testMethods: readonly Method<TestContext>[] = [
  method({
    name: 'test_echo',
    aliases: ['test_same', 'other_echo'],
    params: [param('value', anything)],
    result: anything,
    handle: (_context, value) => value,
  }),
  method({
    name: 'test_add',
    params: [param('a', quantity), optional('b', quantity, 1n)],
    result: quantity,
    handle: (_context, a, b) => a + b,
  }),
  method({
    name: 'test_wait',
    params: [param('gate', text)],
    result: text,
    handle: async ({ gates }, name) => {
      await gates.pass(name)
      return name
    },
  }),
  method({
    name: 'test_notify',
    params: [param('count', quantityNumber), optional('size', quantityNumber, 1)],
    result: nothing,
    handle: ({ caller, gates }, count, size) => {
      const params = fillings(count, size, () => void gates.pass(`sent ${count}`))
      caller.session?.notify('test_notified', { most: count, params })
      return null
    },
  }),
  method({
    name: 'test_notifyNothing',
    params: [param('until', text)],
    result: nothing,
    handle: ({ caller, gates }, name) => {
      let isOver = false
      void gates.pass(name).then(() => (isOver = true))
      const params = nothings(
        () => isOver,
        () => void gates.pass(`${name} is over`),
      )
      caller.session?.notify('test_notified', { most: 1, params })
      return null
    },
  }),
  method({
    name: 'test_onClose',
    params: [param('gate', text)],
    result: nothing,
    handle: ({ caller, gates }, name) => {
      caller.session?.onClose(() => void gates.pass(name))
      return null
    },
  }),
  method({
    name: 'test_untilGone',
    params: [param('gate', text)],
    result: text,
    handle: async ({ caller, gates }, name) => {
      void gates.pass(`${name} begins`)
      while (!caller.aborted) await nextTurn()
      void gates.pass(`${name} ends`)
      return name
    },
  }),
  method({
    name: 'test_large',
    params: [param('size', quantityNumber)],
    result: text,
    handle: (_context, size) => 'x'.repeat(size),
  }),
  method({
    name: 'test_long',
    params: [param('count', quantityNumber)],
    result: anything,
    handle: async (_context, count) => {
      const writer = new JsonWriter()
      writer.write('["ü"')
      for (let i = 0; i < count; i++) {
        writer.write(`,${i}`)
        await writer.yieldIfDue()
      }
      writer.write(']')
      return writer.end()
    },
  }),
  method({
    name: 'test_refuse',
    params: [],
    result: nothing,
    handle: () => {
      throw new DevchainError('EXECUTION_REVERTED', 'it was refused', '0x1234')
    },
  }),
  method({
    name: 'test_break',
    params: [],
    result: nothing,
    handle: () => {
      throw new TypeError('secret of the implementation')
    },
  }),
  method({ name: 'test_unwritable', params: [], result: unwritable, handle: () => null }),
  gone,
]

/** A running server, and what came to light in it. */
export interface TestServer extends RunningServer {
  readonly dispatcher: Dispatcher<TestContext>
  readonly gates: Gates
  readonly bugs: unknown[]
  /** What was called. */
  readonly calls: CallReport[]
  /** What could not be read as a call. */
  readonly unreadable: CallReport[]
  /** POSTs a body and gives the reply, parsed. */
  readonly post: (body: unknown) => Promise<unknown>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** What a call in the test's own process is given. */
export function ownContext({ gates }: TestServer): TestContext {
  return { caller: new Caller(), gates }
}

/** Starts a server on a free port. */
export async function startTestServer(
  options: Partial<ServerOptions> & {
    readonly makeContext?: (caller: Caller) => TestContext
    readonly info?: () => Json
    /** Before the one that replies with the health. */
    readonly sites?: readonly Site[]
  } = {},
  dispatching: Partial<DispatcherOptions<TestContext>> = {},
): Promise<TestServer> {
  const gates = new Gates()
  const bugs: unknown[] = []
  const calls: CallReport[] = []
  const unreadable: CallReport[] = []
  const dispatcher = new Dispatcher<TestContext>({
    methods: testMethods,
    observe: (call) => (call.method === UNREADABLE ? unreadable : calls).push(call),
    onBug: (bug) => bugs.push(bug),
    ...dispatching,
  })
  const { makeContext = (caller: Caller) => ({ caller, gates }), info = () => ({ name: 'test' }) } =
    options
  const answer: Target['answer'] = (caller, message) =>
    dispatcher.dispatch(makeContext(caller), message)
  const server = await startServer({
    front: {
      targetOf: () => ({ answer, sessions: new Set() }),
      sites: [...(options.sites ?? []), healthSite(info)],
    },
    host: OPTIONS.host.default,
    port: 0,
    allowHost: OPTIONS.allowHost.default,
    allowOrigin: OPTIONS.allowOrigin.default,
    bodyLimit: OPTIONS.bodyLimit.default,
    onBug: (bug) => bugs.push(bug),
    ...options,
  })
  return {
    ...server,
    dispatcher,
    gates,
    bugs,
    calls,
    unreadable,
    post: (body) => post(server.url, body),
    [Symbol.asyncDispose]: server.close,
  }
}

/** Has no timer go off until the test is over: what waits for one never ends. */
export function stopTimers(onFinished: (startAgain: () => void) => void): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  onFinished(() => void vi.useRealTimers())
}

/** POSTs a body, text as it is and anything else as JSON, and gives the reply, parsed. */
export async function post(url: string, body: unknown): Promise<unknown> {
  const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const response = await fetch(url, { method: 'POST', body: sent })
  return await response.json()
}

/** A request's text. */
export function call(id: unknown, name: string, params: unknown = []): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: name, params })
}

/** The reply to a request that succeeded. */
export function result(id: unknown, value: unknown): unknown {
  return { jsonrpc: '2.0', id, result: value }
}
