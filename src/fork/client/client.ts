// Client of the upstream RPC: batches the requests of a turn, learns the batch size, retries, and switches URLs.
import { setTimeout as delay } from 'node:timers/promises'
import { DevchainError } from '../../core/errors.ts'
import { plural } from '../../core/format.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { UpstreamFacts } from '../../node/ledger/upstream.ts'
import type { Json } from '../../rpc/schema.ts'
import { AT_ONCE, Attempts, type Delay, worseOf } from './attempts.ts'
import {
  isBlockUnknown,
  isLimitError,
  isMethodNotFound,
  isPrunedError,
  NoAnswer,
  type Provider,
  ProviderFailure,
  type UpstreamError,
  type UpstreamReply,
  type UpstreamRequest,
} from './provider.ts'
import { currentWaitBudget, WaitBudget } from './waitbudget.ts'

export interface Time {
  readonly now: () => number
  readonly wait: (milliseconds: number) => Promise<void>
}

export interface ClientOptions {
  readonly providers: readonly Provider[]
  readonly timeoutMs: number
  readonly retries: number
  /** How long one piece of work waits for nothing, at most. */
  readonly maxWaitMs: number
  readonly onNotice?: ((text: string) => void) | undefined
  readonly time?: Time | undefined
}

export class RefusedByUpstream extends DevchainError {
  readonly upstream: UpstreamError
  readonly ask: UpstreamRequest
  readonly by: string

  constructor(upstream: UpstreamError, ask: UpstreamRequest, by: string) {
    super('UPSTREAM_FAILED', `${by} refuses ${ask.method}: ${upstream.message}`, upstream.data)
    this.upstream = upstream
    this.ask = ask
    this.by = by
  }
}

/** @param instead follows an error of the network, but no other; default: undefined */
export async function orIfRefused<T, Other = undefined>(
  ask: () => Promise<T>,
  instead: (refusal: RefusedByUpstream) => MaybePromise<Other> = () => undefined as Other,
): Promise<T | Other> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof RefusedByUpstream)) throw error
    return await instead(error)
  }
}

/** A request that is missing from the recording. */
export class NotRecorded extends RefusedByUpstream {
  constructor(ask: UpstreamRequest, file: string) {
    super({ code: -32_000, message: 'not in the recording' }, ask, file)
    const { method, params } = ask
    this.message = `${file} has no answer to ${method} ${JSON.stringify(params)}: record again with --fork-record`
  }
}

export type Traffic = Pick<UpstreamFacts, 'requests' | 'asked' | 'batch'>

export type Check = (result: Json) => void

const MOST_IN_FLIGHT = 8

/** The least part of the maximum wait that one attempt gets, however long the work has waited. */
const LEAST_PART = 1 / 8

/** The trace for the prefetch: optional, as the call works without it. */
const PREFETCH_TRACE = 'debug_traceCall'

/** Milliseconds that other requests wait for a trace in their batch. */
const TRACE_MS = 3_000

interface Waiting {
  readonly ask: UpstreamRequest
  readonly check: Check
  readonly budget: WaitBudget
  readonly resolve: (result: Json) => void
  readonly reject: (error: unknown) => void
  /** The best reply so far, used if nothing better comes. */
  last: { readonly reply: UpstreamReply; readonly by: Known } | undefined
  isSettled: boolean
}

interface Known {
  readonly provider: Provider
  batch: number
  /** If the provider accepts call traces in a batch. */
  traces: 'untried' | 'together' | 'alone'
}

export class Client {
  readonly #options: ClientOptions
  readonly #time: Time
  #known: readonly Known[]
  #current = 0
  #queue: Waiting[] = []
  #isScheduled = false
  #inFlight = 0
  #mostInFlight = MOST_IN_FLIGHT
  #sent = 0
  #asked = 0
  #isClosed = false
  #outage: { readonly since: number; readonly failure: ProviderFailure } | undefined

