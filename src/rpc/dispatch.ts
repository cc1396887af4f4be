// From a message's text to the reply's: finds methods by name, runs them, and reports each call.
import { DevchainError, printValue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import { type ErrorObject, errorObjectOf, RpcError } from './errors.ts'
import { JsonText } from './jsontext.ts'
import type { Method } from './method.ts'
import type { Json } from './schema.ts'
import {
  DEFAULT_LIMITS,
  idOf,
  parseMessage,
  type RequestId,
  readRequest,
  type WireLimits,
  type WireRequest,
  writeError,
  writeResult,
} from './wire.ts'

/** Another name for a method; `new_*` for `old_*` renames a whole module. */
export interface Alias {
  readonly from: string
  readonly to: string
}

/** A call that was answered, for the log. */
export interface CallReport {
  readonly method: string
  /** As they were sent. */
  readonly params: Json
  readonly durationMs: number
  /** What the method answered, or of a very long answer how long it is; undefined when it failed. */
  readonly result: Json | undefined
  readonly error: ErrorObject | undefined
}

export interface DispatcherOptions<C> {
  readonly methods: readonly Method<C>[]
  /** Modules whose methods are not answered. */
  readonly disabled?: readonly string[]
  readonly aliases?: readonly Alias[]
  readonly limits?: Partial<WireLimits>
  /** Told of every call once its reply is known; it must return at once, and its failures are bugs. */
  readonly observe?: ((call: CallReport, context: C) => void) | undefined
  /** Words errors in another way; undefined: as they are. */
  readonly describe?: ((error: DevchainError) => ErrorObject | undefined) | undefined
  /** Told of whatever is thrown and is no `DevchainError`. */
  readonly onBug: (error: unknown) => void
}

export interface Dispatcher<C> {
  /** The methods that are answered, by every name they have. */
  readonly registry: ReadonlyMap<string, Method<C>>
  /**
   * Answers a message: a request or a batch. Undefined when nothing is to be replied. Never rejects. The reply to a
   * request alone may be too long for a string.
   */
  readonly dispatch: (
    context: C,
    message: string | Uint8Array,
  ) => Promise<string | JsonText | undefined>
  /**
   * Calls a method without text in between.
   * @throws {RpcError} what a client over the wire would be told.
   */
  readonly request: (context: C, method: string, params?: unknown) => Promise<Json>
}

interface Failure {
  readonly error: ErrorObject
}

type Answer = { readonly result: Json | JsonText } | Failure

/** Makes a dispatcher of a list of methods. */
export function createDispatcher<C>(options: DispatcherOptions<C>): Dispatcher<C> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const { registry, disabled } = register(options)
  const tellBug = bugTeller(options.onBug)
  const { describe } = options
  const failed = (error: unknown): Failure => {
    const described = error instanceof DevchainError ? describe?.(error) : undefined
    return { error: described ?? errorObjectOf(error, tellBug) }
  }

  async function answer(context: C, name: string, params: WireRequest['params']): Promise<Answer> {
    const began = performance.now()
    let answered: Answer
    try {
      const method = registry.get(name)
      if (method === undefined) throw unknownMethod(name, registry, disabled)
      answered = { result: await run(method, context, params) }
    } catch (error) {
      answered = failed(error)
    }
    if (options.observe !== undefined) {
      const call = reportOf(name, params, performance.now() - began, answered)
      try {
        options.observe(call, context)
      } catch (bug) {
        tellBug(bug)
      }
    }
    return answered
  }

  async function reply(context: C, value: unknown): Promise<string | JsonText | undefined> {
    try {
      const { id, method, params } = readRequest(value)
      const answered = await answer(context, method, params)
      if (id === undefined) return undefined
      return 'error' in answered ? writeError(id, answered.error) : writeResult(id, answered.result)
    } catch (error) {
      // a malformed request, or a result that cannot be written
      return writeError(idOf(value), failed(error).error)
    }
  }

  /** A reply within a batch, which is one string. */
  async function short(
    id: RequestId,
    text: string | JsonText | undefined,
  ): Promise<string | undefined> {
    if (!(text instanceof JsonText)) return text
    try {
      return await text.text(limits.replies)
    } catch (error) {
      return writeError(id, failed(error).error)
    }
  }

  async function replyToAll(context: C, batch: readonly unknown[]): Promise<string | undefined> {
    checkBatch(batch, limits.batch)
    const replies: string[] = []
    let size = 0
    for (const value of batch) {
      const id = idOf(value)
      const text =
        size > limits.replies && id !== null
          ? writeError(id, failed(tooMuch(limits.replies)).error)
          : await short(id, await reply(context, value))
      if (text === undefined) continue
      size += text.length
      replies.push(text)
    }
    return replies.length === 0 ? undefined : `[${replies.join(',')}]`
  }

  return {
    registry,
    dispatch: async (context, message) => {
      try {
        const value = parseMessage(message, limits)
        return await (Array.isArray(value) ? replyToAll(context, value) : reply(context, value))
      } catch (error) {
        return writeError(null, failed(error).error)
      }
    },
    request: async (context, name, given) => {
      const { method, params } = readOwnRequest(name, given, tellBug)
      const answered = await answer(context, method, params)
      if ('error' in answered) throw new RpcError(answered.error)
      const { result } = answered
      if (!(result instanceof JsonText)) return result
      try {
        return JSON.parse(await result.text(limits.replies)) as Json
      } catch (error) {
        throw new RpcError(failed(error).error)
      }
    },
  }
}

