// What a project's names make of calls and transactions: phrases for the log.
import { oneLine } from '../../core/format.ts'
import { type Address, bytesFromHex, type Hash, hexFromBytes, isBytes } from '../../core/hex.ts'
import type { Names } from '../../project/naming/names.ts'
import type { Told, ToldCall } from '../../project/naming/told.ts'
import type { Json } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import type { CallEvent, ChainEvent, TransactionEvent } from './events.ts'
import { askedBy } from './request.ts'

/** The names of a project, and the accounts that they are looked up among. */
export interface Scene {
  readonly names: Names
  readonly world: World
  /** The accounts before the transaction, where there was one alone. */
  readonly before?: World | undefined
  /** Of which transactions the calls are told as a tree. */
  readonly traces: 'failed' | 'all' | undefined
}

/** A call with what it changed; or, without a call, what changed by itself (a mining interval). */
export interface Entry {
  /** The name of the chain, where it has one. */
  readonly chain?: string | undefined
  readonly call: CallEvent | undefined
  /** Counts the calls of a run, from 1 on. */
  readonly id?: number | undefined
  /** How many times; above 1 only for entries that fold. */
  readonly count: number
  /** True: the calls had different parameters, and this is the newest. */
  readonly isMixed?: boolean
  readonly events: readonly ChainEvent[]
  /** What names are looked up in; undefined where there is no project. */
  readonly scene?: Scene | undefined
  /** Of transactions that failed, by their hashes: the reason, and where in Solidity, a line each. */
  readonly stacks?: ReadonlyMap<string, readonly string[]> | undefined
  /** Calls of transactions as trees, by their hashes, in lines. */
  readonly traces?: ReadonlyMap<string, readonly string[]> | undefined
  /** The call's own calls as a tree, in lines, where it made no transaction. */
  readonly callTrace?: readonly string[] | undefined
}

/** Characters that a call, an event or an error may take in a line. */
const PHRASE = 240

/** Events below one transaction; how many more there are is told. */
const LISTED = 50

export function phraseOf(told: Told, isVerbose: boolean): string {
  return isVerbose ? oneLine(told.whole, 10 * PHRASE) : oneLine(told.text, PHRASE)
}

/** What a call of an execution calls or creates; undefined where the project does not know. */
export function toldCall(scene: Scene | undefined, call: CallEvent): Told | ToldCall | undefined {
  const asked = scene && askedBy(call)
  if (asked === undefined || !isBytes(asked.input || '0x')) return undefined
  const input = bytesFromHex(asked.input || '0x')
  const { names, world, before } = scene!
  if (asked.to === null) return names.creation(world, input, null)
  const [to, from] = [addressIn(asked.to), addressIn(asked.from)]
  return to && names.call(world, { from, to, input }, before)
}

export function toldTransaction(
  { names, world, before }: Scene,
  { executed, from, to, created }: TransactionEvent,
): Told | ToldCall | undefined {
  if (executed === undefined) return undefined
  const input = executed.transaction.data
  if (to === null) return names.creation(world, input, created)
  return names.call(world, { from, to, input }, before)
}

/** What a call returned, in words. */
export function answerText(
  told: Told | ToldCall | undefined,
  { meaning, result }: CallEvent,
): string | undefined {
  // what others answer is gas, or a hash
  if (told === undefined || !('answer' in told) || meaning?.unit !== 'return data') return undefined
  if (typeof result !== 'string' || !isBytes(result) || result === '0x') return undefined
  const answer = told.answer(bytesFromHex(result))
  return answer && oneLine(answer, PHRASE)
}

/** The custom error that an execution failed with. @param to who was called */
export function toldError(
  scene: Scene | undefined,
  to: string | null,
  data: string,
): Told | undefined {
  if (scene === undefined || !isBytes(data)) return undefined
  return scene.names.error(scene.world, addressIn(to) ?? null, bytesFromHex(data))
}

/** The events of a transaction that the project knows, and how many others there are. */
export function toldEvents(
  { names, world }: Scene,
  { executed, to, created }: TransactionEvent,
): { readonly told: readonly Told[]; readonly others: number } {
  const logs = executed?.receipt.logs ?? []
  const told = logs.slice(0, LISTED).flatMap((log) => names.event(world, log, to ?? created) ?? [])
  return { told, others: logs.length - told.length }
}

