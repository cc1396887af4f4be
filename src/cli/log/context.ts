// Phrases for calls and transactions that use a project's names.
import type { ObservedCall } from '../../app/observer.ts'
import { oneLine } from '../../core/format.ts'
import { type Address, bytesFromHex, type Hash, hexFromBytes, isBytes } from '../../core/hex.ts'
import { isObject } from '../../core/objects.ts'
import type { Described } from '../../project/naming/described.ts'
import type { Project } from '../../project/project.ts'
import type { Json } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import type { ChainEvent, TransactionEvent } from './events.ts'
import { askedBy } from './request.ts'

/** A project, and the state to look its names up in. */
export interface LogContext {
  readonly project: Project
  readonly world: World
  /** The state before the transaction, if it was the only one. */
  readonly before?: World | undefined
  readonly traces: 'failed' | 'all' | undefined
}

/** A call with its changes; without a call, a change by itself (interval mining). */
export interface LogRecord {
  /** Undefined for the default chain. */
  readonly chain?: string | undefined
  readonly call: ObservedCall | undefined
  /** Counts the calls of a run, from 1. */
  readonly id?: number | undefined
  /** Repetitions; above 1 only for folded entries. */
  readonly count: number
  /** True: the calls had different parameters; this is the newest. */
  readonly isMixed?: boolean
  readonly events: readonly ChainEvent[]
  /** Undefined without a project. */
  readonly context?: LogContext | undefined
  /** Reasons and Solidity stacks of failed transactions by hash, in lines. */
  readonly stacks?: ReadonlyMap<string, readonly string[]> | undefined
  /** Call traces of transactions by hash, in lines. */
  readonly traces?: ReadonlyMap<string, readonly string[]> | undefined
  /** The call's own trace, in lines, if it made no transaction. */
  readonly callTrace?: readonly string[] | undefined
}

/** Characters of a call, event or error in a line. */
const PHRASE = 240

/** Events listed below one transaction; the rest are counted. */
const LISTED = 50

export function phraseOf(described: Described, isVerbose: boolean): string {
  return isVerbose ? oneLine(described.whole, 10 * PHRASE) : oneLine(described.text, PHRASE)
}

/** Undefined if the project does not know the callee. */
export function describeCall(
  context: LogContext | undefined,
  call: ObservedCall,
): Described | undefined {
  const asked = context && askedBy(call)
  if (asked === undefined || !isBytes(asked.input || '0x')) return undefined
  const input = bytesFromHex(asked.input || '0x')
  const { project, world, before } = context!
  if (asked.to === null) return project.names.creation(world, input, null)
  const [to, from] = [addressIn(asked.to), addressIn(asked.from)]
  return to && project.names.call(world, { from, to, input }, before)
}

export function describeTransaction(
  { project: { names }, world, before }: LogContext,
  { executed, from, to, created }: TransactionEvent,
): Described | undefined {
  if (executed === undefined) return undefined
  const input = executed.transaction.data
  if (to === null) return names.creation(world, input, created)
  return names.call(world, { from, to, input }, before)
}

export function answerText(
  described: Described | undefined,
  { meaning, result }: ObservedCall,
): string | undefined {
  // other results are gas or a hash
  if (described === undefined || meaning?.unit !== 'return data') return undefined
  if (typeof result !== 'string' || !isBytes(result) || result === '0x') return undefined
  const answer = described.answer(bytesFromHex(result))
  return answer && oneLine(answer, PHRASE)
}

/** The custom error of a failed execution. @param to the account called */
export function describeError(
  context: LogContext | undefined,
  to: string | null,
  data: string,
): Described | undefined {
  if (context === undefined || !isBytes(data)) return undefined
  return context.project.names.error(context.world, addressIn(to) ?? null, bytesFromHex(data))
}

export function describeEvents(
  { project: { names }, world }: LogContext,
  { executed, to, created }: TransactionEvent,
): { readonly described: readonly Described[]; readonly others: number } {
  const logs = executed?.receipt.logs ?? []
  const described = logs
    .slice(0, LISTED)
    .flatMap((log) => names.event(world, log, to ?? created) ?? [])
  return { described, others: logs.length - described.length }
}

