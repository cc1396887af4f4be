// A transaction or call, run again, as a named call trace: for the log, `devchain trace` and programs.
import { larger } from '../../core/bigints.ts'
import { checksumAddress } from '../../core/crypto/crypto.ts'
import { bytes, ether, number, oneLine, short } from '../../core/format.ts'
import { type Address, type Hash, hexFromBytes, quantityFromBigint } from '../../core/hex.ts'
import type { Touched } from '../../evm/executor.ts'
import { type CallFrame, recordCalls } from '../../evm/tracers/calls.ts'
import { combineTracers } from '../../evm/tracers/combine.ts'
import { recordTouched } from '../../evm/tracers/recorders.ts'
import { replayOne, TraceBudget } from '../../node/calls/replay.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { Rerun } from '../../node/chain/failedrun.ts'
import { minedPlace } from '../../node/ledger/leftblocks.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import { MissingState } from '../../state/misses.ts'
import { accountAt, slotValue, type World } from '../../state/world.ts'
import { selectorOf } from '../naming/callees.ts'
import type { Described } from '../naming/described.ts'
import type { Names } from '../naming/names.ts'
import { type KeySource, mappingKeys, type ReadSlot, slotChanges, storageTexts } from './storage.ts'

interface TraceNode {
  readonly type: CallFrame['kind']
  readonly from: Address
  readonly to: Address | null
  /** `Vault.withdraw(5 ether)`; hex if no name is known. */
  readonly name: string
  readonly value: string
  /** With state gas. */
  readonly gasUsed: string
  readonly input: string
  readonly output: string
  readonly result?: string
  readonly error?: string
  /** Events and calls in order. */
  readonly steps: readonly (TraceNode | TraceEvent)[]
}

interface TraceEvent {
  readonly type: 'EVENT'
  readonly address: Address
  readonly name: string
}

interface TraceStorage {
  readonly address: Address
  readonly name: string
  readonly changes: readonly string[]
}

export interface CallTrace {
  readonly call: TraceNode
  readonly storage: readonly TraceStorage[]
  readonly lines: readonly string[]
}

export interface TracedTransaction {
  readonly top: CallFrame
  readonly touched: Touched
  readonly before: World
  readonly after: World
}

interface Tracing extends TracedTransaction {
  readonly names: Names
  /** Storage layouts of accounts after the run, as the compiler gives them. */
  readonly layouts: ReadonlyMap<Address, unknown>
}

/** Characters of a name in a line. */
const LINE = 300

/** @throws {DevchainError} `NOT_FOUND` if no block of the chain has it, `LIMIT_EXCEEDED` for too many calls */
export async function tracedMined(chain: Chain, hash: Hash): Promise<TracedTransaction> {
  const place = minedPlace(chain.state, hash)
  const { tracer: calls, top } = recordAllCalls()
  const { tracer: touching, touched } = recordTouched([])
  const tracer = combineTracers([calls, touching])
  const { before, outcome } = await replayOne(chain, place, (_, i) =>
    i === place.index ? tracer : undefined,
  )
  const whole = { ...top(), gasUsed: outcome.gasUsed, stateGasUsed: 0n }
  return { top: whole, touched, before, after: outcome.world }
}

/** Runs a call again and keeps its call frames; its changes are discarded. */
export async function tracedRerun(rerun: Rerun): Promise<TracedTransaction> {
  const { tracer, top } = recordAllCalls()
  const world = await rerun(tracer)
  return { top: top(), touched: new Map(), before: world, after: world }
}

function recordAllCalls(): ReturnType<typeof recordCalls> {
  return recordCalls({ withLogs: true, keep: new TraceBudget(Number.POSITIVE_INFINITY).keep })
}

export function traceOf(tracing: Tracing): CallTrace {
  const { top } = tracing
  const call = nodeOf(tracing, top)
  const storage = top.failure === undefined ? storageOf(tracing) : []
  return { call, storage, lines: traceLines(call, storage) }
}

function nodeOf(tracing: Tracing, frame: CallFrame): TraceNode {
  const { names, before, after } = tracing
  const { kind, from, to, value, gasUsed, stateGasUsed = 0n, input, output, failure } = frame
  const described = names.frame(after, frame, before)
  const result = failure === undefined ? described?.answer(output) : undefined
  return {
    type: kind,
    from,
    to,
    name: described === undefined ? plainName(tracing, frame) : fullName(described, frame),
    value: quantityFromBigint(value),
    gasUsed: quantityFromBigint(larger(gasUsed + stateGasUsed, 0n)),
    input: hexFromBytes(input),
    output: hexFromBytes(output),
    ...(result ? { result } : {}),
    ...(failure === undefined ? {} : { error: errorOf(tracing, frame) }),
    steps: stepsOf(tracing, frame),
  }
}

/** A function known only by its selector is prefixed with the account. */
function fullName(described: Described, { to }: CallFrame): string {
  const { contract, text } = described
  if (to === null) return text
  const account = short(checksumAddress(to))
  if (described.created) return `${text} by ${account}`
  return contract === undefined ? `${account}.${text}` : text
}