  constructor(options: ClientOptions) {
    this.#options = options
    this.#time = options.time ?? REAL_TIME
    this.#known = options.providers.map(unknown)
  }

  use(providers: readonly Provider[]): void {
    for (const { provider } of this.#known) provider.close?.()
    this.#known = providers.map(unknown)
    this.#current = 0
    this.#outage = undefined
  }

  get traffic(): Traffic {
    return { requests: this.#sent, asked: this.#asked, batch: this.#provider.batch }
  }

  get name(): string {
    return this.#provider.provider.name
  }

  get #provider(): Known {
    return this.#known[this.#current]!
  }

  /**
   * Batches the request with others of this turn.
   * @param check a reply that fails it is retried, and returned if nothing better comes
   * @throws {RefusedByUpstream} an error of the upstream; {DevchainError} `UPSTREAM_FAILED` if none answers
   */
  request(method: string, params: readonly Json[], check: Check = anything): Promise<Json> {
    const budget = currentWaitBudget() ?? new WaitBudget(this.#time.now())
    return new Promise((resolve, reject) => {
      const ask = { method, params }
      this.#queue.push({ ask, check, budget, resolve, reject, last: undefined, isSettled: false })
      if (this.#isScheduled) return
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.#flush()
      })
    })
  }

  /** Rejects all open requests. */
  close(): void {
    this.#isClosed = true
    for (const { reject } of this.#queue.splice(0)) reject(closed())
    for (const { provider } of this.#known) provider.close?.()
  }

  #flush(): void {
    while (this.#queue.length > 0 && this.#inFlight < this.#mostInFlight) {
      const batch = this.#queue.splice(0, this.#nextLength())
      this.#inFlight += 1
      void this.#answerAll(batch)
        .catch((error: unknown) => {
          for (const { reject } of batch) reject(error)
        })
        .finally(() => {
          this.#inFlight -= 1
          this.#flush()
        })
    }
  }

  /** Traces go out alone, as some services accept none in batches. */
  #nextLength(): number {
    const { batch, traces } = this.#provider
    const isAlone = ({ ask: { method } }: Waiting): boolean =>
      /^(debug|trace)_/.test(method) && (traces === 'alone' || method !== PREFETCH_TRACE)
    const first = this.#queue.findIndex(isAlone)
    const length = first === -1 ? this.#queue.length : Math.max(1, first)
    return Math.min(length, batch)
  }

  async #answerAll(batch: readonly Waiting[]): Promise<void> {
    const fresh = (): Attempts => new Attempts(this.#known.length, this.#options.retries)
    let attempts = fresh()
    let open: readonly Waiting[] = batch.filter((each) => this.#mayStillWait(each))
    while (open.length > 0) {
      if (this.#isClosed) throw closed()
      const asked = this.#provider
      const part = open.slice(0, asked.batch)
      const began = this.#time.now()
      const failure = await this.#send(asked, part, attempts)
      open = open.filter(({ isSettled }) => !isSettled)
      if (failure === undefined) {
        attempts = fresh()
        continue
      }
      const delay = this.#delayAfter(failure, asked, part.length, attempts)
      if (delay === 'none') continue
      open = await this.#waitFor(open, failure, { asked, began }, delay)
    }
  }

  /** Drops requests whose time ran out in the queue during an outage. */
  #mayStillWait(waiting: Waiting): boolean {
    if (this.#outage === undefined) return true
    const { budget } = waiting
    budget.spend(Math.max(budget.since, this.#outage.since), this.#time.now())
    if (budget.spent < this.#options.maxWaitMs) return true
    this.#giveUp(waiting, this.#outage.failure, this.#whyNoLonger(AT_ONCE))
    return false
  }

  /** @returns why some requests have no answer yet; undefined: all have, or are queued again */
  async #send(
    asked: Known,
    part: readonly Waiting[],
    attempts: Attempts,
  ): Promise<ProviderFailure | undefined> {
    this.#sent += 1
    this.#asked += part.length
    const isMixed = part.length > 1 && part.some(({ ask }) => ask.method === PREFETCH_TRACE)
    const timeoutMs = this.#timeoutOf(part, attempts)
    const began = this.#time.now()
    let answers: readonly UpstreamReply[]
    try {
      const asks = part.map(({ ask }) => ask)
      answers = await asked.provider.send(asks, isMixed ? Math.min(timeoutMs, TRACE_MS) : timeoutMs)
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      if (!isMixed || error.kind === 'limited') return error
      for (const each of part) {
        each.budget.spend(began, this.#time.now())
        if (each.ask.method === PREFETCH_TRACE) this.#askAlone(each, asked)
      }
      return undefined
    }
    let worst: ProviderFailure | undefined
    answers.forEach((reply, index) => {
      const each = part[index]!
      const failure = this.#failureIn(reply, each, asked, attempts)
      if (failure !== undefined) worst = worseOf(worst, failure)
      else if (isMixed && each.ask.method === PREFETCH_TRACE) this.#takeTrace(each, reply, asked)
      else this.#settle(each, reply, asked)
    })
    // one answer ends the outage
    if (part.some(({ isSettled }) => isSettled)) this.#outage = undefined
    if (worst?.kind !== 'limited')
      this.#mostInFlight = Math.min(MOST_IN_FLIGHT, this.#mostInFlight + 1)
    return worst
  }

  /** Milliseconds of one attempt: a silent URL must leave time for the others. */
  #timeoutOf(part: readonly Waiting[], { untried }: Attempts): number {
    const { maxWaitMs, timeoutMs } = this.#options
    const left = Math.max(...part.map(({ budget }) => maxWaitMs - budget.spent))
    return Math.min(timeoutMs, Math.max(Math.ceil(left / untried), this.#leastMs))
  }

  get #leastMs(): number {
    return Math.ceil(this.#options.maxWaitMs * LEAST_PART)
  }

  #failureIn(
    reply: UpstreamReply,
    waiting: Waiting,
    asked: Known,
    attempts: Attempts,
  ): ProviderFailure | undefined {
    const broken = ({ message }: { readonly message: string }): ProviderFailure => {
      waiting.last = { reply, by: asked }
      return new ProviderFailure('broken', `${asked.provider.name}: ${message}`)
    }
    if ('result' in reply) {
      try {
        waiting.check(reply.result)
        return undefined
      } catch (error) {
        // the reader reports anything else that is wrong with it
        return error instanceof NoAnswer ? broken(error) : undefined
      }
    }
    const { error, mayPass } = reply
    if (isLimitError(error)) return new ProviderFailure('limited', error.message)
    if (isPrunedError(error)) {
      return attempts.pruned < this.#known.length - 1
        ? new ProviderFailure('pruned', error.message)
        : undefined
    }
    const isBehind = waiting.check !== anything && isBlockUnknown(error)
    return mayPass === true || isBehind ? broken(error) : undefined
  }

  /** An error for a trace in a batch may be due to the batch. */
  #takeTrace(waiting: Waiting, reply: UpstreamReply, asked: Known): void {
    const isSure =
      'result' in reply || (isMethodNotFound(reply.error) && !/batch/i.test(reply.error.message))
    if (asked.traces === 'untried' && isSure) asked.traces = 'together'
    if (asked.traces === 'together') this.#settle(waiting, reply, asked)
    else this.#askAlone(waiting, asked)
  }

  #askAlone(waiting: Waiting, asked: Known): void {
    asked.traces = 'alone'
    // another delivery takes over
    this.#queue.push({ ...waiting })
    waiting.isSettled = true
    this.#flush()
  }

  #settle(waiting: Waiting, reply: UpstreamReply, asked: Known): void {
    waiting.isSettled = true
    if ('result' in reply) waiting.resolve(reply.result)
    else waiting.reject(new RefusedByUpstream(reply.error, waiting.ask, asked.provider.name))
  }

  /** @returns the wait before the next attempt; `none` if it is no retry */
  #delayAfter(
    failure: ProviderFailure,
    asked: Known,
    length: number,
    attempts: Attempts,
  ): Delay | undefined | 'none' {
    const { kind, message } = failure
    if (kind === 'refused' && length > 1) {
      learnBatch(asked, length)
      return 'none'
    }
    if (kind === 'pruned') {
      attempts.pruned += 1
      this.#useNextTo(asked)
      return 'none'
    }
    const delay = attempts.after(failure)
    if (delay === undefined) return undefined
    if (kind === 'limited' && delay !== AT_ONCE) {
      this.#mostInFlight = Math.max(1, Math.floor(this.#mostInFlight / 2))
      this.#useNextTo(asked)
    } else if (this.#known.length > 1) {
      if (this.#useNextTo(asked)) this.#options.onNotice?.(`asking ${this.name} now: ${message}`)
    } else if (kind !== 'limited' && length > 1 && attempts.broken > 1) {
      // a large batch may be what is too much for it
      learnBatch(asked, length)
    }
    return delay
  }

  /** @returns the requests that may wait so long; rejects the others */
  async #waitFor(
    open: readonly Waiting[],
    failure: ProviderFailure,
    { asked, began }: { readonly asked: Known; readonly began: number },
    delay: Delay | undefined,
  ): Promise<readonly Waiting[]> {
    const now = this.#time.now()
    this.#outage = { since: this.#outage?.since ?? began, failure }
    const ready: Waiting[] = []
    let wait = delay?.most ?? 0
    for (const each of open) {
      each.budget.spend(began, now)
      const room = this.#options.maxWaitMs - each.budget.spent - this.#leastMs
      if (delay === undefined) this.#giveUp(each, failure, '')
      else if (delay.least > room) this.#giveUp(each, failure, this.#whyNoLonger(delay))
      else {
        ready.push(each)
        wait = Math.min(wait, room)
      }
    }
    if (ready.length === 0 || delay === AT_ONCE) return ready
    if (failure.kind === 'limited') this.#warnOfWait(failure, asked, wait, ready.length)
    await this.#time.wait(wait)
    for (const { budget } of ready) budget.spend(now, this.#time.now())
    return ready
  }

  #giveUp(waiting: Waiting, failure: ProviderFailure, why: string): void {
    if (waiting.last !== undefined) {
      this.#settle(waiting, waiting.last.reply, waiting.last.by)
      return
    }
    waiting.isSettled = true
    const message = `the forked network did not answer: ${failure.message}${why}`
    waiting.reject(new DevchainError('UPSTREAM_FAILED', message))
  }

  #whyNoLonger({ least }: Delay): string {
    const seconds = this.#options.maxWaitMs / 1000
    return least > this.#options.maxWaitMs
      ? `; it asks to wait ${least / 1000} s, and --fork-max-wait is ${seconds} s`
      : `; nothing better came within ${seconds} s (--fork-max-wait)`
  }

  /** @returns false if another batch has switched URLs already */
  #useNextTo(asked: Known): boolean {
    if (this.#provider !== asked) return false
    this.#current = (this.#current + 1) % this.#known.length
    return true
  }

  #warnOfWait(
    { message }: ProviderFailure,
    { provider: { name } }: Known,
    delay: number,
    open: number,
  ): void {
    const requests = plural(this.#queue.length + open, 'request')
    const reason = message.replace(`${name}: `, '')
    this.#options.onNotice?.(`waiting ${delay / 1000} s for ${name}, ${requests}: ${reason}`)
  }
}

const REAL_TIME: Time = { now: () => performance.now(), wait: (ms) => delay(ms) }

function anything(): void {}

function learnBatch(known: Known, refused: number): void {
  known.batch = Math.max(1, Math.min(known.batch, Math.floor(refused / 2)))
}

function unknown(provider: Provider): Known {
  return { provider, batch: provider.mostAtOnce, traces: 'untried' }
}

function closed(): DevchainError {
  return new DevchainError('CANCELLED', 'the fork was closed')
}
