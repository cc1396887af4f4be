// What all chains of a program count together: gas, and the coverage of the sources.
import { lazy } from '../core/lrucache.ts'
import type { Artifacts } from './artifacts.ts'
import type { Coverage } from './coverage/coverage.ts'
import { GasTotals } from './gas/report.ts'

interface TotalsOptions {
  readonly artifacts: Artifacts
  /** Reported paths are relative to it. */
  readonly folder: string
  readonly warn: (warning: string) => void
}

export class Totals {
  readonly gas: GasTotals
  readonly coverage: () => Promise<Coverage> = lazy(() => this.#openCoverage())
  readonly #options: TotalsOptions
  #open: Coverage | undefined

  constructor(options: TotalsOptions) {
    this.#options = options
    this.gas = new GasTotals(options.artifacts.catalogue)
  }

  close(): void {
    this.#open?.close()
  }

  async #openCoverage(): Promise<Coverage> {
    const { Coverage } = await import('./coverage/coverage.ts')
    const { artifacts, folder, warn } = this.#options
    const { catalogue, details } = artifacts
    this.#open = new Coverage({ catalogue, details, folder, warn })
    return this.#open
  }
}
