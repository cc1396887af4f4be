// Selects the fastest machine for a job, and falls back to the next one on a bug.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { LruCache, lazy } from '../../core/lrucache.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { EvmChoice } from '../executor.ts'
import { type Machine, type Machines, Unrepeatable } from '../machine.ts'
import { Unready } from '../precompiles/precompile.ts'

export interface Tier {
  readonly name: string
  readonly load: () => Promise<Machine>
}

/** Failing codes of a tier that are remembered; at most twice as many. */
const FAILING_LIMIT = 500

type OnBug = (error: unknown) => void

type CodeHash = () => Hash

/**
 * All chains of a process run on the same machines, and so share compiled code and instances: V8 collects all garbage for
 * each new one, as it counts the 84 MB that one may come to use.
 */
const TIERS: readonly Tier[] = [
  // the only entry to fast/compiler: without it everything works, but slower
  {
    name: 'compiler',
    load: lazy(async () => {
      const { FastMachine } = await import('../fast/machine.ts')
      const { HotCodeCompiler } = await import('../fast/compiler/hotcode.ts')
      return new FastMachine(new HotCodeCompiler())
    }),
  },
  {
    name: 'interpreter',
    load: lazy(async () => new (await import('../fast/machine.ts')).FastMachine()),
  },
  {
    name: 'reference',
    load: async () => (await import('../reference/machine.ts')).createReferenceMachine(),
  },
]

/** From the choice to the reference, the last fallback. */
export function tiersOf(choice: EvmChoice): readonly Tier[] {
  return choice === 'auto' ? TIERS : TIERS.slice(TIERS.findIndex(({ name }) => name === choice))
}

export class Tiers implements Machines {
  readonly #tiers: readonly Tier[]
  readonly #machines: (Machine | undefined)[]
  /** By tier, the codes that failed on it: their jobs run on the next tier. */
  readonly #failing: readonly LruCache<Hash, true>[]
  readonly #onBug: OnBug

  /** @param onBug reports each failing code of a tier once */
  constructor(tiers: readonly Tier[], onBug: OnBug) {
    this.#tiers = tiers
    this.#machines = tiers.map(() => undefined)
    this.#failing = tiers.map(() => new LruCache(FAILING_LIMIT))
    this.#onBug = onBug
  }

  /** A tier's failure is reported to `onBug` only. */
  run<T>(codeHash: CodeHash, work: (machine: Machine) => MaybePromise<T>): MaybePromise<T> {
    return this.#runOn(this.#firstFor(codeHash), codeHash, work)
  }

  #firstFor(codeHash: CodeHash): number {
    const index = this.#failing.findIndex(
      (codes) => codes.size === 0 || codes.get(codeHash()) === undefined,
    )
    return index === -1 ? this.#tiers.length - 1 : index
  }

  #runOn<T>(
    index: number,
    codeHash: CodeHash,
    work: (machine: Machine) => MaybePromise<T>,
  ): MaybePromise<T> {
    const machine = this.#machines[index]
    if (machine === undefined) return this.#loadAndRun(index, codeHash, work)
    try {
      const result = work(machine)
      if (!(result instanceof Promise)) return result
      return result.catch((error: unknown) => this.#recover(error, index, codeHash, work))
    } catch (error) {
      return this.#recover(error, index, codeHash, work)
    }
  }

  async #loadAndRun<T>(
    index: number,
    codeHash: CodeHash,
    work: (machine: Machine) => MaybePromise<T>,
  ): Promise<T> {
    const tier = this.#tiers[index]
    if (tier === undefined) throw new Error(`there is no tier ${index}`)
    this.#machines[index] ??= await tier.load()
    return this.#runOn(index, codeHash, work)
  }

  #recover<T>(
    error: unknown,
    index: number,
    codeHash: CodeHash,
    work: (machine: Machine) => MaybePromise<T>,
  ): MaybePromise<T> {
    if (error instanceof Unready) return error.ready.then(() => this.#runOn(index, codeHash, work))
    if (error instanceof Unrepeatable) throw error.cause
    if (error instanceof DevchainError || index === this.#tiers.length - 1) throw error
    this.#mark(error, index, codeHash())
    return this.#runOn(index + 1, codeHash, work)
  }

  #mark(error: unknown, index: number, codeHash: Hash): void {
    const codes = this.#failing[index]
    if (codes?.get(codeHash) === true) return
    codes?.set(codeHash, true)
    const name = this.#tiers[index]?.name
    const problem = `the ${name} engine failed on code ${codeHash}; the next one runs it instead`
    this.#onBug(new Error(problem, { cause: error }))
  }
}