/** Failed transactions of one entry that are explained: each is run again. */
const EXPLAINED = 10

/** The entry once the artifacts that it is told by are read, with what `withStacks` adds; undefined where nothing is waited for. */
export function withNames(entry: Entry): Promise<Entry> | undefined {
  const { call, events, scene } = entry
  const isRun = events.length > 0 || (call !== undefined && askedBy(call) !== undefined)
  const reading = isRun ? scene?.names.runs.catchUp() : undefined
  if (reading === undefined) return withStacks(entry)
  return reading.then(() => withStacks(entry) ?? entry)
}

/** The entry with why and where its transactions failed, and with their traces; undefined where nothing is to be added. */
function withStacks(entry: Entry): Promise<Entry> | undefined {
  const { call, events, scene } = entry
  if (scene === undefined) return undefined
  const transactions = events.filter((event) => event.event === 'transaction')
  const failed = transactions.filter(({ failure }) => failure !== undefined)
  const traced = scene.traces === 'all' ? transactions : scene.traces === 'failed' ? failed : []
  const isTraced =
    scene.traces === 'all' || (scene.traces === 'failed' && call?.error !== undefined)
  const again = isTraced ? call?.again : undefined
  if (failed.length + traced.length === 0) {
    return again && scene.names.runs.traceRun(again).then((callTrace) => ({ ...entry, callTrace }))
  }
  return explained(entry, scene, failed.slice(0, EXPLAINED), traced.slice(0, EXPLAINED))
}

async function explained(
  entry: Entry,
  { names }: Scene,
  failed: readonly TransactionEvent[],
  traced: readonly TransactionEvent[],
): Promise<Entry> {
  const { call } = entry
  const known = call?.error?.solidityStack
  const stacks = await linesOf(failed, async (hash) =>
    known !== undefined && call?.failure?.hash === hash ? known : await names.runs.explain(hash),
  )
  return { ...entry, stacks, traces: await linesOf(traced, names.runs.trace) }
}

/** Lines for transactions, by their hashes; none where they cannot be run again. */
async function linesOf(
  transactions: readonly TransactionEvent[],
  lines: (hash: Hash) => Promise<readonly string[] | undefined>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  for (const { hash } of transactions) {
    const told = await lines(hash).catch(() => undefined)
    if (told !== undefined) found.set(hash, told)
  }
  return found
}

/** `InsufficientBalance(have 1 ether, want 5 ether) at src/Vault.sol:45` of the lines of an explanation. */
export function briefly([reason = '', ...stack]: readonly string[]): string {
  const places = stack.flatMap((line) => /\((about )?([^()]+:\d+):\d+\)$/.exec(line) ?? [])
  const [, about = '', place] = places
  return oneLine(place === undefined ? reason : `${reason} at ${about}${place}`, PHRASE)
}

/** The parts of a told call, event or error for programs. */
export function plainTold(told: Told | ToldCall): { readonly [key: string]: Json | undefined } {
  const { contract, name, signature, values } = told
  const { calls = [], created = undefined } = 'calls' in told ? told : {}
  return {
    contract,
    name,
    signature,
    ...(created && { created: created.address ?? null }),
    ...(calls.length > 0 && {
      calls: calls.map(({ to, input, value, told: inner }) => ({
        to,
        ...(value > 0n ? { value: value.toString() } : {}),
        ...(inner === undefined ? { input: hexFromBytes(input) } : plainTold(inner)),
      })),
    }),
    args: values?.map(({ parameter, value }) => ({
      ...(parameter.name ? { name: parameter.name } : {}),
      type: parameter.type,
      value: plainValue(value),
    })),
  }
}

/** A value as JSON: numbers as decimal text, tuples as lists of what they hold. */
function plainValue(value: unknown): Json {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(plainValue)
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString()
  if (typeof value === 'object' && value !== null && 'value' in value)
    return plainValue(value.value)
  return typeof value === 'boolean' ? value : String(value)
}

function addressIn(text: string | null | undefined): Address | undefined {
  return /^0x[0-9a-f]{40}$/i.test(text ?? '') ? (text?.toLowerCase() as Address) : undefined
}
