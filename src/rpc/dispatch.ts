// Dispatches requests: finds methods by name, runs them, writes replies and reports each call.

import { DevchainError, printValue } from '../core/errors.ts'
import { number } from '../core/format.ts'
import { isPromise, type MaybePromise, whenThere } from '../core/promises.ts'
import type { SourceCause, SourceExplanation } from '../evm/reasons.ts'
import { inTurn } from './batch.ts'
import { type ErrorObject, errorObjectOf, RpcError } from './errors.ts'
import { JsonText } from './jsontext.ts'
import type { Method, Param } from './method.ts'
import {
  createRegistry,
  moduleOf,
  type Registry,
  type RegistryOptions,
  unknownMethod,
} from './registry.ts'
import { type CallDetails, type CallReport, UNREADABLE } from './report.ts'
import type { Json, Notes } from './schema.ts'
import { namesSecretMethod, withoutParams, withoutQuotes, withoutSecrets } from './secrets.ts'
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

/** Converts parameters to the forms a method accepts. */
export type AdaptParams = (
  method: string,
  params: readonly unknown[],
  declared: readonly Param<unknown>[],
) => readonly unknown[]

export interface DispatcherOptions<C> extends RegistryOptions<C> {
  /** Loads all methods, if `methods` has only the most used; called once, on the first other name. */
  readonly loadAll?: (() => Promise<readonly Method<C>[]>) | undefined
  readonly limits?: Partial<WireLimits>
  /** Called after every call, before its reply is sent. It must return at once; an exception is a bug. */
  readonly observe?: ((call: CallReport, context: C, details: CallDetails<C>) => void) | undefined
  /** Called for every asynchronous call; the returned function is called at its end. */
  readonly begin?: ((method: string, context: C) => () => void) | undefined
  /** An error it throws becomes the reply. */
  readonly adapt?: AdaptParams | undefined
  /** How methods reach another network; undefined: they do not. */
  readonly reach?: ((context: C) => Reach<C> | undefined) | undefined
  /** Rewords errors; undefined: unchanged. @param cause in the user's source, if known */
  readonly describe?:
    | ((
        error: DevchainError,
        context: C,
        method: string,
        cause?: SourceCause,
      ) => ErrorObject | undefined)
    | undefined
  /** Finds why and where an execution failed; undefined if unknown. Never rejects. */
  readonly explain?:
    | ((error: unknown, context: C) => Promise<SourceExplanation | undefined> | undefined)
    | undefined
  /** Called for every exception that is no `DevchainError`. */
  readonly onBug: (error: unknown) => void
}

export interface Reach<C> {
  /** Returns the other network's result; undefined if the method runs here. */
  readonly passOn: (
    context: C,
    method: Method<C>,
    params: readonly unknown[],
  ) => MaybePromise<Json> | undefined
  /** Runs a method again until no state is missing. */
  readonly complete: <T>(
    context: C,
    method: Method<C>,
    work: () => MaybePromise<T>,
  ) => MaybePromise<T>
}

export interface Dispatcher<C> {
  readonly registry: ReadonlyMap<string, Method<C>>
  /**
   * Handles a request or a batch; synchronous if the method is. Undefined if there is no reply. Never throws or
   * rejects. A single reply may be too long for a string.
   */
  readonly dispatch: (context: C, message: string | Uint8Array) => MaybePromise<Reply>
  /**
   * Calls a method without JSON text.
   * @throws {RpcError} the error that a client over the wire would get
   */
  readonly request: (context: C, method: string, params?: unknown) => Promise<Json>
}

interface Failure {
  readonly error: ErrorObject
  readonly thrown: unknown
}

type Params = WireRequest['params']

interface Call {
  readonly method: string
  readonly params: Params
  /** On performance.now. */
  readonly beganMs: number
  readonly notes: Notes
}

/** Undefined for notifications. */
export type Reply = string | JsonText | undefined

type Answer = { readonly result: Json | JsonText } | Failure

interface DispatcherState<C> extends Omit<DispatcherOptions<C>, 'limits'> {
  readonly registry: Registry<C>
  /** Undefined when all are loaded. */
  readonly complete: () => Promise<void> | undefined
  readonly limits: WireLimits
  readonly reportBug: (error: unknown) => void
}

export function createDispatcher<C>(options: DispatcherOptions<C>): Dispatcher<C> {
  const registry = createRegistry(options)
  const reportBug = bugReporter(options.onBug)
  const state: DispatcherState<C> = {
    ...options,
    registry,
    complete: completer(options, registry, reportBug),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    reportBug,
  }
  return {
    registry: state.registry.methods,
    dispatch: (context, message) => {
      const refused = (error: unknown): MaybePromise<string> =>
        refuse(state, context, null, error, message)
      try {
        const value = parseMessage(message, state.limits)
        if (!Array.isArray(value)) {
          const replied = reply(state, context, value)
          return isPromise(replied) ? replied.catch(refused) : replied
        }
        checkBatch(value, state.limits.batch)
        return replyToAll(state, context, value).catch(refused)
      } catch (error) {
        return refused(error)
      }
    },
    request: (context, name, given) => request(state, context, name, given),
  }
}

