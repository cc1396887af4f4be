// From a message's text to the reply's: finds methods by name, runs them, and reports each call.
import { DevchainError } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import { type ErrorObject, errorObjectOf, RpcError } from './errors.ts'
import type { Method } from './method.ts'
import type { Json } from './schema.ts'
import {
  DEFAULT_LIMITS,
  idOf,
  isNotification,
  parseMessage,
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
  /** What the method answered; undefined when it failed. */
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
  /** Told of whatever is thrown and is no `DevchainError`. */
  readonly onBug: (error: unknown) => void
}

export interface Dispatcher<C> {
  /** The methods that are answered, by every name they have. */
  readonly registry: ReadonlyMap<string, Method<C>>
  /** Answers a message: a request or a batch. Undefined when nothing is to be replied. Never rejects. */
  readonly dispatch: (context: C, message: string | Uint8Array) => Promise<string | undefined>
  /**
   * Calls a method without text in between.
   * @throws {RpcError} what a client over the wire would be told.
   */
  readonly request: (context: C, method: string, params?: unknown) => Promise<Json>
}

type Answer = { readonly result: Json } | { readonly error: ErrorObject }

/** Makes a dispatcher of a list of methods. */
export function createDispatcher<C>(options: DispatcherOptions<C>): Dispatcher<C> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const { registry, disabled } = register(options)
  const failed = (error: unknown): { readonly error: ErrorObject } => ({
    error: errorObjectOf(error, options.onBug),
  })

  async function answer(context: C, { method: name, params }: WireRequest): Promise<Answer> {
    const began = performance.now()
    let answered: Answer
    try {
      const method = registry.get(name)
      if (method === undefined) throw unknownMethod(name, registry, disabled)
      answered = { result: await run(method, context, params) }
    } catch (error) {
      answered = failed(error)
    }
    report(options, context, { name, params, began, answered })
    return answered
  }

  async function attempt(context: C, value: unknown): Promise<Answer> {
    let request: WireRequest
    try {
      request = readRequest(value)
    } catch (error) {
      return failed(error)
    }
    return await answer(context, request)
  }

  async function reply(context: C, value: unknown): Promise<string | undefined> {
    const answered = await attempt(context, value)
    if ('error' in answered) {
      return isNotification(value) ? undefined : writeError(idOf(value), answered.error)
    }
    return isNotification(value) ? undefined : writeResult(idOf(value), answered.result)
  }

  async function replyToAll(context: C, batch: readonly unknown[]): Promise<string | undefined> {
    checkBatch(batch, limits.batch)
    const replies: string[] = []
    for (const value of batch) {
      const text = await reply(context, value)
      if (text !== undefined) replies.push(text)
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
    request: async (context, method, params) => {
      const answered = await attempt(context, { id: null, method, params })
      if ('error' in answered) throw new RpcError(answered.error)
      return answered.result
    },
  }
}

/** The module of a method: what stands before its first underscore or dot. */
function moduleOf(name: string): string {
  return name.split(/[_.]/, 1)[0] ?? name
}

function register<C>({ methods, disabled: modules = [], aliases = [] }: DispatcherOptions<C>): {
  readonly registry: ReadonlyMap<string, Method<C>>
  readonly disabled: ReadonlySet<string>
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
  const disabled = [...all.keys()].filter((name) => modules.includes(moduleOf(name)))
  for (const name of disabled) all.delete(name)
  return { registry: all, disabled: new Set(disabled) }
}

async function run<C>(method: Method<C>, context: C, params: WireRequest['params']): Promise<Json> {
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
    `${method.name} has no parameter "${surplus}": ${known}`,
  )
}

function unknownMethod<C>(
  name: string,
  registry: ReadonlyMap<string, Method<C>>,
  disabled: ReadonlySet<string>,
): DevchainError {
  const shown = name.length > 100 ? `${name.slice(0, 97)}...` : name
  if (disabled.has(name)) {
    const message = `the method ${shown} is not available: the module ${moduleOf(name)} is disabled`
    return new DevchainError('METHOD_NOT_FOUND', message)
  }
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

function report<C>(
  { observe, onBug }: DispatcherOptions<C>,
  context: C,
  call: {
    readonly name: string
    readonly params: WireRequest['params']
    readonly began: number
    readonly answered: Answer
  },
): void {
  if (observe === undefined) return
  const { name, params, began, answered } = call
  const durationMs = performance.now() - began
  const result = 'result' in answered ? answered.result : undefined
  const error = 'error' in answered ? answered.error : undefined
  try {
    observe({ method: name, params: params as Json, durationMs, result, error }, context)
  } catch (bug) {
    onBug(bug)
  }
}
