// Messages between the main thread and a thread that runs chains. Both ends get them in the order in which they were sent.
import { DevchainError, type ErrorFacts, type ErrorWord } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { ChainsDoor } from '../../methods/common/chains.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import type { ForkSource } from '../../node/ledger/upstream.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import type { AddedArtifacts, OtherThreads } from '../../project/artifactsdoor.ts'
import type { CountedCode } from '../../project/coverage/collect.ts'
import type { CountedGas } from '../../project/gas/report.ts'
import type { Json } from '../../rpc/schema.ts'
import type { ChainFacts } from '../chainfacts.ts'
import type { SentPlace } from '../keeping/keeping.ts'

/** What a thread is started with. */
export interface ThreadOrder {
  readonly settings: DevchainSettings
  /** Searched for artifacts. */
  readonly folder: string | undefined
  readonly isPlain: boolean | undefined
  readonly leastCompacted: number | undefined
  /** How the thread's log is written: plain values of whoever writes the log. */
  readonly log: unknown
}

/** A state as it goes to another thread. */
export interface SentState {
  readonly pack: Uint8Array
  /** How the state's fork is opened again. */
  readonly fork: ForkSource | undefined
}

/** How a chain begins. */
export interface ChainBeginning {
  /** Its file on disk, which may have it already; undefined: it is in memory only. */
  readonly kept?: SentPlace | undefined
  /** Undefined: the last that this thread got. */
  readonly state?: SentState | undefined
  /** Options of its own, and so a genesis of its own. */
  readonly options?: object | undefined
}

export interface SentRequest {
  readonly id: number
  readonly chain: string
  /** Of the WebSocket; undefined for HTTP. */
  readonly session: number | undefined
  /** Of the WebSocket. */
  readonly isPage: boolean | undefined
  /** Latin-1, a character a byte: cloning a string is faster than cloning or transferring bytes. */
  readonly body: string
}

/** A long reply, whose pieces the main thread calls for. */
export interface LongReply {
  readonly size: number
  readonly pieces: number
}

/** What the main thread calls in a thread. */
export interface ThreadFunctions {
  readonly open: (name: string, beginning: ChainBeginning) => Promise<void>
  readonly close: (name: string) => Promise<void>
  /** All chains are closed. */
  readonly end: () => Promise<void> | undefined
  readonly request: (request: SentRequest) => MaybePromise<string | undefined | LongReply>
  /** The client of an HTTP request is gone, or has read the whole long reply. */
  readonly forget: (id: number) => void
  readonly piece: (id: number, at: number) => Promise<Uint8Array>
  readonly sessionEnded: (session: number) => void
  readonly sessionRead: (session: number, count: number) => void
  readonly facts: (name: string) => ChainFacts
  readonly messages: (name: string) => readonly string[]
  readonly state: (name: string, block: BlockReference | undefined) => Promise<SentState>
  readonly countedGas: () => MaybePromise<CountedGas>
  readonly countedCode: () => MaybePromise<CountedCode>
  readonly takeArtifacts: (added: AddedArtifacts) => Promise<number>
}

/** What a thread calls in the main thread. */
export interface MainFunctions extends ChainsDoor {
  readonly addArtifacts: OtherThreads['share']
  readonly countedCode: OtherThreads['countedCode']
  readonly notify: (session: number, method: string, params: readonly Json[]) => void
  readonly hold: (session: number) => void
  readonly cutOff: (session: number) => void
  /** Gets whole lines. */
  readonly log: (text: string) => void
  readonly notice: (text: string) => void
  readonly failure: (text: string) => void
  readonly bug: (failure: SentError) => void
}

/** Either end may call the other; without an id, nobody waits for the result. */
export interface ThreadCall {
  readonly kind: 'call'
  readonly id?: number
  readonly name: string
  readonly values: readonly unknown[]
}

export interface ThreadResult {
  readonly kind: 'result'
  readonly id: number
  readonly result?: unknown
  readonly failure?: SentError
}

export type ThreadMessage = ThreadCall | ThreadResult

/** Values of `DevchainError`, which keeps its class no other way; undefined `word`: another error. */
export interface SentError {
  readonly word: ErrorWord | undefined
  readonly message: string
  readonly data: unknown
  readonly facts: ErrorFacts
  readonly stack: string | undefined
}

/** One end of the connection: a worker, or a port of Node's. */
export interface ThreadPort {
  postMessage(message: ThreadMessage): void
  on(event: 'message', listener: (message: ThreadMessage) => void): unknown
}

export function sentError(error: unknown): SentError {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const {
    word,
    data,
    facts = {},
  }: Partial<DevchainError> = error instanceof DevchainError ? error : {}
  return { word, message, data, facts, stack }
}

export function readError({ word, message, data, facts, stack }: SentError): Error {
  if (word !== undefined) return new DevchainError(word, message, data, facts)
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}
