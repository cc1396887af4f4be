// Builds the coverage report of the user's sources from the counts of runs.
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { listed } from '../../core/format.ts'
import type { ReachedCode } from '../../evm/executor.ts'
import type { CommandWatch } from '../../node/chain/execution.ts'
import type { Catalogue, Contract } from '../code/catalogue.ts'
import {
  type DetailReader,
  type Details,
  type SourceFile,
  shownPath,
  sourceOf,
} from '../solidity/details.ts'
import { nearest, textOf } from '../solidity/files.ts'
import { Collector, type CountedCode, matchOf } from './collect.ts'
import { type CoverageRow, recordOf } from './lcov.ts'
import { CodeReading, Measure, type MeasuredFile } from './measure.ts'

export interface CoverageReport {
  readonly lcov: string
  readonly rows: readonly CoverageRow[]
  /** What the report lacks, in words; undefined: nothing. */
  readonly warning: string | undefined
}

interface CoverageOptions {
  readonly catalogue: Catalogue
  readonly details: DetailReader
  /** Reported paths are relative to it. */
  readonly folder: string
  /** Called once for each thing that cannot be counted. */
  readonly warn: (warning: string) => void
}

export class Coverage {
  readonly #options: CoverageOptions
  readonly #collector: Collector

  constructor(options: CoverageOptions) {
    this.#options = options
    this.#collector = new Collector(options.catalogue, options.warn)
  }

  readonly take = (reached: readonly ReachedCode[]): void => this.#collector.take(reached)

  /** Counts a command's transactions once it has succeeded. */
  watch(): CommandWatch {
    let all: ReachedCode[] = []
    return {
      tracer: { onReached: (reached) => void all.push(...reached) },
      begin: () => {
        all = []
      },
      report: () => {
        if (all.length > 0) this.take(all)
      },
    }
  }

  /** What ran here. */
  counted(): CountedCode {
    return this.#collector.counted()
  }

  /**
   * Reads build information beside the chain and yields to other work.
   * @param others counted in other threads
   */
  async report(others: readonly CountedCode[] = []): Promise<CoverageReport> {
    const collector = new Collector(this.#options.catalogue, () => undefined)
    for (const each of [this.counted(), ...others]) collector.add(each)
    const measure = new Measure()
    const gaps = new Gaps()
    await this.#addRan(collector, measure, gaps)
    await this.#addOthers(measure)
    const records = measure.files
      .filter(({ path: place }) => !gaps.has(place))
      .flatMap((file) => recordOf(file) ?? [])
    const isKnown = (place: string): boolean => measure.has(place)
    const warnings = [
      collector.warning ?? this.#warning(measure.files.length),
      gaps.warning(isKnown),
      alikeWarning(collector),
    ]
    return {
      lcov: records.map(({ lcov }) => lcov).join(''),
      rows: records.map(({ row }) => row),
      warning: warnings.filter((each) => each !== undefined).join('; ') || undefined,
    }
  }

  #warning(files: number): string | undefined {
    if (files > 0) return undefined
    return this.#options.catalogue.isEmpty
      ? 'the coverage report is empty: no artifacts were found (--artifacts names the folder of a project)'
      : 'the coverage report is empty: the sources of the artifacts are not there'
  }

  async #addRan(collector: Collector, measure: Measure, gaps: Gaps): Promise<void> {
    for (const ran of collector.ran()) {
      const match = matchOf(this.#options.catalogue, ran)
      if (match === undefined) continue
      const known = await this.#detailsOf(match.contract)
      const map = (ran.isCreation ? known?.creationMap : known?.runtimeMap)?.(ran.code)
      if (known === undefined || map === undefined) {
        this.#leaveOut(gaps, match.contract, new Set())
        continue
      }
      const { source, isMadeUp } = known
      const file = (id: number): MeasuredFile | undefined => {
        const found = source(id)
        const place = found && this.#pathOf(match.contract, found.path)
        return found && place ? measure.file(place, found) : undefined
      }
      new CodeReading({ ...ran, map, file }).read()
      const ids = [...map.sources]
      const isWhole = ids.every((id) => source(id) !== undefined || isMadeUp(id))
      const found = new Set(ids.flatMap((id) => source(id)?.path ?? []))
      if (!isWhole) this.#leaveOut(gaps, match.contract, found)
    }
  }

