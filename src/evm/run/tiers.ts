// Selects the fastest machine for a job, and falls back to the next one on a bug.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import type { MaybePromise } from '../../core/promises.ts'
import type { EvmChoice } from '../executor.ts'
import { type Machine, Unrepeatable } from '../machine.ts'
import { Unready } from '../precompiles/precompile.ts'
import type { Machines } from '../runcontext.ts'

export interface Tier {
  readonly name: string
  readonly load: () => Promise<Machine>
}

const FAILING_LIMIT = 1_000

type OnBug = (error: unknown) => void

type CodeHash = () => Hash

/** From the fastest to the reference, the last fallback. */
const TIERS: readonly { name: string; load: (onBug: OnBug) => Promise<Machine> }[] = [
  // the only entry to fast/compiler: without it everything works, but slower
  {
    name: 'compiler',
    load: async (onBug) => {
      const { createFastMachine } = await import('../fast/machine.ts')
      const { createHotCode } = await import('../fast/compiler/hotcode.ts')
      return createFastMachine(createHotCode(onBug))
    },
  },
  {
    name: 'interpreter',
    load: async () => (await import('../fast/machine.ts')).createFastMachine(),
  },
  {
    name: 'reference',
    load: async () => (await import('../reference/machine.ts')).createReferenceMachine(),
  },
]

/** @param onBug reports compiler failures; the code is then interpreted */
export function tiersOf(choice: EvmChoice, onBug: OnBug): readonly Tier[] {
  const first = choice === 'auto' ? 0 : TIERS.findIndex(({ name }) => name === choice)
  return TIERS.slice(first).map(({ name, load }) => ({ name, load: () => load(onBug) }))
}

export class Tiers implements Machines {
  readonly #tiers: readonly Tier[]
  readonly #machines: (Machine | undefined)[]
  /** By tier, the codes that failed on it: their jobs run on the next tier. */
  readonly #failing: readonly Set<Hash>[]
  readonly #onBug: (error: unknown) => void

  /** @param onBug reports each failing code of a tier once */
  constructor(tiers: readonly Tier[], onBug: (error: unknown) => void) {
    this.#tiers = tiers
    this.#machines = tiers.map(() => undefined)
    this.#failing = tiers.map(() => new Set())
    this.#onBug = onBug
  }

  /** A tier's failure is reported to `onBug` only. */
  run<T>(codeHash: CodeHash, work: (machine: Machine) => MaybePromise<T>): MaybePromise<T> {
    return this.#runOn(this.#firstFor(codeHash), codeHash, work)
  }

  #firstFor(codeHash: CodeHash): number {
    const index = this.#failing.findIndex((codes) => codes.size === 0 || !codes.has(codeHash()))
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
    if (error instanceof Unready) {
      return error.ready.then(() => this.#runOn(index, codeHash, work))
    }
    if (error instanceof Unrepeatable) throw error.cause
    if (error instanceof DevchainError || index === this.#tiers.length - 1) throw error
    this.#mark(error, index, codeHash())
    return this.#runOn(index + 1, codeHash, work)
  }

  #mark(error: unknown, index: number, codeHash: Hash): void {
    const codes = this.#failing[index]
    if (codes === undefined || codes.has(codeHash)) return
    const [oldest] = codes
    if (codes.size >= FAILING_LIMIT && oldest !== undefined) codes.delete(oldest)
    codes.add(codeHash)
    const name = this.#tiers[index]?.name
    const problem = `the ${name} engine failed on code ${codeHash}; the next one runs it instead`
    this.#onBug(new Error(problem, { cause: error }))
  }
}
