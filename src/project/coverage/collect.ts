// Adds up what calls and transactions reached, by code. Codes that differ only in immutables, links or
// constructor arguments count as the same.
import { getOrMake } from '../../core/lrucache.ts'
import type { ReachedCode } from '../../evm/executor.ts'
import { addReached, noCounts, type ReachCounts } from '../../evm/tracers/reached.ts'
import type { Catalogue, Contract, Match } from '../code/catalogue.ts'
import { hashOf } from '../code/shape.ts'

const MOST_WAITING = 1_000

/** Limits for codes without an artifact, kept because one may come later, and for all others. */
const MOST_UNKNOWN = 2_000
const MOST_UNKNOWN_BYTES = 64_000_000
const MOST_CODES = 4_000

type Code = Pick<ReachedCode, 'code' | 'isCreation'>

/** With one of the equal codes. */
export interface RanCode extends Code {
  readonly counts: ReachCounts
}

/** Plain values: another thread may add them to its own. */
export interface CountedCode {
  readonly codes: readonly RanCode[]
  /** What they lack, in words; undefined: nothing. */
  readonly warning: string | undefined
}

const CUT = 'coverage is incomplete: too many contracts ran'

/** Counts a little later than it is called. */
export class Collector {
  readonly #catalogue: Catalogue
  readonly #warn: (warning: string) => void
  readonly #ran = new Map<string, RanCode>()
  readonly #unknown = new Map<string, RanCode>()
  /** Keyed by the engine's own code values. */
  #known = new WeakMap<Uint8Array, RanCode>()
  #version = -1
  readonly #waiting: ReachedCode[] = []
  #unknownBytes = 0
  #warning: string | undefined

  /** @param warn called once, when codes exceed the limit */
  constructor(catalogue: Catalogue, warn: (warning: string) => void) {
    this.#catalogue = catalogue
    this.#warn = warn
  }

  /** What it lacks, in words; undefined: nothing. */
  get warning(): string | undefined {
    return this.#warning
  }

  readonly take = (reached: readonly ReachedCode[]): void => {
    if (this.#waiting.length === 0) setImmediate(() => this.#addAll())
    this.#waiting.push(...reached)
    if (this.#waiting.length >= MOST_WAITING) this.#addAll()
  }

  ran(): readonly RanCode[] {
    this.#addAll()
    this.#lookAgain()
    return [...this.#ran.values()]
  }

  /** What ran, also code without an artifact. */
  counted(): CountedCode {
    return { codes: [...this.ran(), ...this.#unknown.values()], warning: this.#warning }
  }

  add({ codes, warning }: CountedCode): void {
    for (const { counts, ...ran } of codes) this.#addCounts(ran, counts)
    this.#warning ??= warning
  }

  /** Contracts that only resemble the deployed code that ran. */
  alike(): readonly Contract[] {
    const found = [...this.#unknown.values()].flatMap(({ code, isCreation }) => {
      const match = isCreation ? undefined : this.#catalogue.runtime(code)
      return match === undefined ? [] : match.contract
    })
    return [...new Set(found)]
  }

  #addAll(): void {
    this.#lookAgain()
    for (const each of this.#waiting.splice(0)) {
      const ran = this.#known.get(each.code) ?? this.#ranOf(each)
      if (ran !== undefined) addReached(ran.counts, each)
    }
  }

  /** After a change of artifacts, codes may match other contracts. */
  #lookAgain(): void {
    if (this.#version === this.#catalogue.version) return
    this.#version = this.#catalogue.version
    this.#known = new WeakMap()
    const unknown = [...this.#unknown.values()]
    this.#unknown.clear()
    this.#unknownBytes = 0
    for (const { counts, ...ran } of unknown) this.#addCounts(ran, counts)
  }

  #addCounts(given: Code, { starts, marks }: ReachCounts): void {
    const ran = this.#ranOf(given)
    if (ran === undefined) return
    const flat = [...marks].flatMap(([pc, { count, ends }]) => [pc, count, ends])
    addReached(ran.counts, { isCreation: false, starts, marks: Uint32Array.from(flat) })
  }

  #ranOf(reached: Code): RanCode | undefined {
    const match = matchOf(this.#catalogue, reached)
    const ran = match === undefined ? this.#unknownOf(reached) : this.#knownOf(match, reached)
    if (ran === undefined && this.#warning === undefined) {
      this.#warning = CUT
      this.#warn(CUT)
    }
    // engines make new code values for each creation
    if (ran !== undefined && !reached.isCreation) this.#known.set(reached.code, ran)
    return ran
  }

  #knownOf(match: CodeMatch, { isCreation }: Pick<Code, 'isCreation'>): RanCode | undefined {
    const { contract, code } = match
    const shape = isCreation ? contract.creation : contract.runtime
    // the same for all compilations of equal code
    const key = `${isCreation} ${contract.source}:${contract.name} ${shape?.exact} ${code.length}`
    if (this.#ran.size >= MOST_CODES && !this.#ran.has(key)) return undefined
    return kept(this.#ran, key, { code, isCreation })
  }

  #unknownOf(reached: Code): RanCode | undefined {
    const { code, isCreation } = reached
    const key = `${isCreation} ${hashOf(code)}`
    if (!this.#unknown.has(key)) {
      const bytes = this.#unknownBytes + code.length
      if (this.#unknown.size >= MOST_UNKNOWN || bytes > MOST_UNKNOWN_BYTES) return undefined
      this.#unknownBytes = bytes
    }
    return kept(this.#unknown, key, reached)
  }
}

/** A match, and the code without appended arguments. */
type CodeMatch = Match & { readonly code: Uint8Array }

/** Undefined for a guess. */
export function matchOf(catalogue: Catalogue, { code, isCreation }: Code): CodeMatch | undefined {
  if (!isCreation) {
    const match = catalogue.runtime(code)
    return match?.isSame ? { ...match, code } : undefined
  }
  const match = catalogue.creation(code)
  return match?.isSame ? { ...match, code: code.subarray(0, match.argumentsAt) } : undefined
}

function kept(all: Map<string, RanCode>, key: string, { code, isCreation }: Code): RanCode {
  // a copy, because the value may be a view of a much larger buffer
  return getOrMake(all, key, () => ({ code: code.slice(), isCreation, counts: noCounts() }))
}
