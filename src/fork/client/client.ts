// Asks another network: what is asked in one turn goes out together, in batches whose size is learned; what fails is
// asked again, later or elsewhere.
import { DevchainError } from '../../core/errors.ts'
import { plural } from '../../core/format.ts'
import type { Json } from '../../rpc/schema.ts'
import {
  type Ask,
  isLimitError,
  type Provider,
  ProviderFailure,
  type Reply,
  tellsOfPruning,
  type UpstreamError,
} from './provider.ts'

/** How another network is asked. */
export interface ClientOptions {
  /** The first that answers is used; at least one. */
  readonly providers: readonly Provider[]
  readonly timeoutMs: number
  /** How often a failed request is repeated. */
  readonly retries: number
  /** Told when the network lets us wait; one sentence without secrets. */
  readonly onNotice?: ((text: string) => void) | undefined
  /** Waits; tests pass their own. */
  readonly wait?: ((milliseconds: number) => Promise<void>) | undefined
}

/** What an upstream refused, in its own words. */
export class RefusedByUpstream extends DevchainError {
  readonly upstream: UpstreamError
  readonly ask: Ask
  /** Who refuses it, without keys. */
  readonly by: string

  constructor(upstream: UpstreamError, ask: Ask, by: string) {
    super('UPSTREAM_FAILED', `${by} refuses ${ask.method}: ${upstream.message}`, upstream.data)
    this.upstream = upstream
    this.ask = ask
    this.by = by
  }
}

/** What a recording that stands for a network does not have. */
export class NotRecorded extends RefusedByUpstream {
  constructor(ask: Ask, file: string) {
    super({ code: -32_000, message: 'it was not asked while it was recorded' }, ask, file)
    const { method, params } = ask
    this.message = `${file}, which is replayed, has no answer to ${method} ${JSON.stringify(params)}: record it anew with --fork-record`
  }
}

/** How much was asked. */
export interface Traffic {
  /** Requests of HTTP, or calls of a provider. */
  readonly sent: number
  /** Requests of JSON-RPC. */
  readonly asked: number
  /** Most requests of JSON-RPC in one of HTTP, as learned. */
  readonly batch: number
}

/** Batches that are on their way at the same time. */
const MOST_IN_FLIGHT = 8

/** The first wait after a failure, and the longest, in milliseconds. */
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 10_000

/** Times that a limit of each node is waited for: with the waits between them, about two minutes. */
const MOST_LIMITED = 16

interface Waiting {
  readonly ask: Ask
  readonly resolve: (result: Json) => void
  readonly reject: (error: unknown) => void
}

/** What is known of a provider. */
interface Known {
  readonly provider: Provider
  batch: number
}

export class Client {
  readonly #options: ClientOptions
  #known: readonly Known[]
  #current = 0
  #queue: Waiting[] = []
  #isScheduled = false
  #inFlight = 0
  #mostInFlight = MOST_IN_FLIGHT
  #sent = 0
  #asked = 0
  #isClosed = false

  constructor(options: ClientOptions) {
    this.#options = options
    this.#known = options.providers.map(unknown)
  }