function plainName({ names, after }: Tracing, frame: CallFrame): string {
  const { kind, to, input, isPrecompile } = frame
  if (kind === 'CREATE' || kind === 'CREATE2') return 'contract'
  if (to === null) return ''
  const address = short(checksumAddress(to))
  if (kind === 'SELFDESTRUCT') return `selfdestruct to ${names.argumentName(after, to) ?? address}`
  if (isPrecompile) return `precompile ${Number(to)}`
  return [names.label(to) ?? address, selectorOf(input)].filter(Boolean).join('.')
}

function errorOf({ names, after }: Tracing, { to, output, failure }: CallFrame): string {
  const described = names.error(after, to, output)
  return described?.text ?? failure?.reason.replace(/^revert (?=.)/, '') ?? ''
}

/** Events go after the calls that came before them. */
function stepsOf(tracing: Tracing, frame: CallFrame): (TraceNode | TraceEvent)[] {
  const steps: (TraceNode | TraceEvent)[] = []
  const logs = [...frame.logs]
  const take = (position: number): void => {
    while (logs[0] !== undefined && logs[0].position <= position) {
      steps.push(eventOf(tracing, frame, logs.shift()!.log))
    }
  }
  for (const [i, call] of frame.calls.entries()) {
    take(i)
    steps.push(nodeOf(tracing, call))
  }
  take(frame.calls.length)
  return steps
}

function eventOf({ names, after }: Tracing, { kind, from, to }: CallFrame, log: Log): TraceEvent {
  const described = names.event(after, log, kind === 'DELEGATECALL' ? from : to)
  const [topic = ''] = log.topics
  const raw = `${short(topic)} ${bytes(hexFromBytes(log.data))}`
  return { type: 'EVENT', address: log.address, name: described?.text ?? raw }
}

function storageOf({ names, layouts, top, touched, before, after }: Tracing): TraceStorage[] {
  const keys = mappingKeys(keysIn(top))
  return [...touched].flatMap(([address, slots]) => {
    const read = readerOf(before, after, address)
    const changes = slotChanges(slots, read)
    if (changes.length === 0) return []
    const name = names.nameOf(after, address) ?? short(checksumAddress(address))
    const naming = { layout: layouts.get(address), keys, style: names.style(after, address) }
    return [{ address, name, changes: storageTexts(naming, changes, read) }]
  })
}

/** Slots of an account before and after; those a fork has not fetched are unknown. */
function readerOf(before: World, after: World, address: Address): ReadSlot {
  const accounts = [before, after].map((world) => accountAt(world, address))
  return (slot) => {
    try {
      const [old = 0n, now = 0n] = accounts.map((each) => each && slotValue(each.storage, slot))
      return { before: old, after: now }
    } catch (error) {
      if (error instanceof MissingState) return undefined
      throw error
    }
  }
}

function* keysIn({ from, to, input, logs, calls }: CallFrame): Iterable<KeySource> {
  yield { addresses: [from, to], logs: logs.map(({ log }) => log), input }
  for (const call of calls) yield* keysIn(call)
}

function traceLines(call: TraceNode, storage: readonly TraceStorage[]): string[] {
  return [
    nodeLine(call),
    ...childLines(call, ''),
    ...storage.flatMap(({ name, changes }) =>
      changes.map((each) => oneLine(`storage ${name}.${each}`, LINE)),
    ),
  ]
}

function childLines({ steps }: TraceNode, indent: string): string[] {
  return steps.flatMap((step, i) => {
    const isLast = i === steps.length - 1
    const line = step.type === 'EVENT' ? oneLine(`event ${step.name}`, LINE) : nodeLine(step)
    const below =
      step.type === 'EVENT' ? [] : childLines(step, `${indent}${isLast ? '   ' : '│  '}`)
    return [`${indent}${isLast ? '└─ ' : '├─ '}${line}`, ...below]
  })
}

/** `Vault.withdraw(5 ether) · gas 26,184 · ✗ InsufficientBalance(have 1 ether, want 5 ether)` */
function nodeLine({ type, name, value, gasUsed, result, error }: TraceNode): string {
  const isCreation = type === 'CREATE' || type === 'CREATE2'
  const kind =
    type === 'CALL' || type === 'SELFDESTRUCT' || isCreation ? '' : ` (${type.toLowerCase()})`
  const parts = [`${isCreation ? 'new ' : ''}${name}${kind}`]
  if (BigInt(value) > 0n && type !== 'DELEGATECALL') parts.push(`value ${ether(BigInt(value))}`)
  if (type !== 'SELFDESTRUCT') parts.push(`gas ${number(BigInt(gasUsed))}`)
  if (result !== undefined) parts.push(`→ ${result}`)
  if (error !== undefined) parts.push(`✗ ${error}`)
  return oneLine(parts.join(' · '), LINE)
}
