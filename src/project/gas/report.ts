// How much gas the functions of a project use: counted as blocks are mined, whatever is reverted later.
import type { Address } from '../../core/hex.ts'
import type { Chain } from '../../node/chain/chain.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import type { World } from '../../state/world.ts'
import type { Catalogue } from '../code/catalogue.ts'
import type { Message } from '../naming/callees.ts'
import type { Names } from '../naming/names.ts'
import { type InnerCalls, InnerCallWatch } from './inner.ts'

/** What the calls of one function used; amounts are 0 where none succeeded. */
export interface GasRow {
  readonly contract: string
  /** `deposit(string)`, `(deployment)` */
  readonly function: string
  /** Transactions, with all that they cost; or calls by other contracts within them, with the gas of the call alone. */
  readonly kind: 'transaction' | 'inner'
  /** Those that succeeded: amounts are of them. */
  readonly calls: number
  readonly failed: number
  readonly min: number
  readonly average: number
  readonly median: number
  readonly max: number
}

/** Functions that are counted, and different amounts of one: beyond these amounts are rounded. */
const MOST_FUNCTIONS = 10_000
const MOST_AMOUNTS = 10_000
const ROUNDING = 1_000

/** Changes that wait to be counted: a change keeps its blocks in memory. */
const MOST_WAITING = 1_000

interface Usage {
  readonly contract: string
  readonly function: string
  readonly kind: GasRow['kind']
  /** How many calls used an amount. */
  readonly amounts: Map<number, number>
  failed: number
}

/** What is called, or created where `to` is null. */
interface Called extends Omit<Message, 'to'> {
  readonly to: Address | null
}

/** Calls within transactions, and the accounts when they were made. */
interface WaitingCalls {
  readonly calls: readonly InnerCalls[]
  readonly world: World
}

/** Counts the transactions of a chain from now on. */
export class GasReport {
  readonly #names: Names
  readonly #catalogue: Catalogue
  readonly #usages = new Map<string, Usage>()
  #waiting: (StateChange | WaitingCalls)[] = []
  #timer: NodeJS.Immediate | undefined
  readonly #end: () => void

  constructor(chain: Chain, names: Names, catalogue: Catalogue) {
    this.#names = names
    this.#catalogue = catalogue
    this.#end = chain.onChange((change) => this.#await(change))
  }

  /** Counts calls within transactions too, from now on: frames are told of for it. */
  countInner(chain: Chain): void {
    const take = (calls: readonly InnerCalls[]): void =>
      this.#wait({ calls, world: this.#names.world })
    chain.watchCommands(() => new InnerCallWatch(take))
  }

  /** What was counted, by contract and function. */
  rows(): readonly GasRow[] {
    this.#countAll()
    return [...this.#usages.values()]
      .map(rowOf)
      .sort(
        (a, b) =>
          compare(a.contract, b.contract) ||
          compare(a.function, b.function) ||
          compare(b.kind, a.kind),
      )
  }

  close(): void {
    clearImmediate(this.#timer)
    this.#end()
  }

  /** Counted later: names are looked up for it. */
  #await(change: StateChange): void {
    if (change.head.added.length > 0) this.#wait(change)
  }

  #wait(what: StateChange | WaitingCalls): void {
    this.#waiting.push(what)
    if (this.#waiting.length >= MOST_WAITING) this.#countAll()
    // before the first artifact is read nothing has a name
    else if (!this.#catalogue.isEmpty) this.#timer ??= setImmediate(() => this.#countAll())
  }

  #countAll(): void {
    clearImmediate(this.#timer)
    this.#timer = undefined
    const waiting = this.#waiting
    this.#waiting = []
    for (const each of waiting) {
      if ('head' in each) this.#countChange(each)
      else for (const calls of each.calls) this.#countInner(calls, each.world)
    }
  }

  #countChange({ head }: StateChange): void {
    const known = new Set<string>()
    for (const { block } of head.removed.filled()) {
      for (const { hash } of block.transactions) known.add(hash)
    }
    for (const record of head.added.filled()) {
      for (const executed of record.executed) {
        // what comes back after a reorganization was counted
        if (!known.has(executed.transaction.hash)) this.#count(executed, record.world)
      }
    }
  }

  #count({ transaction, receipt, failure }: ExecutedTransaction, world: World): void {
    const { from, to, data } = transaction
    const usage = this.#usageOf('transaction', { from, to, input: data }, world)
    if (usage === undefined) return
    // what failed says little of what a function needs
    if (failure === undefined) add(usage.amounts, Number(receipt.gasUsed))
    else usage.failed += 1
  }

  #countInner({ to, input, through, isHandedOn, gas, failed }: InnerCalls, world: World): void {
    // what a proxy hands on is the same call
    const handing = through && this.#names.identities.of(world, through)
    if (handing?.via !== undefined) return
    const usage = this.#usageOf('inner', { to, input, isHandedOn }, world)
    if (usage === undefined) return
    for (const amount of gas) add(usage.amounts, amount)
    usage.failed += failed
  }

  /** Undefined for what has no name, and where there is too much. */
  #usageOf(kind: GasRow['kind'], called: Called, world: World): Usage | undefined {
    const { to, input } = called
    const told =
      to === null
        ? this.#names.creation(world, input, null)
        : this.#names.call(world, { ...called, to })
    if (told?.contract === undefined) return undefined
    // a selector that the contract has no function for
    const function_ = told.signature ?? (told.name || '(no data)')
    const name = to === null ? '(deployment)' : function_
    const key = `${kind} ${told.contract} ${name}`
    const known = this.#usages.get(key)
    if (known !== undefined || this.#usages.size >= MOST_FUNCTIONS) return known
    const { contract } = told
    const made = { contract, function: name, kind, amounts: new Map<number, number>(), failed: 0 }
    this.#usages.set(key, made)
    return made
  }
}

function add(amounts: Map<number, number>, gas: number): void {
  const isFull = amounts.size >= MOST_AMOUNTS && !amounts.has(gas)
  const amount = isFull ? Math.round(gas / ROUNDING) * ROUNDING : gas
  amounts.set(amount, (amounts.get(amount) ?? 0) + 1)
}

function rowOf({ contract, function: name, kind, amounts, failed }: Usage): GasRow {
  const sorted = [...amounts].sort(([a], [b]) => a - b)
  const calls = sorted.reduce((sum, [, count]) => sum + count, 0)
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
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
