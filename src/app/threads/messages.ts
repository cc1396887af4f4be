// Messages between the main thread and a thread that runs chains. Both ends get them in the order in which they were sent.
import { DevchainError, type ErrorFacts, type ErrorWord } from '../../core/errors.ts'
import type { ForkSource } from '../../node/ledger/upstream.ts'
import type { DevchainSettings } from '../../options/derived.ts'
import type { Json } from '../../rpc/schema.ts'
import type { LentPlace } from '../keeping/keeping.ts'

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
  readonly kept?: Omit<LentPlace, 'giveBack'> | undefined
  /** Undefined: the last that this thread got. */
  readonly state?: SentState | undefined
  /** Options of its own, and so a genesis of its own. */
  readonly options?: object | undefined
}

/** Latin-1, a character a byte: cloning a string is faster than cloning or transferring bytes. */
export type ByteText = string

export interface RequestMessage {
  readonly kind: 'request'
  readonly id: number
  readonly chain: string
  /** Of the WebSocket; undefined for HTTP. */
  readonly session: number | undefined
  /** Of the WebSocket. */
  readonly isPage: boolean | undefined
  readonly body: ByteText
}

export interface ReplyMessage {
  readonly kind: 'reply'
  readonly id: number
  readonly reply: string | undefined
}

/** A long reply: whole, or in pieces that the main thread calls for. */
export interface LongReplyMessage {
  readonly kind: 'longReply'
  readonly id: number
  readonly size: number
  readonly whole: ByteText | undefined
  readonly pieces: number
}

export interface NotifyMessage {
  readonly kind: 'notify'
  readonly session: number
  readonly method: string
  readonly params: readonly Json[]
}

/** Either end may call the other. */
export interface ThreadCall {
  readonly kind: 'call'
  readonly id: number
  readonly name: string
  readonly values: readonly unknown[]
}

export interface ThreadResult {
  readonly kind: 'result'
  readonly id: number
  readonly result?: unknown
  readonly failure?: SentError
}

/** Values of `DevchainError`, which keeps its class no other way; undefined `word`: another error. */
export interface SentError {
  readonly word: ErrorWord | undefined
  readonly message: string
  readonly data: unknown
  readonly facts: ErrorFacts
  readonly stack: string | undefined
}

export type ToThread =
  | RequestMessage
  | ThreadCall
  | ThreadResult
  /** The client of an HTTP request is gone, or has read the whole long reply. */
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'sessionEnded'; readonly session: number }
  | { readonly kind: 'sessionRead'; readonly session: number; readonly count: number }

export type FromThread =
  | ReplyMessage
  | LongReplyMessage
  | NotifyMessage
  | ThreadCall
  | ThreadResult
  | { readonly kind: 'cutOff'; readonly session: number }
  | { readonly kind: 'log'; readonly text: string }
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'bug'; readonly failure: SentError }

/** One end of the connection. */
export interface ThreadPort<Sent, Got> {
  readonly post: (message: Sent) => void
  readonly onMessage: (listener: (message: Got) => void) => unknown
}

export function sentError(error: unknown): SentError {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (!(error instanceof DevchainError)) {
    return { word: undefined, message, data: undefined, facts: {}, stack }
  }
  const { word, data, facts } = error
  return { word, message, data, facts, stack }
}

export function readError({ word, message, data, facts, stack }: SentError): Error {
  if (word !== undefined) return new DevchainError(word, message, data, facts)
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}
