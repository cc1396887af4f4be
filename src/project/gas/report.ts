// Counts gas used by a project's functions as blocks are mined; later reverts do not change it.
import { plural } from '../../core/format.ts'
import type { Address } from '../../core/hex.ts'
import { getOrMake } from '../../core/lrucache.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import { CREATE2_DEPLOYER } from '../../state/predeploys.ts'
import type { World } from '../../state/world.ts'
import type { Catalogue } from '../code/catalogue.ts'
import { adminOf } from '../code/proxies.ts'
import { hashOf } from '../code/shape.ts'
import type { CallMessage } from '../naming/callees.ts'
import type { Names } from '../naming/names.ts'
import { type InnerCalls, watchInnerCalls } from './inner.ts'

/** Gas of one function's calls; amounts are 0 if none succeeded. */
export interface GasRow {
  readonly contract: string
  /** `deposit(string)`, `(deployment)` */
  readonly function: string
  /** Transactions with their whole cost, or calls by contracts within them with the call's gas alone. */
  readonly kind: 'transaction' | 'inner'
  /** Successful calls, which the amounts are about. */
  readonly calls: number
  readonly failed: number
  readonly min: number
  readonly average: number
  readonly median: number
  readonly max: number
  /** The average state gas, part of `average`; undefined before amsterdam. */
  readonly state?: number | undefined
}

/** Of all transactions, with and without a name; gas after refunds. */
export interface RunTotals {
  readonly transactions: number
  readonly failed: number
  readonly logs: number
  readonly gasUsed: number
  readonly stateGasUsed: number
}

export interface GasSummary {
  readonly totals: RunTotals
  readonly rows: readonly GasRow[]
  /** For each row, how many logs its successful transactions emitted. */
  readonly logs: readonly number[]
  /** Why the report is empty or incomplete; undefined if complete. */
  readonly warning: string | undefined
}

/** Functions counted, and distinct amounts per function; above that, amounts are rounded. */
const MOST_FUNCTIONS = 10_000
const MOST_AMOUNTS = 10_000
const ROUNDING = 1_000

/** Changes queued for counting: each keeps its blocks in memory. */
const MOST_WAITING = 1_000

/** Limits for code without an artifact yet: functions called, and bytes of creations. */
const MOST_UNSETTLED = 5_000
const MOST_UNSETTLED_BYTES = 64_000_000

interface Counts {
  readonly amounts: Map<number, number>
  failed: number
  logs: number
  /** The sum of state gas; undefined before amsterdam. */
  state: number | undefined
}

interface RowKey {
  readonly contract: string
  readonly function: string
  readonly kind: GasRow['kind']
}

type Usage = RowKey & Counts

/** Plain values: another thread may add them to its own. */
export interface CountedGas {
  readonly totals: RunTotals
  readonly usages: readonly Usage[]
  /** Transactions without a name. */
  readonly unnamed: number
  readonly isCut: boolean
}

/** A call, or a creation if `to` is null, with the accounts at that time. */
interface Called extends Omit<CallMessage, 'to'> {
  readonly kind: GasRow['kind']
  readonly to: Address | null
  readonly through: Address | undefined
  readonly world: World
}

export class GasReport {
  readonly #chain: Chain
  readonly #names: Names
  readonly #warn: (warning: string) => void
  readonly #catalogue: Catalogue
  readonly #usages = new Map<string, Usage>()
  /** Calls of code without an artifact yet; their names are looked up for the report. */
  readonly #unsettled = new Map<string, { readonly called: Called; readonly counts: Counts }>()
  #unsettledBytes = 0
  #totals = NO_TOTALS
  #version = 0
  #isCut = false
  readonly #waiting: (() => void)[] = []
  readonly #end: () => void