/** Adds all methods to the registry on the first lookup of a missing name. */
function completer<C>(
  options: DispatcherOptions<C>,
  { methods }: Registry<C>,
  reportBug: DispatcherState<C>['reportBug'],
): DispatcherState<C>['complete'] {
  const { loadAll } = options
  const known = methods as Map<string, Method<C>>
  let loading: Promise<void> | undefined
  let isComplete = loadAll === undefined
  const load = async (): Promise<void> => {
    try {
      const all = createRegistry({ ...options, methods: (await loadAll?.()) ?? [] })
      known.clear()
      for (const [name, method] of all.methods) known.set(name, method)
    } catch (error) {
      reportBug(error)
    }
    isComplete = true
  }
  return () => {
    if (isComplete) return undefined
    loading ??= load()
    return loading
  }
}

function failed<C>(
  { describe, reportBug }: DispatcherState<C>,
  context: C,
  error: unknown,
  method = UNREADABLE,
  cause?: SourceCause,
): Failure {
  const described =
    error instanceof DevchainError ? describe?.(error, context, method, cause) : undefined
  return { error: described ?? errorObjectOf(error, reportBug), thrown: error }
}

function report<C>(state: DispatcherState<C>, context: C, call: Call, answered: Answer): Answer {
  const { observe, reportBug } = state
  if (observe === undefined) return answered
  const { method: name, params, beganMs, notes } = call
  const isFailure = 'error' in answered
  try {
    const method = state.registry.methods.get(name)
    const whole: CallReport = {
      method: name,
      params: params as Json,
      durationMs: performance.now() - beganMs,
      result: isFailure ? undefined : shownResult(answered.result),
      error: isFailure ? answered.error : undefined,
      notes,
    }
    observe(shownReport(state.registry, method, whole), context, {
      method,
      told: method && toldOf(method, context, whole),
      thrown: isFailure ? answered.thrown : undefined,
    })
  } catch (bug) {
    reportBug(bug)
  }
  return answered
}

/** Synchronous where the method is: small calls need no promise. */
function answer<C>(
  state: DispatcherState<C>,
  context: C,
  name: string,
  params: Params,
): MaybePromise<Answer> {
  const { registry, observe } = state
  const beganMs = observe === undefined ? 0 : performance.now()
  const call = { method: name, params, beganMs, notes: [] }
  try {
    const method = registry.methods.get(name)
    if (method === undefined) {
      const completed = state.complete()
      if (completed === undefined) throw unknownMethod(name, registry)
      return completed.then(() => answer(state, context, name, params))
    }
    const running = run(state, method, context, call)
    if (!isPromise(running)) return report(state, context, call, { result: running })
    const end = state.begin?.(name, context)
    return running.then(
      (result) => {
        end?.()
        return report(state, context, call, { result })
      },
      (error: unknown) => {
        return whenThere(explained(state, context, call, error), (answered) => {
          end?.()
          return answered
        })
      },
    )
  } catch (error) {
    return explained(state, context, call, error)
  }
}

/** Adds the source location to an error, if known. */
function explained<C>(
  state: DispatcherState<C>,
  context: C,
  call: Call,
  error: unknown,
): MaybePromise<Answer> {
  const answered = (known?: SourceExplanation): Answer => {
    const failure = failed(state, context, error, call.method, known?.cause)
    const whole = known && { ...failure, error: { ...failure.error, solidityStack: known.lines } }
    return report(state, context, call, whole ?? failure)
  }
  const explaining = state.explain?.(error, context)
  return explaining === undefined ? answered() : explaining.then(answered)
}

function reply<C>(state: DispatcherState<C>, context: C, value: unknown): MaybePromise<Reply> {
  let asked: WireRequest
  try {
    asked = readRequest(value)
  } catch (error) {
    return refuse(state, context, idOf(value), error, value)
  }
  const { id, method, params } = asked
  return whenThere(answer(state, context, method, params), (each) =>
    write(state, context, id, each),
  )
}

/** Replies to a malformed request. The error may quote it; the log must not quote secrets. */
function refuse<C>(
  state: DispatcherState<C>,
  context: C,
  id: RequestId,
  error: unknown,
  asked: unknown,
): MaybePromise<string> {
  const refusal = failed(state, context, error)
  const call = { method: UNREADABLE, params: [], beganMs: performance.now(), notes: [] }
  // which methods have secrets is known only once all are loaded
  return whenThere(state.complete(), () => {
    const isObserved = state.observe !== undefined
    const isSecret = isObserved && namesSecretMethod(state.registry.methods, asked)
    const told = isSecret ? { ...refusal, error: withoutQuotes(refusal.error) } : refusal
    report(state, context, call, told)
    return writeError(id, refusal.error)
  })
}

