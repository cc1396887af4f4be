// Which lines, functions and branches of the user's sources calls and transactions reached: from the marks of runs to a report.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReachedCode } from '../../evm/executor.ts'
import type { Catalogue, Contract } from '../code/catalogue.ts'
import {
  type DetailReader,
  type Details,
  nearest,
  type Source,
  shownPath,
  sourceOf,
} from '../solidity/details.ts'
import { Collector, matchOf } from './collect.ts'
import { type CoverageRow, recordOf } from './lcov.ts'
import { Measure } from './measure.ts'

/** What was reached so far. */
export interface CoverageReport {
  /** In lcov's form. */
  readonly lcov: string
  /** A row for each file, by their paths. */
  readonly rows: readonly CoverageRow[]
  /** What is missing in it, in words; undefined: nothing. */
  readonly warning: string | undefined
}

/** What coverage needs of a project. */
export interface CoverageOptions {
  readonly catalogue: Catalogue
  readonly details: DetailReader
  /** Paths of files are told as seen from here. */
  readonly folder: string
  /** Hears once of what cannot be counted. */
  readonly warn: (warning: string) => void
}

/** Gathers what is reached, and tells it. */
export class Coverage {
  readonly #options: CoverageOptions
  readonly #collector: Collector

  constructor(options: CoverageOptions) {
    this.#options = options
    this.#collector = new Collector(options.catalogue, () => options.warn(CUT))
  }

  /** Takes what a call or transaction reached. */
  readonly take = (reached: readonly ReachedCode[]): void => this.#collector.take(reached)

  close(): void {
    this.#collector.close()
  }

  /** What was reached so far. Build information is read beside the chain, and others get their turns meanwhile. */
  async report(): Promise<CoverageReport> {
    const measure = new Measure()
    await this.#addRan(measure)
    await this.#addOthers(measure)
    const records = measure.files.flatMap((file) => recordOf(file) ?? [])
    return {
      lcov: records.map(({ lcov }) => lcov).join(''),
      rows: records.map(({ row }) => row),
      warning: this.#warning(records.length),
    }
  }

  #warning(files: number): string | undefined {
    if (this.#collector.isCut) return CUT
    if (files > 0) return undefined
    return this.#options.catalogue.isEmpty
      ? 'the coverage report is empty: no artifacts were found (--artifacts names the folder of a project)'
      : 'the coverage report is empty: the sources of the artifacts are not there'
  }

  async #addRan(measure: Measure): Promise<void> {
    const { catalogue } = this.#options
    for (const ran of this.#collector.ran()) {
      const match = matchOf(catalogue, ran)
      const known = match && (await this.#detailsOf(match.contract))
      if (match === undefined || known === undefined) continue
      const { runtimeMap, creationMap, source } = known
      const file = (id: number): { path: string; source: Source } | undefined => {
        const found = source(id)
        const place = found && this.#pathOf(match.contract, found.path)
        return found === undefined || place === undefined
          ? undefined
          : { path: place, source: found }
      }
      const map = (ran.isCreation ? creationMap : runtimeMap)(ran.code)
      if (map !== undefined) measure.add({ ...ran, map, file })
    }
  }

  async #detailsOf(contract: Contract): Promise<Details | undefined> {
    const { details } = this.#options
    await nextTurn()
    await details.prepare([contract])
    return details.of(contract)
  }

  /** Files of which nothing ran. */
  async #addOthers(measure: Measure): Promise<void> {
    for (const contract of [...this.#options.catalogue.contracts()]) {
      const name = shownPath(contract.source)
      if (name === '' || TESTS.test(name)) continue
      const place = this.#pathOf(contract, name)
      if (place === undefined || measure.has(place)) continue
      const source = await this.#sourceOf(contract, name)
      if (source !== undefined) measure.file(place, source)
    }
  }

  /** From its file, which is read sooner than what the compiler said of it. */
  async #sourceOf(contract: Contract, name: string): Promise<Source | undefined> {
    await nextTurn()
    const file = fileOf(contract, name)
    if (file === undefined) {
      const sources = (await this.#detailsOf(contract))?.sources() ?? []
      return sources.find((each) => each.path === name)
    }
    try {
      return sourceOf(name, readFileSync(file, 'utf8'))
    } catch {
      // gone since it was compiled
      return undefined
    }
  }

  /** Where a source is, seen from the folder of the project; undefined for one that is none of the project's own. */
  #pathOf(contract: Contract, name: string): string | undefined {
    if (contract.format === 'foundry' && name.startsWith('lib/')) return undefined
    const file = fileOf(contract, name)
    // what was handed over stands in no folder
    if (file === undefined) return FOREIGN.test(name) || !isHandedOver(contract) ? undefined : name
    const place = path.relative(this.#options.folder, file)
    const parts = place.split(path.sep)
    if (parts.includes('node_modules')) return undefined
    return parts[0] === '..' ? file : parts.join('/')
  }
}

const CUT = 'not all codes that ran are counted: there were too many'

/** Sources of tests and scripts of Foundry: they are told of only where they ran. */
const TESTS = /\.[ts]\.sol$/

/** Paths of packages. */
const FOREIGN = /^@|^(?:hardhat|forge-std|lib)\//

function fileOf({ file }: Contract, name: string): string | undefined {
  // Hardhat has a folder of that name among its artifacts
  return path.isAbsolute(name) ? name : nearest(file, name, (found) => found.isFile())
}

function isHandedOver({ format, file }: Contract): boolean {
  return format === 'compiler' || !path.isAbsolute(file)
}
