// What the methods return, as far as the page reads it.
import type { RpcBlock as Block, Hex, Log } from 'viem'

export type RpcBlock = Block<'latest', false>

export type { RpcTransaction, RpcTransactionReceipt as RpcReceipt } from 'viem'

export type RpcLog = Log<Hex, Hex, false>

/** A block that a revert or a reorg took off the chain. */
export interface RpcLeftBlock extends Pick<RpcBlock, 'number' | 'hash' | 'parentHash'> {
  readonly transactions: readonly string[]
}

/** Of devchain_storage: a variable, or a slot without a name. */
export interface RpcSlot {
  readonly slot: string
  readonly name: string | null
  readonly type: string | null
  readonly value: string
  readonly word: string
}

/** A run of a transaction. */
export type RpcRun = Readonly<{ status: boolean; gasUsed: string; error: string | null }>

/** Of devchain_replay. */
export interface RpcReplayed {
  readonly hash: string
  readonly before: RpcRun
  /** Null if it may not be in its block any more. */
  readonly after: RpcRun | null
  readonly refusal: string | null
}

/** Of devchain_traceTransaction: a call, or an event between its calls. */
export interface RpcTraceNode {
  readonly type: string
  readonly name: string
  /** The members of calls only. */
  readonly to?: string | null
  readonly value?: string
  readonly gasUsed?: string
  readonly input?: string
  readonly output?: string
  readonly result?: string
  readonly error?: string
  readonly steps?: readonly RpcTraceNode[]
}

export interface RpcTrace {
  readonly call: RpcTraceNode
  readonly storage: readonly {
    readonly address: string
    readonly name: string
    readonly changes: readonly string[]
  }[]
}

/** Of devchain_sources. A place: pc, source, line, column, end line, end column, jump. */
export interface RpcSources {
  readonly contract: string
  readonly sources: readonly { readonly path: string; readonly text: string }[]
  readonly places: readonly (readonly [number, number, number, number, number, number, string])[]
}

/** Of debug_traceTransaction without a tracer. */
export type RpcStructLogs = Readonly<{ structLogs: readonly RpcStructLog[] }>

export interface RpcStructLog {
  readonly pc: number
  readonly op: string
  readonly gas: number
  readonly gasCost: number
  readonly depth: number
  readonly error?: string
  readonly stack?: readonly string[]
  readonly memory?: readonly string[]
  readonly storage?: Readonly<Record<string, string>>
}