  /** @param warn called once, if not everything can be counted */
  constructor(chain: Chain, names: Names, catalogue: Catalogue, warn: (warning: string) => void) {
    this.#chain = chain
    this.#warn = warn
    this.#names = names
    this.#catalogue = catalogue
    this.#end = chain.onChange((change) => {
      if (change.head.added.length > 0) this.#wait(() => this.#countChange(change))
    })
  }

  /** Also counts calls within transactions from now on, which requires call frames. */
  countInner(): void {
    const take = (all: readonly InnerCalls[]): void => {
      const { world } = this.#names
      this.#wait(() => {
        for (const calls of all) this.#countInner(calls, world)
      })
    }
    this.#chain.execution.watchCommands(() => watchInnerCalls(take))
  }

  summary(): GasSummary {
    return summaryOf([this.counted()], this.#catalogue)
  }

  /** Under current names. A function may be there twice. */
  counted(): CountedGas {
    this.settle()
    const usages = [...this.#usages.values()]
    let unnamed = 0
    for (const { called, counts } of this.#unsettled.values()) {
      const rowKey = this.#rowKeyOf(called)
      if (rowKey !== undefined) usages.push({ ...rowKey, ...counts })
      else if (called.kind === 'transaction') unnamed += callsOf(counts) + counts.failed
    }
    return { usages, totals: this.#totals, unnamed, isCut: this.#isCut }
  }

  close(): void {
    this.#countAll()
    this.#end()
  }

  /** Queued, because looking up names takes time. */
  #wait(count: () => void): void {
    if (this.#waiting.length === 0) setImmediate(() => this.#countAll())
    this.#waiting.push(count)
    if (this.#waiting.length >= MOST_WAITING) this.#countAll()
  }

  #countAll(): void {
    for (const count of this.#waiting.splice(0)) count()
  }

  #countChange({ head }: StateChange): void {
    const known = new Set<string>()
    for (const { block } of head.removed.filled()) {
      for (const { hash } of block.transactions) known.add(hash)
    }
    for (const record of head.added.filled()) {
      for (const executed of record.executed) {
        // a transaction that a reorg includes again was counted already
        if (!known.has(executed.transaction.hash)) this.#count(executed, record.world)
      }
    }
  }

  #count(executed: ExecutedTransaction, world: World): void {
    const { transaction, receipt, failure } = executed
    this.#totals = sumOf(this.#totals, totalsOf(executed))
    const { from, to, data: input } = transaction
    const through = undefined
    const counts = this.#countsOf({ kind: 'transaction', from, to, input, through, world })
    if (counts === undefined) return
    // a failure says little about a function's gas
    if (failure === undefined) {
      add(counts.amounts, Number(receipt.gasUsed))
      counts.logs += receipt.logs.length
      addState(counts, receipt.blockGas && Number(receipt.blockGas.state))
    } else counts.failed += 1
  }

  #countInner(calls: InnerCalls, world: World): void {
    const { to, input, through, isHandedOn, gas, state, failed } = calls
    const counts = this.#countsOf({ kind: 'inner', to, input, through, isHandedOn, world })
    if (counts === undefined) return
    for (const amount of gas) add(counts.amounts, amount)
    addState(counts, state)
    counts.failed += failed
  }

  /** Counts under the final name; undefined if it is not final yet or there are too many. */
  #countsOf(called: Called): Counts | undefined {
    const codes = this.#codesOf(called)
    if (codes.length === 0) return undefined
    const isKnown = this.#isKnown(called)
    if (isKnown && this.#isSecond(called)) return undefined
    const rowKey = isKnown ? this.#rowKeyOf(called) : undefined
    return rowKey === undefined ? this.#unsettledOf(called, codes) : this.#usageOf(rowKey)
  }

  #usageOf(rowKey: RowKey): Usage | undefined {
    if (this.#usages.size < MOST_FUNCTIONS || this.#usages.has(keyOf(rowKey)))
      return usageIn(this.#usages, rowKey)
    this.#cut()
    return undefined
  }

  #unsettledOf(called: Called, codes: readonly Uint8Array[]): Counts | undefined {
    const { kind, from, to, through, isHandedOn, world } = called
    const isAdmin = to !== null && from !== undefined && adminOf(world, to) === from
    const isCreation = creationIn(called) !== undefined
    const input = isCreation ? called.input : called.input.subarray(0, SELECTOR_LENGTH)
    const hashes = [input, ...codes].map(hashOf)
    const key = [kind, to, isAdmin, through, isHandedOn, ...hashes].join(' ')
    const known = this.#unsettled.get(key)
    if (known !== undefined) return known.counts
    const isFull =
      this.#unsettled.size >= MOST_UNSETTLED ||
      this.#unsettledBytes + input.length > MOST_UNSETTLED_BYTES
    if (isFull) {
      this.#cut()
      return undefined
    }
    this.#unsettledBytes += input.length
    const counts = noCounts()
    this.#unsettled.set(key, { called: { ...called, input: input.slice() }, counts })
    return counts
  }

  /** Assigns queued counts to artifacts that have arrived since, which later ones may replace. */
  settle(): void {
    this.#countAll()
    if (this.#version === this.#catalogue.version) return
    this.#version = this.#catalogue.version
    for (const [key, { called, counts }] of this.#unsettled) {
      const rowKey = this.#isKnown(called) ? this.#rowKeyOf(called) : undefined
      if (rowKey === undefined) continue
      this.#unsettled.delete(key)
      this.#unsettledBytes -= called.input.length
      const usage = this.#usageOf(rowKey)
      if (usage !== undefined) addCounts(usage, counts)
    }
  }

  /** Undefined for calls without a name, and for those not counted. */
  #rowKeyOf(called: Called): RowKey | undefined {
    const { kind, to, input, world } = called
    if (this.#isSecond(called)) return undefined
    const described =
      to === null
        ? this.#names.creation(world, input, null)
        : this.#names.call(world, { ...called, to })
    if (described?.contract === undefined) return undefined
    const isCreation = to === null || described.created !== undefined
    // the contract has no function with the selector
    const name = described.signature ?? (described.name || '(no data)')
    return { contract: described.contract, function: isCreation ? '(deployment)' : name, kind }
  }

  /** True for the forwarded half of a proxied call. */
  #isSecond({ through, world }: Called): boolean {
    return through !== undefined && this.#names.identities.of(world, through)?.via !== undefined
  }

  /** The codes that decide the name; empty for an account without code. */
  #codesOf({ to, input, through, world }: Called): readonly Uint8Array[] {
    if (to === null) return [input]
    const accounts = through === undefined ? [to] : [to, through]
    return accounts.flatMap((each) => this.#names.identities.of(world, each)?.codes ?? [])
  }

  /** True if artifacts describe the code that runs in the end. */
  #isKnown(called: Called): boolean {
    const { to, through, world } = called
    const creation = creationIn(called)
    if (creation !== undefined) return this.#catalogue.creation(creation)?.isSame === true
    return [to, through].every((address) => {
      if (address == null) return true
      const last = this.#names.identities.of(world, address)?.codes.at(-1)
      return last !== undefined && this.#catalogue.runtime(last)?.isSame === true
    })
  }

  #cut(): void {
    if (this.#isCut) return
    this.#isCut = true
    this.#warn(CUT)
  }
}