  /** Asks others from now on. */
  use(providers: readonly Provider[]): void {
    for (const { provider } of this.#known) provider.close?.()
    this.#known = providers.map(unknown)
    this.#current = 0
  }

  get traffic(): Traffic {
    return { sent: this.#sent, asked: this.#asked, batch: this.#provider.batch }
  }

  /** Names who is asked, without keys. */
  get name(): string {
    return this.#provider.provider.name
  }

  get #provider(): Known {
    return this.#known[this.#current]!
  }

  /**
   * Asks one thing, together with what else is asked in this turn.
   * @throws {RefusedByUpstream} an error that is answered; {DevchainError} `UPSTREAM_FAILED` when nothing is
   */
  request(method: string, params: readonly Json[]): Promise<Json> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ ask: { method, params }, resolve, reject })
      if (this.#isScheduled) return
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.#flush()
      })
    })
  }

  /** What is still asked fails. */
  close(): void {
    this.#isClosed = true
    for (const { reject } of this.#queue.splice(0)) reject(closed())
    for (const { provider } of this.#known) provider.close?.()
  }

  #flush(): void {
    while (this.#queue.length > 0 && this.#inFlight < this.#mostInFlight) {
      const batch = this.#queue.splice(0, this.#nextLength())
      this.#inFlight += 1
      void this.#deliver(batch).finally(() => {
        this.#inFlight -= 1
        this.#flush()
      })
    }
  }

  /** How many of the queue go out next: traces alone, as some services take none in batches. */
  #nextLength(): number {
    const traced = this.#queue.findIndex(({ ask }) => isTrace(ask))
    const length = traced === -1 ? this.#queue.length : Math.max(1, traced)
    return Math.min(length, this.#provider.batch)
  }

  /** Sends a batch until each of its requests has an answer, or none can be had. Never rejects. */
  async #deliver(batch: readonly Waiting[]): Promise<void> {
    try {
      const answered = await this.#ask(batch.map(({ ask }) => ask))
      batch.forEach(({ ask, resolve, reject }, index) => {
        const reply = answered[index]!
        if ('result' in reply) resolve(reply.result)
        else reject(new RefusedByUpstream(reply.error, ask, this.name))
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  async #ask(asks: readonly Ask[]): Promise<readonly Reply[]> {
    const replies: (Reply | undefined)[] = asks.map(() => undefined)
    const attempts = { broken: 0, limited: 0, elsewhere: 0, open: asks.length }
    for (;;) {
      const open = asks.flatMap((_, index) => (replies[index] === undefined ? [index] : []))
      if (open.length === 0) return replies as Reply[]
      attempts.open = open.length
      if (this.#isClosed) throw closed()
      const asked = this.#provider
      const part = open.slice(0, asked.batch)
      try {
        const limited = await this.#send(asks, part, replies, attempts)
        if (limited === undefined)
          this.#mostInFlight = Math.min(MOST_IN_FLIGHT, this.#mostInFlight + 1)
        else await this.#afterLimit(asked, limited, undefined, attempts)
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error
        await this.#afterFailure(error, asked, part.length, attempts)
      }
    }
  }

  /** @returns the words of a limit that some of the requests came up against */
  async #send(
    asks: readonly Ask[],
    part: readonly number[],
    replies: (Reply | undefined)[],
    attempts: Attempts,
  ): Promise<string | undefined> {
    this.#sent += 1
    this.#asked += part.length
    const asked = this.#provider
    const sent = part.map((index) => asks[index]!)
    const answers = await asked.provider.send(sent, this.#options.timeoutMs)
    const mayMove = attempts.elsewhere < this.#known.length - 1
    let limited: string | undefined
    let isElsewhere = false
    answers.forEach((reply, at) => {
      if ('error' in reply && isLimitError(reply.error)) limited = reply.error.message
      else if (mayMove && 'error' in reply && tellsOfPruning(reply.error)) isElsewhere = true
      else replies[part[at]!] = reply
    })
    if (isElsewhere) {
      // what one node does not keep another may have
      attempts.elsewhere += 1
      this.#useNextTo(asked)
    }
    return limited
  }

  async #afterFailure(
    failure: ProviderFailure,
    asked: Known,
    length: number,
    attempts: Attempts,
  ): Promise<void> {
    if (failure.kind === 'refused') {
      if (length > 1) {
        learnBatch(asked, length)
        return
      }
    } else if (failure.kind === 'limited') {
      await this.#afterLimit(asked, failure.message, failure.retryAfterMs, attempts)
      return
    }
    attempts.broken += 1
    // each of several is asked, also where nothing is to be repeated
    const most = Math.max(this.#options.retries, this.#known.length - 1)
    if (attempts.broken > most) throw failed(failure)
    if (this.#known.length > 1) this.#tellNextTo(asked, failure.message)
    // a large batch may be what is too much for it
    else if (length > 1 && attempts.broken > 1) learnBatch(asked, length)
    await this.#wait(waitAfter(attempts.broken))
  }

  /**
   * Asks the one after another from now on.
   * @returns false where that is no longer asked: what goes out beside other things fails beside them
   */
  #useNextTo(asked: Known): boolean {
    if (this.#provider !== asked) return false
    this.#current = (this.#current + 1) % this.#known.length
    return true
  }

  #tellNextTo(asked: Known, words: string): void {
    if (this.#useNextTo(asked)) this.#options.onNotice?.(`asking ${this.name} now: ${words}`)
  }

  async #afterLimit(
    asked: Known,
    words: string,
    retryAfterMs: number | undefined,
    attempts: Attempts,
  ): Promise<void> {
    attempts.limited += 1
    const nodes = this.#known.length
    if (attempts.limited > MOST_LIMITED * nodes) throw failed(new Error(words))
    // another one may have time; all of them are asked before anybody waits
    if (attempts.limited % nodes !== 0) {
      this.#tellNextTo(asked, words)
      return
    }
    this.#mostInFlight = Math.max(1, Math.floor(this.#mostInFlight / 2))
    const delay = retryAfterMs ?? waitAfter(attempts.limited / nodes)
    const requests = plural(this.#queue.length + attempts.open, 'request')
    const { name } = asked.provider
    const reason = words.replace(`${name}: `, '')
    this.#options.onNotice?.(`waiting ${delay / 1000} s for ${name}, ${requests}: ${reason}`)
    this.#useNextTo(asked)
    await this.#wait(delay)
  }

  #wait(milliseconds: number): Promise<void> {
    return (this.#options.wait ?? wait)(milliseconds)
  }
}

function isTrace({ method }: Ask): boolean {
  return /^(debug|trace)_/.test(method)
}

function learnBatch(known: Known, refused: number): void {
  known.batch = Math.max(1, Math.min(known.batch, Math.floor(refused / 2)))
}

/** A provider of which nothing was learned yet. */
function unknown(provider: Provider): Known {
  return { provider, batch: provider.mostAtOnce }
}

interface Attempts {
  broken: number
  limited: number
  /** Nodes that do not keep what is asked for. */
  elsewhere: number
  /** Requests that have no answer yet. */
  open: number
}

/** Milliseconds to wait after so many failures in a row. */
function waitAfter(failures: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1))
}

function failed({ message }: Error): DevchainError {
  return new DevchainError('UPSTREAM_FAILED', `the forked network cannot be asked: ${message}`)
}

function closed(): DevchainError {
  return new DevchainError('ABANDONED', 'the fork was closed')
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}
