// From a message's text to the reply's: finds methods by name, runs them, and reports each call.
import { DevchainError, printValue } from '../core/errors.ts'
import { number } from '../core/format.ts'
import { nearest } from '../core/nearest.ts'
import { isPromise, type MaybePromise, whenThere } from '../core/promises.ts'
import type { Alias } from '../options/values.ts'
import { type ErrorObject, errorObjectOf, RpcError } from './errors.ts'
import { JsonText } from './jsontext.ts'
import type { Method, Param } from './method.ts'

import type { Json, Notes } from './schema.ts'
import {
  type CallDetails,
  namesSecretMethod,
  withoutParams,
  withoutQuotes,
  withoutSecrets,
} from './secrets.ts'

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

/** A call that was answered, for the log; also a message that could not be read as one: its method is `(unreadable)`. */
export interface CallReport extends CallDetails {
  readonly method: string
  readonly durationMs: number
}

/** What stands behind the report of a call. */
export interface Behind<C> {
  /** Undefined where no method has the name, or none could be read. */
  readonly method: Method<C> | undefined
  /** What the call did, where its result does not say it. */
  readonly told: string | undefined
  /** What a failed call's error was made of: it may know more than callers are told. */
  readonly thrown: unknown
}

export interface DispatcherOptions<C> {
  readonly methods: readonly Method<C>[]
  /** Modules whose methods are not answered. */
  readonly disabled?: readonly string[]
  readonly aliases?: readonly Alias[]
  /** Names of methods that are not answered: as if there were none of them. An alias may still lead there. */
  readonly absent?: readonly string[]
  readonly limits?: Partial<WireLimits>
  /** Told of every call once its reply is known; it must return at once, and its failures are bugs. */
  readonly observe?: ((call: CallReport, context: C, behind: Behind<C>) => void) | undefined
  /** Told of every call that is not answered at once; what it returns is called when the call is. */
  readonly begin?: ((method: string, context: C) => () => void) | undefined
  /** Puts parameters into forms that the methods take; what it throws is answered. */
  readonly adapt?:
    | ((
        method: string,
        params: readonly unknown[],
        declared: readonly Param<unknown>[],
      ) => readonly unknown[])
    | undefined
  /** Words errors in another way; undefined: as they are. */
  readonly describe?:
    | ((error: DevchainError, method: string) => ErrorObject | undefined)
    | undefined
  /** Told of whatever is thrown and is no `DevchainError`. */
  readonly onBug: (error: unknown) => void
}

export interface Dispatcher<C> {
  /** The methods that are answered, by every name they have. */
  readonly registry: ReadonlyMap<string, Method<C>>
  /**
   * Answers a message: a request or a batch; at once where the method does. Undefined when nothing is to be replied. Never
   * throws or rejects. The reply to a request alone may be too long for a string.
   */
  readonly dispatch: (context: C, message: string | Uint8Array) => MaybePromise<Reply>
  /**
   * Calls a method without text in between.
   * @throws {RpcError} what a client over the wire would be told.
   */
  readonly request: (context: C, method: string, params?: unknown) => Promise<Json>
}

interface Failure {
  readonly error: ErrorObject
  readonly thrown: unknown
}

type Params = WireRequest['params']

/** A call whose answer is to be reported. */
interface Call {
  readonly method: string
  readonly params: Params
  /** On performance.now. */
  readonly beganMs: number
  readonly notes: Notes
}

/** What a message is answered by: nothing for notifications. */
type Reply = string | JsonText | undefined

/** Stands in reports where a message names no method, because it cannot be read as a request. */
export const UNREADABLE = '(unreadable)'

type Answer = { readonly result: Json | JsonText } | Failure

/** What the steps of an answer share. */
interface Desk<C> {
  readonly registry: ReadonlyMap<string, Method<C>>
  readonly disabled: ReadonlyMap<string, string>
  readonly disabledModules: readonly string[]
  readonly limits: WireLimits
  readonly observe: DispatcherOptions<C>['observe']
  readonly begin: DispatcherOptions<C>['begin']
  readonly adapt: DispatcherOptions<C>['adapt']
  readonly describe: DispatcherOptions<C>['describe']
  readonly tellBug: (error: unknown) => void
}

/** Makes a dispatcher of a list of methods. */
export function createDispatcher<C>(options: DispatcherOptions<C>): Dispatcher<C> {
  const desk: Desk<C> = {
    ...register(options),
    disabledModules: options.disabled ?? [],
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    observe: options.observe,
    begin: options.begin,
    adapt: options.adapt,
    describe: options.describe,
    tellBug: bugTeller(options.onBug),
  }
  return {
    registry: desk.registry,
    dispatch: (context, message) => {
      const refused = (error: unknown): string => refuse(desk, context, null, error, message)
      try {
        const value = parseMessage(message, desk.limits)
        if (!Array.isArray(value)) {
          const replied = reply(desk, context, value)
          return isPromise(replied) ? replied.catch(refused) : replied
        }
        checkBatch(value, desk.limits.batch)
        return replyToAll(desk, context, value).catch(refused)
      } catch (error) {
        return refused(error)
      }
    },
    request: (context, name, given) => request(desk, context, name, given),
  }
}