/** Failed transactions explained per entry: each runs again. */
const EXPLAINED = 10

/** Waits for the artifacts being read, then adds `withStacks`; undefined if nothing is pending. */
export function withNames(entry: LogRecord): Promise<LogRecord> | undefined {
  const { call, events, context } = entry
  const isRun = events.length > 0 || (call !== undefined && askedBy(call) !== undefined)
  const reading = isRun ? context?.project.artifacts.catchUp() : undefined
  if (reading === undefined) return withStacks(entry)
  return reading.then(() => withStacks(entry) ?? entry)
}

/** Adds failure explanations and call traces; undefined if there are none. */
function withStacks(entry: LogRecord): Promise<LogRecord> | undefined {
  const { call, events, context } = entry
  if (context === undefined) return undefined
  const transactions = events.filter((event) => event.event === 'transaction')
  const failed = transactions.filter(({ failure }) => failure !== undefined)
  const traced = context.traces === 'all' ? transactions : context.traces === 'failed' ? failed : []
  const isTraced =
    context.traces === 'all' || (context.traces === 'failed' && call?.error !== undefined)
  const rerun = isTraced ? call?.rerun : undefined
  if (failed.length + traced.length === 0) {
    return (
      rerun && context.project.traceRun(rerun).then(({ lines }) => ({ ...entry, callTrace: lines }))
    )
  }
  return explained(entry, context, failed.slice(0, EXPLAINED), traced.slice(0, EXPLAINED))
}

async function explained(
  entry: LogRecord,
  { project }: LogContext,
  failed: readonly TransactionEvent[],
  traced: readonly TransactionEvent[],
): Promise<LogRecord> {
  const { call } = entry
  const known = call?.error?.solidityStack
  const stacks = await linesOf(failed, async (hash) =>
    known !== undefined && call?.failure?.hash === hash ? known : await project.explainMined(hash),
  )
  return {
    ...entry,
    stacks,
    traces: await linesOf(traced, async (hash) => (await project.trace(hash)).lines),
  }
}

/** Lines by transaction hash; empty if a transaction cannot run again. */
async function linesOf(
  transactions: readonly TransactionEvent[],
  lines: (hash: Hash) => Promise<readonly string[] | undefined>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  for (const { hash } of transactions) {
    const stack = await lines(hash).catch(() => undefined)
    if (stack !== undefined) found.set(hash, stack)
  }
  return found
}

/** `InsufficientBalance(have 1 ether, want 5 ether) at src/Vault.sol:45` from an explanation's lines. */
export function briefly([reason = '', ...stack]: readonly string[]): string {
  const places = stack.flatMap((line) => /\((about )?([^()]+:\d+):\d+\)$/.exec(line) ?? [])
  const [, about = '', place] = places
  return oneLine(place === undefined ? reason : `${reason} at ${about}${place}`, PHRASE)
}

/** The parts of a call, event or error for the JSON log. */
export function plainDescription(described: Described): {
  readonly [key: string]: Json | undefined
} {
  const { contract, name, signature, values, calls, created } = described
  return {
    contract,
    name,
    signature,
    ...(created && { created: created.address ?? null }),
    ...(calls.length > 0 && {
      calls: calls.map(({ to, input, value, described: inner }) => ({
        to,
        ...(value > 0n ? { value: value.toString() } : {}),
        ...(inner === undefined ? { input: hexFromBytes(input) } : plainDescription(inner)),
      })),
    }),
    args: values?.map(({ parameter, value }) => ({
      ...(parameter.name ? { name: parameter.name } : {}),
      type: parameter.type,
      value: plainValue(value),
    })),
  }
}

/** Numbers become decimal text, tuples lists. */
function plainValue(value: unknown): Json {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(plainValue)
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString()
  if (isObject(value) && 'value' in value) return plainValue(value.value)
  return typeof value === 'boolean' ? value : String(value)
}

function addressIn(text: string | null | undefined): Address | undefined {
  return /^0x[0-9a-f]{40}$/i.test(text ?? '') ? (text?.toLowerCase() as Address) : undefined
}