  /** Leaves out sources that ran without known counts. @param counted sources with known counts */
  #leaveOut(gaps: Gaps, contract: Contract, counted: ReadonlySet<string>): void {
    const own = shownPath(contract.source)
    if (own === '' || this.#pathOf(contract, own) === undefined) return
    const names = this.#options.details.compiledFrom(contract)
    const places = names
      ?.filter((name) => !counted.has(name))
      .flatMap((name) => this.#pathOf(contract, shownPath(name)) ?? [])
    gaps.add(contract.name, places)
  }

  async #detailsOf(contract: Contract): Promise<Details | undefined> {
    await nextTurn()
    return await this.#options.details.of(contract)
  }

  async #addOthers(measure: Measure): Promise<void> {
    for (const contract of this.#options.catalogue.contracts) {
      const name = shownPath(contract.source)
      if (name === '' || TESTS.test(name)) continue
      const place = this.#pathOf(contract, name)
      if (place === undefined || measure.has(place)) continue
      const source = await this.#sourceOf(contract, name)
      if (source !== undefined) measure.file(place, source)
    }
  }

  /** Read from its file, which is faster than from the compiler's output. */
  async #sourceOf(contract: Contract, name: string): Promise<SourceFile | undefined> {
    await nextTurn()
    const file = fileOf(contract, name)
    if (file === undefined) {
      const sources = (await this.#detailsOf(contract))?.sources() ?? []
      return sources.find((each) => each.path === name)
    }
    const content = textOf(file)
    return content === undefined ? undefined : sourceOf(name, content)
  }

  /** The path relative to the project; undefined for sources outside it. */
  #pathOf(contract: Contract, name: string): string | undefined {
    if (contract.format === 'foundry' && name.startsWith('lib/')) return undefined
    const file = fileOf(contract, name)
    // artifacts from RPC methods have no folder
    if (file === undefined) return FOREIGN.test(name) || !isHandedOver(contract) ? undefined : name
    const parts = path.relative(this.#options.folder, file).split(path.sep)
    if (parts.includes('node_modules')) return undefined
    return parts[0] === '..' ? file : parts.join('/')
  }
}

class Gaps {
  readonly #places = new Set<string>()
  readonly #contracts = new Set<string>()
  #isAll = false

  /** @param places that the contract's executed code may belong to; undefined: any */
  add(contract: string, places: readonly string[] | undefined): void {
    if (places?.length === 0) return
    this.#contracts.add(contract)
    this.#isAll ||= places === undefined
    for (const each of places ?? []) this.#places.add(each)
  }

  has(place: string): boolean {
    return this.#isAll || this.#places.has(place)
  }

  warning(isKnown: (place: string) => boolean): string | undefined {
    const places = [...this.#places].filter(isKnown)
    if (!this.#isAll && places.length === 0) return undefined
    const contracts = listed([...this.#contracts])
    const why = `${contracts} ran, but artifact, build information and sources are from different compilations`
    return this.#isAll
      ? `the coverage report is empty: ${why}`
      : `${listed(places)} left out: ${why}`
  }
}

function alikeWarning(collector: Collector): string | undefined {
  const names = collector.alike().map(({ name }) => name)
  if (names.length === 0) return undefined
  return `not counted: code that resembles ${listed(names)} but matches no artifact`
}

/** Foundry tests and scripts appear in the report only if they ran. */
const TESTS = /\.[ts]\.sol$/

const FOREIGN = /^@|^(?:hardhat|forge-std|lib)\//

function fileOf({ file }: Contract, name: string): string | undefined {
  // Hardhat has a folder of that name among its artifacts
  return path.isAbsolute(name) ? name : nearest(file, name, (found) => found.isFile())
}

function isHandedOver({ format, file }: Contract): boolean {
  return format === 'compiler' || !path.isAbsolute(file)
}