function failed<C>({ describe, tellBug }: Desk<C>, error: unknown, method = UNREADABLE): Failure {
  const described = error instanceof DevchainError ? describe?.(error, method) : undefined
  return { error: described ?? errorObjectOf(error, tellBug), thrown: error }
}

/** Tells the log of a call. */
function report<C>(desk: Desk<C>, context: C, call: Call, answered: Answer): Answer {
  const { observe, tellBug } = desk
  if (observe === undefined) return answered
  const { method: name, params, beganMs, notes } = call
  const isFailure = 'error' in answered
  try {
    const method = desk.registry.get(name)
    const whole: CallReport = {
      method: name,
      params: params as Json,
      durationMs: performance.now() - beganMs,
      result: isFailure ? undefined : shownResult(answered.result),
      error: isFailure ? answered.error : undefined,
      notes,
    }
    observe(shownReport(desk, method, whole), context, {
      method,
      told: method && toldOf(method, context, whole),
      thrown: isFailure ? answered.thrown : undefined,
    })
  } catch (bug) {
    tellBug(bug)
  }
  return answered
}

/** Answers at once where the method does: a promise costs as much as a small call, and a batch has up to a thousand. */
function answer<C>(desk: Desk<C>, context: C, name: string, params: Params): MaybePromise<Answer> {
  const { registry, observe } = desk
  const beganMs = observe === undefined ? 0 : performance.now()
  const call = { method: name, params, beganMs, notes: [] }
  try {
    const method = registry.get(name)
    if (method === undefined) throw unknownMethod(name, desk)
    const running = run(desk, method, context, call)
    if (!isPromise(running)) return report(desk, context, call, { result: running })
    const end = desk.begin?.(name, context)
    return running.then(
      (result) => {
        end?.()
        return report(desk, context, call, { result })
      },
      (error: unknown) => {
        end?.()
        return report(desk, context, call, failed(desk, error, name))
      },
    )
  } catch (error) {
    return report(desk, context, call, failed(desk, error, name))
  }
}

/** Replies to one request. */
function reply<C>(desk: Desk<C>, context: C, value: unknown): MaybePromise<Reply> {
  let asked: WireRequest
  try {
    asked = readRequest(value)
  } catch (error) {
    return refuse(desk, context, idOf(value), error, value)
  }
  const { id, method, params } = asked
  return whenThere(answer(desk, context, method, params), (each) => write(desk, id, each))
}

/** Replies to what cannot be read as a request. The error may quote it, and the log quotes no secrets. */
function refuse<C>(
  desk: Desk<C>,
  context: C,
  id: RequestId,
  error: unknown,
  asked: unknown,
): string {
  const refusal = failed(desk, error)
  const call = { method: UNREADABLE, params: [], beganMs: performance.now(), notes: [] }
  const isSecret = desk.observe !== undefined && namesSecretMethod(desk.registry, asked)
  const told = isSecret ? { ...refusal, error: withoutQuotes(refusal.error) } : refusal
  report(desk, context, call, told)
  return writeError(id, refusal.error)
}

function write<C>(desk: Desk<C>, id: RequestId | undefined, answered: Answer): Reply {
  if (id === undefined) return undefined
  try {
    return 'error' in answered ? writeError(id, answered.error) : writeResult(id, answered.result)
  } catch (error) {
    // a result that is no JSON
    return writeError(id, failed(desk, error).error)
  }
}

async function replyToAll<C>(
  desk: Desk<C>,
  context: C,
  batch: readonly unknown[],
): Promise<string | undefined> {
  const limit = desk.limits.replies
  let replies = ''
  for (const value of batch) {
    const id = idOf(value)
    if (replies.length > limit && id !== null) {
      replies += `,${writeError(id, failed(desk, tooMuch(limit)).error)}`
      continue
    }
    const given = reply(desk, context, value)
    const text = isPromise(given) ? await given : given
    if (text === undefined) continue
    replies += `,${typeof text === 'string' ? text : await short(desk, id, text)}`
  }
  return replies === '' ? undefined : `[${replies.slice(1)}]`
}

/** A long reply within a batch, which is one string. */
async function short<C>(desk: Desk<C>, id: RequestId, text: JsonText): Promise<string> {
  try {
    return await text.text(desk.limits.replies)
  } catch (error) {
    return writeError(id, failed(desk, error).error)
  }
}