/** Hands bugs on. One in the handing on must not take a reply along. */
function bugTeller(onBug: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onBug(error)
    } catch (second) {
      process.emitWarning(`a bug could not be reported: ${String(second)}; it was ${String(error)}`)
    }
  }
}

/** A request of this process, held to the same form as those of the wire. */
function readOwnRequest(
  method: unknown,
  params: unknown,
  onBug: (error: unknown) => void,
): WireRequest {
  try {
    return readRequest({ id: null, method, params })
  } catch (error) {
    throw new RpcError(errorObjectOf(error, onBug))
  }
}

/** The module of a method: what stands before its first underscore or dot. */
function moduleOf(name: string): string {
  return name.split(/[_.]/, 1)[0] ?? name
}

/** The methods by name, and the names that are not answered, each with the disabled module it belongs to. */
function register<C>({ methods, disabled: modules = [], aliases = [] }: DispatcherOptions<C>): {
  readonly registry: ReadonlyMap<string, Method<C>>
  readonly disabled: ReadonlyMap<string, string>
} {
  const all = new Map<string, Method<C>>()
  for (const method of methods) {
    for (const name of [method.name, ...method.aliases]) all.set(name, method)
  }
  for (const { from, to } of aliases) {
    const prefix = to.endsWith('*') ? to.slice(0, -1) : undefined
    for (const [name, method] of [...all]) {
      if (name === to) all.set(from, method)
      else if (prefix !== undefined && name.startsWith(prefix)) {
        all.set(from.slice(0, -1) + name.slice(prefix.length), method)
      }
    }
  }
  const disabled = new Map<string, string>()
  for (const [name, method] of all) {
    // a method of a disabled module is not to be had under another module's name either
    const module = [moduleOf(name), moduleOf(method.name)].find((each) => modules.includes(each))
    if (module !== undefined) disabled.set(name, module)
  }
  for (const name of disabled.keys()) all.delete(name)
  return { registry: all, disabled }
}

async function run<C>(
  method: Method<C>,
  context: C,
  params: WireRequest['params'],
): Promise<Json | JsonText> {
  if (method.unsupported !== undefined) {
    const message = `${method.name} is not supported: ${method.unsupported}`
    throw new DevchainError('METHOD_NOT_SUPPORTED', message)
  }
  return method.run(context, Array.isArray(params) ? params : positional(method, params))
}

/** Parameters given by name, in the order of the declaration. */
function positional<C>(method: Method<C>, params: WireRequest['params']): readonly unknown[] {
  const named = new Map(Object.entries(params))
  const values = method.params.map(({ name }) => named.get(name))
  for (const { name } of method.params) named.delete(name)
  const [surplus] = named.keys()
  if (surplus === undefined) return values
  const names = method.params.map(({ name }) => name)
  const known = names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`
  throw new DevchainError(
    'INVALID_PARAMS',
    `${method.name} has no parameter ${printValue(surplus)}: ${known}`,
  )
}

function unknownMethod<C>(
  name: string,
  registry: ReadonlyMap<string, Method<C>>,
  disabled: ReadonlyMap<string, string>,
): DevchainError {
  const module = disabled.get(name)
  if (module !== undefined) {
    const message = `the method ${name} is not available: the module ${module} is disabled`
    return new DevchainError('METHOD_NOT_FOUND', message)
  }
  const shown = /^[\w.]{1,100}$/.test(name) ? name : printValue(name)
  const proposal = nearest(name, [...registry.keys()])
  const hint = proposal === undefined ? 'rpc.discover lists all' : `did you mean ${proposal}?`
  return new DevchainError('METHOD_NOT_FOUND', `the method ${shown} does not exist: ${hint}`)
}

function checkBatch(batch: readonly unknown[], limit: number): void {
  if (batch.length === 0) {
    throw new DevchainError(
      'INVALID_REQUEST',
      'invalid request: expected at least one request in a batch',
    )
  }
  if (batch.length > limit) {
    const message = `a batch may have at most ${limit} requests, got ${batch.length}`
    throw new DevchainError('LIMIT_EXCEEDED', message)
  }
}

function tooMuch(limit: number): DevchainError {
  const message = `not run: the replies to a batch may have ${limit} characters, and those before have more`
  return new DevchainError('LIMIT_EXCEEDED', message)
}

function reportOf(
  method: string,
  params: WireRequest['params'],
  durationMs: number,
  answered: Answer,
): CallReport {
  const isFailure = 'error' in answered
  const result = isFailure ? undefined : shownResult(answered.result)
  const error = isFailure ? answered.error : undefined
  return { method, params: params as Json, durationMs, result, error }
}

/** What the log is told of a result. */
function shownResult(result: Json | JsonText): Json {
  return result instanceof JsonText ? `${result.size} bytes of JSON` : result
}
