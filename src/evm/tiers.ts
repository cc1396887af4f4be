// Which machine runs a job: the fastest that can, and the one below it when the fastest has a bug.
import { DevchainError } from '../core/errors.ts'
import type { Hash } from '../core/hex.ts'
import type { EvmChoice } from './executor.ts'
import type { Machine } from './machine.ts'
import { Unready } from './precompiles/precompile.ts'
import type { Turns } from './turns.ts'

/** A machine, by name, loaded when it is first needed. */
export interface Tier {
  readonly name: string
  readonly load: () => Promise<Machine>
}

/** What of a job decides on its machine. */
export interface Subject {
  /** True: only the last tier, the reference, can run it. */
  readonly needsReference: boolean
  /** Hash of the code that begins; asked only when some code has failed on a tier. */
  readonly codeHash: () => Hash
}

/** What all jobs of an executor share. */
export interface Workshop {
  readonly tiers: Tiers
  /** Bytes of memory that the open frames of one run may have together. */
  readonly memoryLimit: number
  /** Of its long runs. */
  readonly turns: Turns
  /** True once everything that runs is to be given up. */
  readonly isClosed: () => boolean
}

/** Codes that each tier keeps in mind as failing on it; a program that fails everywhere has few. */
const FAILING_LIMIT = 1_000

/**
 * The tiers of a choice, from the fastest to the reference, which every other falls back on.
 * @param onBug told when a compiler has failed on some code, which then is interpreted
 */
export function tiersOf(choice: EvmChoice, onBug: (error: unknown) => void): readonly Tier[] {
  const reference: Tier = {
    name: 'reference',
    load: async () => (await import('./reference.ts')).createReferenceMachine(),
  }
  const interpreter: Tier = {
    name: 'interpreter',
    load: async () => (await import('./fast/machine.ts')).createFastMachine(),
  }
  const compiler: Tier = {
    name: 'compiler',
    load: async () => {
      const { createFastMachine } = await import('./fast/machine.ts')
      const { createHotCode } = await import('./fast/compiler/hotcode.ts')
      return createFastMachine(createHotCode(onBug))
    },
  }
  if (choice === 'reference') return [reference]
  return choice === 'interpreter' ? [interpreter, reference] : [compiler, interpreter, reference]
}

/** Runs work on one of its tiers. */
export class Tiers {
  readonly #tiers: readonly Tier[]
  readonly #machines: (Machine | undefined)[]
  /** For each tier the codes that failed on it: jobs that begin with them run on the tier below. */
  readonly #failing: readonly Set<Hash>[]
  readonly #onBug: (error: unknown) => void

  /** @param onBug told of the bugs of tiers, once for each code */
  constructor(tiers: readonly Tier[], onBug: (error: unknown) => void) {
    this.#tiers = tiers
    this.#machines = tiers.map(() => undefined)
    this.#failing = tiers.map(() => new Set())
    this.#onBug = onBug
  }

  /**
   * Does `work` on a machine. It must begin anew each time it is called: when a tier fails, the next one is tried, and
   * nobody hears of it but `onBug`.
   * @returns a promise only when something has to wait
   * @throws {DevchainError} what the work throws; and whatever the last tier throws
   */
  run<T>(subject: Subject, work: (machine: Machine) => T | Promise<T>): T | Promise<T> {
    return this.#runOn(this.#firstFor(subject), subject, work)
  }

  #firstFor({ needsReference, codeHash }: Subject): number {
    const last = this.#tiers.length - 1
    if (needsReference) return last
    const index = this.#failing.findIndex((codes) => codes.size === 0 || !codes.has(codeHash()))
    return index === -1 ? last : index
  }

  #runOn<T>(
    index: number,
    subject: Subject,
    work: (machine: Machine) => T | Promise<T>,
  ): T | Promise<T> {
    const machine = this.#machines[index]
    if (machine === undefined) return this.#loadAndRun(index, subject, work)
    try {
      const result = work(machine)
      if (!(result instanceof Promise)) return result
      return result.catch((error: unknown) => this.#recover(error, index, subject, work))
    } catch (error) {
      return this.#recover(error, index, subject, work)
    }
  }

  async #loadAndRun<T>(
    index: number,
    subject: Subject,
    work: (machine: Machine) => T | Promise<T>,
  ): Promise<T> {
    const tier = this.#tiers[index]
    if (tier === undefined) throw new Error(`there is no tier ${index}`)
    this.#machines[index] ??= await tier.load()
    return this.#runOn(index, subject, work)
  }

  /** Goes on after an error: with the same tier, with the one below, or not at all. */
  #recover<T>(
    error: unknown,
    index: number,
    subject: Subject,
    work: (machine: Machine) => T | Promise<T>,
  ): T | Promise<T> {
    if (error instanceof Unready) {
      return error.ready.then(() => this.#runOn(index, subject, work))
    }
    if (error instanceof DevchainError || index === this.#tiers.length - 1) throw error
    this.#mark(error, index, subject.codeHash())
    return this.#runOn(index + 1, subject, work)
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
