// Which lines, functions and branches of the user's sources calls and transactions reached: from the marks of runs to a report.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { ReachedCode } from '../../evm/executor.ts'
import type { Catalogue, Contract } from '../code/catalogue.ts'
import {
  type DetailReader,
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
}

/** Gathers what is reached, and tells it. */
export class Coverage {
  readonly #options: CoverageOptions
  readonly #collector: Collector

  constructor(options: CoverageOptions) {
    this.#options = options
    this.#collector = new Collector(options.catalogue)
  }

  /** Takes what a call or transaction reached. */
  readonly take = (reached: readonly ReachedCode[]): void => this.#collector.take(reached)

  close(): void {
    this.#collector.close()
  }

  report(): CoverageReport {
    const measure = new Measure()
    this.#addRan(measure)
    this.#addOthers(measure)
    const records = measure.files.flatMap((file) => recordOf(file) ?? [])
    const warning = this.#collector.isCut
      ? 'not all codes that ran are counted: there were too many'
      : undefined
    return {
      lcov: records.map(({ lcov }) => lcov).join(''),
      rows: records.map(({ row }) => row),
      warning,
    }
  }

  #addRan(measure: Measure): void {
    const { catalogue, details } = this.#options
    for (const ran of this.#collector.ran()) {
      const match = matchOf(catalogue, ran)
      const known = match && details.of(match.contract)
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

  /** Files of which nothing ran. */
  #addOthers(measure: Measure): void {
    for (const contract of this.#options.catalogue.contracts()) {
      const name = shownPath(contract.source)
      if (name === '' || TESTS.test(name)) continue
      const place = this.#pathOf(contract, name)
      if (place === undefined || measure.has(place)) continue
      const source = this.#sourceOf(contract, name)
      if (source !== undefined) measure.file(place, source)
    }
  }

  /** From its file, which is read sooner than what the compiler said of it. */
  #sourceOf(contract: Contract, name: string): Source | undefined {
    const file = fileOf(contract, name)
    if (file === undefined) {
      const sources = this.#options.details.of(contract)?.sources() ?? []
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
