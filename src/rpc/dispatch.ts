// Dispatches requests: finds methods by name, runs them, writes replies and reports each call.
import { DevchainError, invalidParams, limitExceeded, printValue } from '../core/errors.ts'
import { number, plural } from '../core/format.ts'
import { isPromise, type MaybePromise, whenThere } from '../core/promises.ts'
import { yielder } from '../core/yield.ts'
import type { SourceCause, SourceExplanation } from '../evm/reasons.ts'
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
  readonly reword?:
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

/** Returns the other network's result, or repeats `work` until no state is missing. */
export type Reach<C> = (
  context: C,
  method: Method<C>,
  params: readonly unknown[],
  work: () => MaybePromise<Json | JsonText>,
) => MaybePromise<Json | JsonText>

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

export class Dispatcher<C> {
  readonly #options: DispatcherOptions<C>
  readonly #registry: Registry<C>
  readonly #limits: WireLimits
  #isComplete: boolean
  #loading: Promise<void> | undefined

  constructor(options: DispatcherOptions<C>) {
    this.#options = options
    this.#registry = createRegistry(options)
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#isComplete = options.loadAll === undefined
  }

  get registry(): ReadonlyMap<string, Method<C>> {
    return this.#registry.methods
  }

  /**
   * Handles a request or a batch; synchronous if the method is. Undefined if there is no reply. Never throws or
   * rejects. A single reply may be too long for a string.
   */
  dispatch(context: C, message: string | Uint8Array): MaybePromise<Reply> {
    const refused = (error: unknown): MaybePromise<string> =>
      this.#refuse(context, null, error, message)
    try {
      const value = parseMessage(message, this.#limits)
      if (!Array.isArray(value)) {
        const replied = this.#reply(context, value)
        return isPromise(replied) ? replied.catch(refused) : replied
      }
      checkBatch(value, this.#limits.batch)
      return this.#replyToAll(context, value).catch(refused)
    } catch (error) {
      return refused(error)
    }
  }

  /**
   * Calls a method without JSON text, with the same checks as over the wire.
   * @throws {RpcError} the error that a client over the wire would get
   */
  async request(context: C, name: string, given?: unknown): Promise<Json> {
    let asked: WireRequest
    try {
      asked = readRequest({ id: null, method: name, params: given })
    } catch (error) {
      throw new RpcError(errorObjectOf(error, this.#reportBug))
    }
    const answered = await this.#answer(context, asked.method, asked.params)
    if ('error' in answered) throw new RpcError(answered.error)
    const { result } = answered
    if (!(result instanceof JsonText)) return result
    if (result.value !== undefined) return result.value()
    try {
      return JSON.parse(await result.text(this.#limits.replies)) as Json
    } catch (error) {
      throw new RpcError(this.#failed(context, error).error)
    }
  }

  /** Loads all methods on the first lookup of a missing name; undefined when all are there. Rejects if that fails. */
  #complete(): Promise<void> | undefined {
    if (this.#isComplete) return undefined
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<void> {
    const known = this.#registry.methods as Map<string, Method<C>>
    try {
      const methods = (await this.#options.loadAll?.()) ?? []
      const all = createRegistry({ ...this.#options, methods })
      known.clear()
      for (const [name, method] of all.methods) known.set(name, method)
      this.#isComplete = true
    } finally {
      // one that failed is tried again: all file descriptors may be in use now
      this.#loading = undefined
    }
  }

  #failed(context: C, error: unknown, method = UNREADABLE, cause?: SourceCause): Failure {
    const { reword } = this.#options
    const reworded =
      error instanceof DevchainError ? reword?.(error, context, method, cause) : undefined
    return { error: reworded ?? errorObjectOf(error, this.#reportBug), thrown: error }
  }

  #report(context: C, call: Call, answered: Answer): Answer {
    const { observe } = this.#options
    const { method: name, params, beganMs, notes } = call
    // observers may come while a call runs
    if (observe === undefined || beganMs === 0) return answered
    const isFailure = 'error' in answered
    try {
      const method = this.registry.get(name)
      const whole: CallReport = {
        method: name,
        params: params as Json,
        durationMs: performance.now() - beganMs,
        result: isFailure ? undefined : shownResult(answered.result, method?.result.noun),
        error: isFailure ? answered.error : undefined,
        notes,
      }
      observe(shownReport(this.#registry, method, whole), context, {
        method,
        description: method && descriptionOf(method, context, whole),
        thrown: isFailure ? answered.thrown : undefined,
      })
    } catch (bug) {
      this.#reportBug(bug)
    }
    return answered
  }

  /** Synchronous where the method is: small calls need no promise. */
  #answer(context: C, name: string, params: Params): MaybePromise<Answer> {
    const beganMs = this.#options.observe === undefined ? 0 : performance.now()
    const call = { method: name, params, beganMs, notes: [] }
    try {
      const method = this.registry.get(name)
      if (method === undefined) {
        const completed = this.#complete()
        if (completed === undefined) throw unknownMethod(name, this.#registry)
        return completed.then(
          () => this.#answer(context, name, params),
          (error: unknown) => this.#explained(context, call, error),
        )
      }
      const running = run(this.#options, method, context, call)
      if (!isPromise(running)) return this.#report(context, call, { result: running })
      const end = this.#options.begin?.(name, context)
      return running.then(
        (result) => {
          end?.()
          return this.#report(context, call, { result })
        },
        (error: unknown) =>
          whenThere(this.#explained(context, call, error), (answered) => {
            end?.()
            return answered
          }),
      )
    } catch (error) {
      return this.#explained(context, call, error)
    }
  }

  /** Adds the source location to an error, if known. */
  #explained(context: C, call: Call, error: unknown): MaybePromise<Answer> {
    const answered = (known?: SourceExplanation): Answer => {
      const failure = this.#failed(context, error, call.method, known?.cause)
      const whole = known && { ...failure, error: { ...failure.error, solidityStack: known.lines } }
      return this.#report(context, call, whole ?? failure)
    }
    const explaining = this.#options.explain?.(error, context)
    return explaining === undefined ? answered() : explaining.then(answered)
  }

  #reply(context: C, value: unknown): MaybePromise<Reply> {
    let asked: WireRequest
    try {
      asked = readRequest(value)
    } catch (error) {
      return this.#refuse(context, idOf(value), error, value)
    }
    const { id, method, params } = asked
    return whenThere(this.#answer(context, method, params), (each) =>
      this.#write(context, id, each),
    )
  }

  /** Replies to a malformed request. The error may quote it; the log must not quote secrets. */
  #refuse(context: C, id: RequestId, error: unknown, asked: unknown): MaybePromise<string> {
    const failure = this.#failed(context, error)
    const call = { method: UNREADABLE, params: [], beganMs: performance.now(), notes: [] }
    // which methods have secrets is known only once all are loaded
    return whenThere(this.#complete()?.catch(this.#reportBug), () => {
      const isObserved = this.#options.observe !== undefined
      const isSecret = isObserved && (!this.#isComplete || namesSecretMethod(this.registry, asked))
      const logged = isSecret ? { ...failure, error: withoutQuotes(failure.error) } : failure
      this.#report(context, call, logged)
      return writeError(id, failure.error)
    })
  }

  #write(context: C, id: RequestId | undefined, answered: Answer): Reply {
    if (id === undefined) return undefined
    try {
      return 'error' in answered ? writeError(id, answered.error) : writeResult(id, answered.result)
    } catch (error) {
      // a result that is not valid JSON
      return writeError(id, this.#failed(context, error).error)
    }
  }

  async #replyToAll(context: C, batch: readonly unknown[]): Promise<string | undefined> {
    const limit = this.#limits.replies
    let replies = ''
    const reads = this.#options.reach?.(context) === undefined ? undefined : this.registry
    const replyAt = inTurn(batch, reads, (value) => this.#reply(context, value))
    const yieldIfDue = yielder()
    for (const [at, value] of batch.entries()) {
      const pause = yieldIfDue()
      if (pause !== undefined) await pause
      const id = idOf(value)
      if (replies.length > limit && id !== null) {
        const message = `not run: the replies to a batch may have ${limit} characters, and those before have more`
        const { error } = this.#failed(context, limitExceeded(message))
        replies += `,${writeError(id, error)}`
        continue
      }
      const given = replyAt(at)
      const text = isPromise(given) ? await given : given
      if (text === undefined) continue
      replies += `,${typeof text === 'string' ? text : await this.#short(context, id, text)}`
    }
    return replies === '' ? undefined : `[${replies.slice(1)}]`
  }

  /** A reply in a batch must fit one string. */
  async #short(context: C, id: RequestId, text: JsonText): Promise<string> {
    try {
      return await text.text(this.#limits.replies)
    } catch (error) {
      return writeError(id, this.#failed(context, error).error)
    }
  }

  /** An exception in the bug handler must not lose the reply. */
  readonly #reportBug = (error: unknown): void => {
    try {
      this.#options.onBug(error)
    } catch (second) {
      process.emitWarning(`a bug could not be reported: ${String(second)}; it was ${String(error)}`)
    }
  }
}

function run<C>(
  { adapt, reach }: DispatcherOptions<C>,
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
  return beyond(context, method, adapted, () => method.run(context, adapted, notes))
}

/** Orders named parameters as declared. */
function positions<C>(method: Method<C>, params: Params): readonly unknown[] {
  if (Array.isArray(params)) return params
  const named = new Map(Object.entries(params))
  const values = method.params.map(({ name }) => named.get(name))
  for (const { name } of method.params) named.delete(name)
  const [surplus] = named.keys()
  if (surplus === undefined) return values
  const known = method.params.map(({ name }) => name).join(', ') || 'none'
  throw invalidParams(`${method.name} has no parameter ${printValue(surplus)}: it takes ${known}`)
}

function checkBatch(batch: readonly unknown[], limit: number): void {
  if (batch.length === 0) {
    const message = 'invalid request: expected at least one request in a batch'
    throw new DevchainError('INVALID_REQUEST', message)
  }
  if (batch.length > limit) {
    throw limitExceeded(`a batch may have at most ${limit} requests, got ${batch.length}`)
  }
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

/** What a successful call did; undefined if its result shows that. */
function descriptionOf<C>(
  method: Method<C>,
  context: C,
  { params, result }: CallReport,
): string | undefined {
  if (method.describe === undefined || result === undefined || result === false) return undefined
  return method.describe(positions(method, params as Params), result, context)
}

/** Bytes up to which the log gets a written result as a value; beyond, only its size. */
const SHOWN_BYTES = 10_000

/** Entries up to which the log gets a list as a value: making those of a long one would delay other calls. */
const SHOWN_ENTRIES = 1_000

function shownResult(result: Json | JsonText, noun = 'item'): Json {
  if (!(result instanceof JsonText)) return result
  const { value, count = 0 } = result
  if (count > SHOWN_ENTRIES) return plural(count, noun)
  if (value !== undefined) return value()
  const { size, bytes } = result
  return size <= SHOWN_BYTES && bytes !== undefined
    ? (JSON.parse(Buffer.concat(bytes).toString()) as Json)
    : `${number(size)} bytes of JSON`
}

/** Reads that run concurrently. */
const MOST_READS = 100

type EffectsByName = ReadonlyMap<string, Pick<Method<never>, 'effects'>>

/**
 * Returns the reply of each entry; call it in order.
 * @param known if given, consecutive reads start together, so that a fork fetches their state together. Reads change
 * nothing, so their order does not matter.
 */
function inTurn<R>(
  batch: readonly unknown[],
  known: EffectsByName | undefined,
  reply: (value: unknown) => R,
): (at: number) => R {
  let begun: readonly R[] = []
  let begunAt = 0
  return (at) => {
    if (at >= begunAt + begun.length) {
      const count = known === undefined ? 1 : Math.max(1, readsFrom(known, batch, at))
      begun = batch.slice(at, at + count).map(reply)
      begunAt = at
    }
    return begun[at - begunAt]!
  }
}

/** Counts the consecutive reads from an index on. */
function readsFrom(methods: EffectsByName, batch: readonly unknown[], at: number): number {
  const isRead = (value: unknown): boolean => {
    const { method } = (value ?? {}) as { readonly method?: string }
    return methods.get(method ?? '')?.effects === 'nothing'
  }
  const next = batch.slice(at, at + MOST_READS)
  const end = next.findIndex((value) => !isRead(value))
  return end < 0 ? next.length : end
}