/** The gas of several chains, also of those that have ended. */
export class GasTotals {
  readonly #catalogue: Catalogue
  readonly #reports = new Set<GasReport>()
  /** Of chains that have ended. */
  #ended = merged([])

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue
  }

  join(report: GasReport): void {
    this.#reports.add(report)
  }

  /** Keeps what a chain has counted, under the names that are known now. */
  leave(report: GasReport): void {
    this.#reports.delete(report)
    this.#ended = merged([this.#ended, report.counted()])
  }

  /** To be called when artifacts have arrived. */
  settle(): void {
    for (const report of this.#reports) report.settle()
  }

  counted(): CountedGas {
    return merged([this.#ended, ...[...this.#reports].map((report) => report.counted())])
  }

  /** @param others counted in other threads */
  summary(others: readonly CountedGas[]): GasSummary {
    return summaryOf([this.counted(), ...others], this.#catalogue)
  }
}

function merged(all: readonly CountedGas[]): CountedGas {
  const usages = new Map<string, Usage>()
  for (const usage of all.flatMap((each) => each.usages)) addCounts(usageIn(usages, usage), usage)
  return {
    usages: [...usages.values()],
    totals: all.map(({ totals }) => totals).reduce(sumOf, NO_TOTALS),
    unnamed: all.reduce((sum, { unnamed }) => sum + unnamed, 0),
    isCut: all.some(({ isCut }) => isCut),
  }
}

const NO_TOTALS: RunTotals = {
  transactions: 0,
  failed: 0,
  logs: 0,
  gasUsed: 0,
  stateGasUsed: 0,
}

function totalsOf({ receipt, failure }: ExecutedTransaction): RunTotals {
  return {
    transactions: 1,
    failed: failure === undefined ? 0 : 1,
    logs: receipt.logs.length,
    gasUsed: Number(receipt.gasUsed),
    stateGasUsed: Number(receipt.blockGas?.state ?? 0n),
  }
}

function sumOf(a: RunTotals, b: RunTotals): RunTotals {
  const sum = { ...a }
  for (const name of Object.keys(b) as (keyof RunTotals)[]) sum[name] += b[name]
  return sum
}

function summaryOf(counts: readonly CountedGas[], catalogue: Catalogue): GasSummary {
  const { usages, totals, unnamed, isCut } = merged(counts)
  const sorted = [...usages].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  const rows = sorted.map(rowOf)
  const warning = isCut ? CUT : emptiness(rows.length, unnamed, catalogue)
  return { rows, logs: sorted.map(({ logs }) => logs), totals, warning }
}

/** Why there are no rows; undefined if there are some, or nothing ran. */
function emptiness(rows: number, unnamed: number, catalogue: Catalogue): string | undefined {
  if (rows > 0 || unnamed === 0) return undefined
  const ran = plural(unnamed, 'transaction')
  return catalogue.isEmpty
    ? `the gas report is empty: ${ran} ran, but no artifacts were found (--artifacts names the folder of a project)`
    : `the gas report is empty: ${ran} ran code without an artifact`
}

const CUT = 'the gas report is incomplete: too many functions, or too much code without an artifact'

const SELECTOR_LENGTH = 4

/** The deterministic deployment factory's input: a salt of 32 bytes, then creation code. */
const SALT_LENGTH = 32

function creationIn({ to, input }: Pick<Called, 'to' | 'input'>): Uint8Array | undefined {
  if (to === null) return input
  return to === CREATE2_DEPLOYER.address ? input.subarray(SALT_LENGTH) : undefined
}

function usageIn(usages: Map<string, Usage>, rowKey: RowKey): Usage {
  return getOrMake(usages, keyOf(rowKey), () => ({ ...rowKey, ...noCounts() }))
}

function keyOf({ kind, contract, function: name }: RowKey): string {
  return `${kind} ${contract} ${name}`
}

function callsOf({ amounts }: Counts): number {
  return [...amounts.values()].reduce((sum, count) => sum + count, 0)
}

function noCounts(): Counts {
  return { amounts: new Map<number, number>(), failed: 0, logs: 0, state: undefined }
}

function addCounts(sum: Counts, { amounts, failed, logs, state }: Counts): void {
  for (const [gas, count] of amounts) add(sum.amounts, gas, count)
  sum.failed += failed
  sum.logs += logs
  addState(sum, state)
}

function addState(counts: Counts, gas: number | undefined): void {
  if (gas !== undefined) counts.state = (counts.state ?? 0) + gas
}

function add(amounts: Map<number, number>, gas: number, count = 1): void {
  const isFull = amounts.size >= MOST_AMOUNTS && !amounts.has(gas)
  const amount = isFull ? Math.round(gas / ROUNDING) * ROUNDING : gas
  amounts.set(amount, (amounts.get(amount) ?? 0) + count)
}

function rowOf(usage: Usage): GasRow {
  const { contract, function: name, kind, amounts, failed, state } = usage
  const calls = callsOf(usage)
  const sorted = [...amounts].sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [gas, count]) => sum + gas * count, 0)
  const at = (rank: number): number => {
    let seen = 0
    for (const [gas, count] of sorted) {
      seen += count
      if (seen > rank) return gas
    }
    return 0
  }
  const median = (at(Math.floor((calls - 1) / 2)) + at(Math.floor(calls / 2))) / 2
  return {
    contract,
    function: name,
    kind,
    calls,
    failed,
    min: sorted[0]?.[0] ?? 0,
    average: calls === 0 ? 0 : Math.round(total / calls),
    median: Math.round(median),
    max: sorted.at(-1)?.[0] ?? 0,
    ...(state === undefined ? {} : { state: Math.round(state / calls) }),
  }
}

/** Rows are in the order of these: by contract and function, transactions first. */
function placeOf({ contract, function: name, kind }: RowKey): string {
  return [contract, name, kind === 'transaction' ? 0 : 1].join('\0')
}