function write<C>(
  state: DispatcherState<C>,
  context: C,
  id: RequestId | undefined,
  answered: Answer,
): Reply {
  if (id === undefined) return undefined
  try {
    return 'error' in answered ? writeError(id, answered.error) : writeResult(id, answered.result)
  } catch (error) {
    // a result that is not valid JSON
    return writeError(id, failed(state, context, error).error)
  }
}

async function replyToAll<C>(
  state: DispatcherState<C>,
  context: C,
  batch: readonly unknown[],
): Promise<string | undefined> {
  const limit = state.limits.replies
  let replies = ''
  const reads = state.reach?.(context) === undefined ? undefined : state.registry
  const replyAt = inTurn(batch, reads, (value) => reply(state, context, value))
  for (const [at, value] of batch.entries()) {
    const id = idOf(value)
    if (replies.length > limit && id !== null) {
      replies += `,${writeError(id, failed(state, context, tooMuch(limit)).error)}`
      continue
    }
    const given = replyAt(at)
    const text = isPromise(given) ? await given : given
    if (text === undefined) continue
    replies += `,${typeof text === 'string' ? text : await short(state, context, id, text)}`
  }
  return replies === '' ? undefined : `[${replies.slice(1)}]`
}

/** A reply in a batch must fit one string. */
async function short<C>(
  state: DispatcherState<C>,
  context: C,
  id: RequestId,
  text: JsonText,
): Promise<string> {
  try {
    return await text.text(state.limits.replies)
  } catch (error) {
    return writeError(id, failed(state, context, error).error)
  }
}

/** An in-process call, with the same checks as calls over the wire. */
async function request<C>(
  state: DispatcherState<C>,
  context: C,
  name: string,
  given: unknown,
): Promise<Json> {
  let asked: WireRequest
  try {
    asked = readRequest({ id: null, method: name, params: given })
  } catch (error) {
    throw new RpcError(errorObjectOf(error, state.reportBug))
  }
  const answered = await answer(state, context, asked.method, asked.params)
  if ('error' in answered) throw new RpcError(answered.error)
  const { result } = answered
  if (!(result instanceof JsonText)) return result
  if (result.value !== undefined) return result.value()
  try {
    return JSON.parse(await result.text(state.limits.replies)) as Json
  } catch (error) {
    throw new RpcError(failed(state, context, error).error)
  }
}

/** An exception in the bug handler must not lose the reply. */
function bugReporter(onBug: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      onBug(error)
    } catch (second) {
      process.emitWarning(`a bug could not be reported: ${String(second)}; it was ${String(error)}`)
    }
  }
}

function run<C>(
  { adapt, reach }: DispatcherState<C>,
  method: Method<C>,
  context: C,
  { method: name, params, notes }: Call,
): MaybePromise<Json | JsonText> {
  if (method.unsupported !== undefined) {
    const message = `${method.name} is not supported: ${method.unsupported}`
    throw new DevchainError('METHOD_NOT_SUPPORTED', message)
  }
  const given = positions(method, params)
  const adapted = adapt === undefined ? given : adapt(name, given, method.params)
  const beyond = reach?.(context)
  if (beyond === undefined) return method.run(context, adapted, notes)
  return (
    beyond.passOn(context, method, adapted) ??
    beyond.complete(context, method, () => method.run(context, adapted, notes))
  )
}

function positions<C>(method: Method<C>, params: Params): readonly unknown[] {
  return Array.isArray(params) ? params : positional(method, params)
}

/** Orders named parameters as declared. */
function positional<C>(method: Method<C>, params: Params): readonly unknown[] {
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

/** Removes secrets; a disabled method may have had secret parameters too. */
function shownReport<C>(
  { methods, disabled }: Registry<C>,
  method: Method<C> | undefined,
  report: CallReport,
): CallReport {
  if (method !== undefined) return withoutSecrets(method, report)
  if (report.method === UNREADABLE) return report
  const module = moduleOf(report.method)
  const isSecretive =
    disabled.has(report.method) ||
    /key|pass|secret|seed|mnemonic/i.test(report.method) ||
    [...methods].some(([name, each]) => moduleOf(name) === module && each.hasSecrets)
  return isSecretive ? withoutParams(report) : report
}

/** The phrase of a successful call that did something; else undefined. */
function toldOf<C>(
  method: Method<C>,
  context: C,
  { params, result }: CallReport,
): string | undefined {
  if (method.tell === undefined || result === undefined || result === false) return undefined
  return method.tell(positions(method, params as Params), result, context)
}

/** Bytes up to which the log gets a written result as a value; beyond, only its size. */
const SHOWN_BYTES = 10_000

function shownResult(result: Json | JsonText): Json {
  if (!(result instanceof JsonText)) return result
  if (result.value !== undefined) return result.value()
  const { size, bytes } = result
  const isShort = size <= SHOWN_BYTES && bytes !== undefined
  return isShort
    ? (JSON.parse(Buffer.concat(bytes).toString()) as Json)
    : `${number(size)} bytes of JSON`
}
