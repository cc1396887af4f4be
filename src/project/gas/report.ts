// How much gas the functions of a project use: counted as blocks are mined, whatever is reverted later.
import type { Chain } from '../../node/chain/chain.ts'
import type { ExecutedTransaction } from '../../node/ledger/blockrecord.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import type { World } from '../../state/world.ts'
import type { Catalogue } from '../code/catalogue.ts'
import type { Names } from '../naming/names.ts'

/** What the transactions to one function used. */
export interface GasRow {
  readonly contract: string
  /** `deposit(string)`, `(deployment)` */
  readonly function: string
  readonly calls: number
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
  /** How many transactions used an amount. */
  readonly amounts: Map<number, number>
}

/** Counts the transactions of a chain from now on. */
export class GasReport {
  readonly #names: Names
  readonly #catalogue: Catalogue
  readonly #usages = new Map<string, Usage>()
  #waiting: StateChange[] = []
  #timer: NodeJS.Immediate | undefined
  readonly #end: () => void

  constructor(chain: Chain, names: Names, catalogue: Catalogue) {
    this.#names = names
    this.#catalogue = catalogue
    this.#end = chain.onChange((change) => this.#await(change))
  }

  /** What was counted, by contract and function. */
  rows(): readonly GasRow[] {
    this.#countAll()
    return [...this.#usages.values()]
      .map(rowOf)
      .sort((a, b) => compare(a.contract, b.contract) || compare(a.function, b.function))
  }

  close(): void {
    clearImmediate(this.#timer)
    this.#end()
  }

  /** Counted later: names are looked up for it. */
  #await(change: StateChange): void {
    if (change.head.added.length === 0) return
    this.#waiting.push(change)
    if (this.#waiting.length >= MOST_WAITING) this.#countAll()
    // before the first artifact is read nothing has a name
    else if (!this.#catalogue.isEmpty) this.#timer ??= setImmediate(() => this.#countAll())
  }

  #countAll(): void {
    clearImmediate(this.#timer)
    this.#timer = undefined
    const waiting = this.#waiting
    this.#waiting = []
    for (const change of waiting) this.#countChange(change)
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
    // what failed says little of what a function needs
    if (failure !== undefined) return
    const { to, data } = transaction
    const told = to === null ? this.#names.creation(world, data) : this.#names.call(world, to, data)
    if (told?.contract === undefined) return
    const called = told.signature ?? (data.length < 4 ? 'receive()' : 'fallback()')
    const name = to === null ? '(deployment)' : called
    const key = `${told.contract} ${name}`
    const usage = this.#usages.get(key) ?? {
      contract: told.contract,
      function: name,
      amounts: new Map<number, number>(),
    }
    if (!this.#usages.has(key) && this.#usages.size >= MOST_FUNCTIONS) return
    this.#usages.set(key, usage)
    add(usage.amounts, Number(receipt.gasUsed))
  }
}

function add(amounts: Map<number, number>, gas: number): void {
  const isFull = amounts.size >= MOST_AMOUNTS && !amounts.has(gas)
  const amount = isFull ? Math.round(gas / ROUNDING) * ROUNDING : gas
  amounts.set(amount, (amounts.get(amount) ?? 0) + 1)
}

function rowOf({ contract, function: name, amounts }: Usage): GasRow {
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
    calls,
    min: sorted[0]?.[0] ?? 0,
    average: Math.round(total / calls),
    median: Math.round(median),
    max: sorted.at(-1)?.[0] ?? 0,
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