/** A call of this process, without text in between. */
async function request<C>(desk: Desk<C>, context: C, name: string, given: unknown): Promise<Json> {
  const { method, params } = readOwnRequest(name, given, desk.tellBug)
  const answered = await answer(desk, context, method, params)
  if ('error' in answered) throw new RpcError(answered.error)
  const { result } = answered
  if (!(result instanceof JsonText)) return result
  if (result.value !== undefined) return result.value()
  try {
    return JSON.parse(await result.text(desk.limits.replies)) as Json
  } catch (error) {
    throw new RpcError(failed(desk, error).error)
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

/** The methods by all names: own ones, aliases, and none that is absent unless an alias is called so. */
function byEveryName<C>(options: DispatcherOptions<C>): Map<string, Method<C>> {
  const { methods, absent = [], aliases = [] } = options
  const all = new Map<string, Method<C>>()
  for (const method of methods) {
    all.set(method.name, method)
    for (const name of method.aliases) all.set(name, method)
  }
  const given = new Map<string, Method<C>>()
  for (const { from, to } of aliases) {
    const prefix = to.endsWith('*') ? to.slice(0, -1) : undefined
    for (const [name, method] of [...all, ...given]) {
      if (name === to) given.set(from, method)
      else if (prefix !== undefined && name.startsWith(prefix)) {
        given.set(from.slice(0, -1) + name.slice(prefix.length), method)
      }
    }
  }
  for (const name of absent) all.delete(name)
  return new Map([...all, ...given])
}

/** The methods by name, and the names that are not answered, each with the disabled module it belongs to. */
function register<C>(options: DispatcherOptions<C>): {
  readonly registry: ReadonlyMap<string, Method<C>>
  readonly disabled: ReadonlyMap<string, string>
} {
  const { disabled: modules = [] } = options
  const all = byEveryName(options)
  const disabled = new Map<string, string>()
  if (modules.length === 0) return { registry: all, disabled }
  for (const [name, method] of all) {
    // a method of a disabled module is not to be had under another module's name either
    const module = [moduleOf(name), moduleOf(method.name)].find((each) => modules.includes(each))
    if (module !== undefined) disabled.set(name, module)
  }
  for (const name of disabled.keys()) all.delete(name)
  return { registry: all, disabled }
}

function run<C>(
  { adapt }: Desk<C>,
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
  return method.run(context, adapted, notes)
}

function positions<C>(method: Method<C>, params: Params): readonly unknown[] {
  return Array.isArray(params) ? params : positional(method, params)
}

/** Parameters given by name, in the order of the declaration. */
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

function unknownMethod<C>(
  name: string,
  { registry, disabled, disabledModules }: Desk<C>,
): DevchainError {
  const shown = /^[\w.]{1,100}$/.test(name) ? name : printValue(name)
  const module = disabled.get(name) ?? disabledModules.find((each) => each === moduleOf(name))
  if (module !== undefined) {
    const message = `the method ${shown} is not available: the module ${module} is disabled`
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

function tooMuch(limit: number): DevchainError {
  const message = `not run: the replies to a batch may have ${limit} characters, and those before have more`
  return new DevchainError('LIMIT_EXCEEDED', message)
}

/** A report without secrets. Methods that are not answered may have been meant to have some. */
function shownReport<C>(
  { registry, disabled }: Desk<C>,
  method: Method<C> | undefined,
  report: CallReport,
): CallReport {
  if (method !== undefined) return withoutSecrets(method, report)
  if (report.method === UNREADABLE) return report
  const module = moduleOf(report.method)
  const isSecretive =
    disabled.has(report.method) ||
    [...registry].some(([name, each]) => moduleOf(name) === module && each.hasSecrets)
  return isSecretive ? withoutParams(report) : report
}

/** What a call did, in a phrase; undefined for calls that failed or did nothing. */
function toldOf<C>(
  method: Method<C>,
  context: C,
  { params, result }: CallReport,
): string | undefined {
  if (method.tell === undefined || result === undefined || result === false) return undefined
  return method.tell(positions(method, params as Params), result, context)
}

/** Bytes of a written result that the log is told as a value; of a longer one it is told how long it is. */
const SHOWN_BYTES = 10_000

/** What the log is told of a result. */
function shownResult(result: Json | JsonText): Json {
  if (!(result instanceof JsonText)) return result
  if (result.value !== undefined) return result.value()
  const { size, bytes } = result
  const isShort = size <= SHOWN_BYTES && bytes !== undefined
  return isShort
    ? (JSON.parse(Buffer.concat(bytes).toString()) as Json)
    : `${number(size)} bytes of JSON`
}
