// Log events as plain values: calls, and differences between two chain states. pretty.ts and json.ts format the same events.
import type { ObservedCall } from '../../app/observer.ts'
import { number } from '../../core/format.ts'
import { type Address, type Hash, hexFromBytes } from '../../core/hex.ts'
import { isObject } from '../../core/objects.ts'
import type { ProgressReport } from '../../core/progress.ts'
import { describeIdle } from '../../evm/reasons.ts'
import type { BlockRecord, ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import { headOf, transactionPlace } from '../../node/ledger/blocktree.ts'
import type { BlockRange } from '../../node/ledger/canonicalchain.ts'
import type { MiningState } from '../../node/ledger/chainstate.ts'
import type { DroppedTransaction, StateChange } from '../../node/ledger/change.ts'
import { clockShift } from '../../node/ledger/clock.ts'
import { describeMining } from '../../node/ledger/miningmode.ts'
import type { PeerEvent } from '../../node/peers.ts'
import { arrivedAfter, nextNonce, pooledByHash } from '../../node/pool/pool.ts'
import type { ArtifactsEvent, ProjectHint } from '../../project/events.ts'
import { sumOfBlockGas } from '../../protocol/blocks/receipt.ts'
import { describeCap, NEW_ACCOUNT_STATE_GAS } from '../../protocol/stategas.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import type { Json } from '../../rpc/schema.ts'
import { accountAt } from '../../state/world.ts'
import { type ImportedEvent, importedEvent } from './peers.ts'
import { firstParam } from './request.ts'

/** Before refunds; undefined before amsterdam. */
interface GasParts {
  readonly executionGasUsed?: bigint | undefined
  readonly stateGasUsed?: bigint | undefined
}

/** A mined transaction. Amounts in wei. */
export interface TransactionEvent
  extends Pick<Transaction, 'hash' | 'from' | 'to' | 'value' | 'gasLimit'>,
    GasParts {
  readonly event: 'transaction'
  /** The contract it created, or would have created. */
  readonly created: Address | null
  /** Hex, truncated if long; empty for a creation. */
  readonly input: string
  readonly gasUsed: bigint
  /** The count; undefined for types without blobs. */
  readonly blobs?: number | undefined
  readonly fee: bigint
  readonly block: bigint
  /** The reason in words; undefined if it succeeded. */
  readonly failure:
    | { readonly kind: 'revert' | 'halt'; readonly reason: string; readonly data: string }
    | undefined
  /** Console lines of contracts, oldest first. */
  readonly console: readonly string[]
  /** Notes, for example on calldata sent to an address without code; left out if empty. */
  readonly notes?: readonly string[] | undefined
  /** For looking up names; not written as it is. */
  readonly executed?: ExecutedTransaction | undefined
}

/** A block, or a bulk-mined run of empty ones: `first` to `number`. */
export interface BlockEvent extends Omit<ImportedEvent, 'event' | 'peer'>, GasParts {
  readonly event: 'block'
  readonly gasUsed: bigint
  readonly gasLimit: bigint
  /** Wei per gas; undefined before london. */
  readonly baseFee: bigint | undefined
}

export interface SnapshotEvent {
  readonly event: 'snapshot'
  readonly id: string
  /** Undefined for those of evm_snapshot. */
  readonly name: string | undefined
  readonly block: bigint
}

/** The chain went back to a snapshot (`id`) or genesis, or lost blocks in a reorg. */
export interface BackEvent {
  readonly event: 'revert' | 'reset' | 'reorganization'
  readonly id: string | undefined
  readonly fromBlock: bigint
  readonly toBlock: bigint
  readonly clockSeconds: bigint
  /** The reset began a fork of a network, at `toBlock`. */
  readonly forked?: true
  /** The peer with the new branch; undefined: made here. */
  readonly peer?: string
  readonly lostBlocks?: number
  /** Transactions of lost blocks that are in the pool again, and those dropped. */
  readonly requeued?: Hashes
  readonly lost?: Hashes
}

/** Some hashes and their total count; only the first are listed. */
export interface Hashes {
  readonly count: number
  readonly hashes: readonly Hash[]
}

export interface ClockEvent {
  readonly event: 'clock'
  readonly clockSeconds: bigint
  /** After increases, their sum; else how far the clock is ahead of its source. */
  readonly offsetSeconds: bigint
}

/** Transactions entered the pool and were not mined. */
export interface WaitingEvent {
  readonly event: 'waiting'
  readonly added: Hashes
  readonly poolSize: number
  /** For a transaction behind a nonce gap: its nonce, and the missing one. */
  readonly nonce?: bigint
  readonly nextNonce?: bigint
}

/** A transaction left the pool because it became invalid. */
export interface DroppedEvent extends Pick<Transaction, 'hash' | 'from' | 'nonce'> {
  readonly event: 'dropped'
  readonly reason: string
}

/** What the end of the log counts. */
export const COUNTED = [
  'calls',
  'failedCalls',
  'transactions',
  'failedTransactions',
  'blocks',
] as const

export type Counts = Readonly<Record<(typeof COUNTED)[number], number>>

export interface EndEvent extends Counts {
  readonly event: 'end'
  readonly durationMs: number
}

/** A request or an interval block that takes long and is still running; others, which get no line, are counted. */
export interface RunningEvent extends Omit<ProgressReport, 'name'> {
  readonly event: 'running'
  readonly method: string
}

export interface HintEvent extends Omit<ProjectHint, 'event'> {
  readonly event: 'hint'
}

export type ChainEvent =
  | TransactionEvent
  | BlockEvent
  | SnapshotEvent
  | BackEvent
  | ClockEvent
  | { readonly event: 'mining'; readonly mining: MiningState }
  | WaitingEvent
  | DroppedEvent
  | ImportedEvent

export type LineEvent = (
  | HintEvent
  | RunningEvent
  | { readonly event: 'notice'; readonly text: string }
  | ArtifactsEvent
  | ({ readonly event: 'peer' } & PeerEvent)
  // the caller got "internal error"
  | { readonly event: 'bug'; readonly stack: string }
  // dropped because the log's reader is too slow
  | { readonly event: 'overflow'; readonly lines: number }
  | EndEvent
) & {
  /** Undefined for the default chain. */
  readonly chain?: string | undefined
}

/** Bytes of an input or return data in an event. */
const INPUT_LIMIT = 4_096

function transactionEvent(executed: ExecutedTransaction, record: BlockRecord): TransactionEvent {
  const { transaction, receipt, failure, consoleLines } = executed
  const { used, price } = receipt.blobGas ?? { used: 0n, price: 0n }
  return {
    event: 'transaction',
    hash: transaction.hash,
    from: transaction.from,
    to: transaction.to,
    created: receipt.contractAddress,
    input: transaction.to === null ? '' : hexFromBytes(transaction.data.subarray(0, INPUT_LIMIT)),
    value: transaction.value,
    gasUsed: receipt.gasUsed,
    gasLimit: transaction.gasLimit,
    executionGasUsed: receipt.blockGas?.execution,
    stateGasUsed: receipt.blockGas?.state,
    blobs: transaction.blobs?.versionedHashes.length,
    fee: receipt.gasUsed * receipt.effectiveGasPrice + used * price,
    block: record.block.header.number,
    failure: failure && {
      kind: failure.kind,
      reason: failure.reason,
      data: hexFromBytes(executed.output.subarray(0, INPUT_LIMIT)),
    },
    console: consoleLines.map((line) => line.text),
    notes: remarksOn(executed, record),
    executed,
  }
}

function remarksOn(
  executed: ExecutedTransaction,
  record: BlockRecord,
): readonly string[] | undefined {
  const { transaction, failure, output, isAlone = false } = executed
  if (isTooPoorForAccount(executed, record)) {
    const gas = number(NEW_ACCOUNT_STATE_GAS)
    return [`${transaction.to} would be a new account, which costs ${gas} gas of state`]
  }
  const cap = failure && describeCap(failure.reason, executed.receipt.blockGas)
  if (cap !== undefined) return [cap]
  if (!isAlone || failure !== undefined || record.isStateless) return undefined
  const remark = describeIdle(transaction, { isAlone, output, world: record.world })
  return remark === undefined ? undefined : [remark]
}

/** Wallets and scripts give a transfer 21,000 gas, which from amsterdam on is too little for a new account (EIP-8037). */
function isTooPoorForAccount(
  { transaction: { to, value }, receipt, failure }: ExecutedTransaction,
  { world, isStateless }: BlockRecord,
): boolean {
  if (receipt.blockGas === undefined || failure?.reason !== 'out of gas') return false
  return to !== null && value > 0n && isStateless !== true && accountAt(world, to) === undefined
}

function blockEvent(record: BlockRecord, first: bigint): BlockEvent {
  const { header, hash, transactions } = record.block
  const receipts = record.executed.map(({ receipt }) => receipt)
  const parts = receipts[0]?.blockGas && sumOfBlockGas(receipts)
  return {
    event: 'block',
    first,
    number: header.number,
    hash,
    transactions: transactions.length,
    gasUsed: header.gasUsed,
    gasLimit: header.gasLimit,
    executionGasUsed: parts?.execution,
    stateGasUsed: parts?.state,
    baseFee: header.baseFeePerGas,
    timestamp: header.timestamp,
  }
}

/** Each block's transactions, then the block; consecutive empty blocks are one event. */
function blockEvents(added: BlockRange): ChainEvent[] {
  const events: ChainEvent[] = []
  for (const { first, record } of added.segments()) {
    const last = events.at(-1)
    const isRun = record.executed.length === 0 && last?.event === 'block' && last.transactions === 0
    if (isRun) events.pop()
    for (const executed of record.executed) events.push(transactionEvent(executed, record))
    events.push(blockEvent(record, isRun ? last.first : first))
  }
  return events
}

/** The parts of a call that decide how its change is logged. */
export type ChangeCause = Pick<
  ObservedCall,
  'method' | 'params' | 'result' | 'error' | 'effects' | 'failure'
>

const LISTED = 100

function hashesOf(transactions: readonly Transaction[]): Hashes {
  const hashes = transactions.slice(0, LISTED).map(({ hash }) => hash)
  return { count: transactions.length, hashes }
}

/** The hash of the sent transaction: the result, inside it, or in the failure of a call that sent one. */
export function sentHash({ effects, result, failure }: ChangeCause): Hash | undefined {
  if (effects !== 'transaction') return undefined
  const found = failure?.hash ?? (isObject(result) ? result.transactionHash : result)
  return typeof found === 'string' ? (found as Hash) : undefined
}

/** A snapshot id as a QUANTITY; callers give hex, a number or decimal text. */
function quantityText(value: Json | undefined): string {
  const text = String(value)
  return /^\d+$/.test(text) ? `0x${BigInt(text).toString(16)}` : text
}

/** The snapshot reverted to; devchain_revert returns it. */
function snapshotText({ params, result }: ChangeCause): string {
  return isObject(result) ? String(result.name ?? result.id) : quantityText(firstParam(params))
}

/** The kind of revert, by the method's name. Aliases change prefixes, so only the end is compared. */
function wayBack(cause: ChangeCause | undefined): Pick<BackEvent, 'event' | 'id'> | undefined {
  if (cause === undefined || cause.error !== undefined) return undefined
  if (cause.method.endsWith('_reset')) return { event: 'reset', id: undefined }
  // evm_revert returns false for an unknown snapshot
  if (!cause.method.endsWith('_revert') || cause.result === false) return undefined
  return { event: 'revert', id: snapshotText(cause) }
}

function backEvent(change: StateChange, way: Pick<BackEvent, 'event' | 'id'>): BackEvent {
  const { upstream } = change.after.config
  const isForked = way.event === 'reset' && upstream !== change.before.config.upstream
  return {
    ...way,
    ...(isForked && upstream !== undefined ? { forked: true } : {}),
    fromBlock: newestNumber(change.before),
    toBlock: newestNumber(change.after),
    clockSeconds: clockJumpBack(change),
  }
}

/**
 * Seconds by which a change moved the clock: the increases if the caller gave them, else the growth of the
 * offset to its source.
 */
function clockJump({ before, after }: StateChange): bigint {
  const increased = after.clock.offset - before.clock.offset
  return increased === 0n ? clockShift(after.clock) - clockShift(before.clock) : increased
}

/** As `clockJump` for a lost branch: also counts other clock changes beyond what the lost blocks ran ahead. */
function clockJumpBack(change: StateChange): bigint {
  const moved = clockShift(change.after.clock) - clockShift(change.before.clock)
  const jump = clockJump(change)
  const ahead = BigInt(change.head.removed.length)
  return moved < jump - ahead || moved > jump + ahead ? moved : jump
}

function newestNumber(state: StateChange['before']): bigint {
  return BigInt(state.tree.canonical.length - 1)
}

function snapshotEvents(change: StateChange): SnapshotEvent[] {
  const { before, after } = change
  if (after.nextSnapshotId <= before.nextSnapshotId) return []
  const newest = after.nextSnapshotId - 1
  const named = [...after.namedSnapshots.values()].find(({ id }) => id === newest)
  const id = `0x${newest.toString(16)}`
  return [{ event: 'snapshot', id, name: named?.name, block: newestNumber(after) }]
}

function droppedEvent({ transaction, error }: DroppedTransaction): DroppedEvent {
  const { hash, from, nonce } = transaction
  return { event: 'dropped', hash, from, nonce, reason: error.message }
}

function settingEvents(change: StateChange, cause: ChangeCause | undefined): ChainEvent[] {
  const { before, after, head } = change
  const events: ChainEvent[] = []
  // with a fixed block interval every block moves the clock; the block's line shows its time
  const clockSeconds = head.added.length === 0 ? clockJump(change) : 0n
  if (clockSeconds !== 0n) {
    const { offset } = after.clock
    const offsetSeconds = offset === before.clock.offset ? clockShift(after.clock) : offset
    events.push({ event: 'clock', clockSeconds, offsetSeconds })
  }
  const { mining } = after
  if (describeMining(mining) !== describeMining(before.mining)) {
    events.push({ event: 'mining', mining })
  }
  const isGrown = after.pool.size > before.pool.size
  if (isGrown && head.added.length + head.removed.length === 0) {
    const added = newlyWaiting(change, cause)
    events.push({ event: 'waiting', added, poolSize: after.pool.size, ...gapBefore(change, added) })
  }
  return events
}

/** Transactions that entered the pool. Without a hash, it searches the whole pool. */
function newlyWaiting({ before, after }: StateChange, cause: ChangeCause | undefined): Hashes {
  const hash = cause && sentHash(cause)
  const count = after.pool.size - before.pool.size
  if (count === 1 && hash !== undefined && hasEntered({ before, after }, hash)) {
    return { count, hashes: [hash] }
  }
  const entered = arrivedAfter(after.pool, before.pool.lastArrival)
  return { ...hashesOf(entered.map(({ transaction }) => transaction)), count }
}

/** The nonce missing before the single new transaction, if any. */
function gapBefore(
  { after }: StateChange,
  { count, hashes: [hash] }: Hashes,
): Pick<WaitingEvent, 'nonce' | 'nextNonce'> {
  const entered = count === 1 && hash !== undefined ? pooledByHash(after.pool, hash) : undefined
  if (entered === undefined) return {}
  const { from, nonce } = entered.transaction
  const expected = nextNonce(after.pool, headOf(after.tree).world, from)
  return nonce > expected ? { nonce, nextNonce: expected } : {}
}

/** True if the change added a waiting transaction. */
export function hasEntered(
  { before, after }: Pick<StateChange, 'before' | 'after'>,
  hash: Hash,
): boolean {
  return (
    pooledByHash(after.pool, hash) !== undefined && pooledByHash(before.pool, hash) === undefined
  )
}

function leftovers({
  before,
  after,
  head,
}: StateChange): Pick<BackEvent, 'lostBlocks' | 'requeued' | 'lost'> {
  const removed = [...head.removed.filled()].flatMap(({ block }) => block.transactions)
  const requeued = removed.filter(({ hash }) => hasEntered({ before, after }, hash))
  const lost = removed.filter(
    ({ hash }) =>
      pooledByHash(after.pool, hash) === undefined &&
      transactionPlace(after.tree, hash) === undefined,
  )
  return { lostBlocks: head.removed.length, requeued: hashesOf(requeued), lost: hashesOf(lost) }
}

/** Events for a peer's blocks: replaced blocks are mentioned, their transactions not one by one. */
function importEvents(change: StateChange, peer: string): ChainEvent[] {
  const imported = importedEvent(change)
  const lost = imported?.number === 0n ? [] : lostEvents(change, { peer })
  const dropped = change.dropped.map(droppedEvent)
  return [...lost, ...dropped, ...(imported === undefined ? [] : [imported])]
}

/** The reorg of a change that removed blocks; empty for others. */
function lostEvents(change: StateChange, by: Pick<BackEvent, 'peer'>): BackEvent[] {
  if (change.head.removed.length === 0) return []
  const back = backEvent(change, { event: 'reorganization', id: undefined })
  return [{ ...back, ...by, ...leftovers(change) }]
}

/** All events of a change, the cause's headline first. */
export function changeEvents(change: StateChange, cause: ChangeCause | undefined): ChainEvent[] {
  if (change.peer !== undefined) return importEvents(change, change.peer)
  const way = wayBack(cause)
  // blocks that it adds are of the snapshot or the network: none was mined
  if (way !== undefined) return [backEvent(change, way)]
  const lost = lostEvents(change, {})
  const settings = settingEvents(change, cause).filter(
    ({ event }) => lost.length === 0 || event !== 'clock',
  )
  const dropped = change.dropped.map(droppedEvent)
  return [
    ...lost,
    ...snapshotEvents(change),
    ...settings,
    ...dropped,
    ...blockEvents(change.head.added),
  ]
}
