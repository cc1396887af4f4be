// The door to the user's artifacts: finds them, and loads their reader and what uses them once there are some.
import path from 'node:path'
import { lazy } from '../core/lrucache.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { Artifacts } from './artifacts.ts'
import type { CountedCode } from './coverage/collect.ts'
import type { Coverage, CoverageReport } from './coverage/coverage.ts'
import type { ProjectEvent } from './events.ts'
import type { CountedGas, GasSummary, GasTotals } from './gas/report.ts'
import type { FolderWatch } from './reading/watch.ts'

/** Milliseconds for which the first calls have the processor before artifacts are read. */
const FIRST_CALLS_MS = 20

interface ArtifactsDoorOptions {
  readonly settings: Pick<DevchainSettings, 'artifacts' | 'abi' | 'noArtifacts' | 'trace'>
  /** Searched for artifacts if no option names them; undefined: no search. */
  readonly folder: string | undefined
  readonly report: (event: ProjectEvent) => void
  readonly onBug: (error: unknown) => void
  /** Contracts may have other names. */
  readonly onNames: () => void
  /** Undefined if there are none. */
  readonly otherThreads?: OtherThreads | undefined
}

/** What threads have in common besides their settings. */
export interface OtherThreads {
  /** Gives added artifacts to them. */
  readonly share: (added: AddedArtifacts) => Promise<unknown>
  /** What their chains ran. */
  readonly countedCode: () => Promise<readonly CountedCode[]>
}

/** Artifacts from a client: a path, or JSON. */
export interface AddedArtifacts {
  readonly given: unknown
  readonly name: string
}

/** The artifacts, and the class that uses them for one chain. */
export interface Loaded {
  readonly artifacts: Artifacts
  /** What all chains of the program count together. */
  readonly gas: GasTotals
  readonly coverage: () => Promise<Coverage>
  readonly Project: typeof import('./project.ts').Project
}

export class ArtifactsDoor {
  readonly #options: ArtifactsDoorOptions
  readonly #chains = new Set<(loaded: Loaded) => void>()
  #loaded: Loaded | undefined
  #start: NodeJS.Timeout | undefined
  #watch: FolderWatch | undefined
  #isClosed = false
  #hasRead = false

  constructor(options: ArtifactsDoorOptions) {
    this.#options = options
  }

  /** Reported paths are relative to it. */
  get folder(): string {
    return this.#options.folder ?? process.cwd()
  }

  /**
   * Joins a chain.
   * @param onLoaded called once the reader is loaded, before it reads
   * @returns leaves; when the last chain leaves, the door closes
   */
  join(onLoaded: (loaded: Loaded) => void): () => void {
    this.#chains.add(onLoaded)
    if (this.#loaded !== undefined) onLoaded(this.#loaded)
    return () => {
      this.#chains.delete(onLoaded)
      if (this.#chains.size === 0) this.close()
    }
  }

  readSoon(): void {
    this.#start = setTimeout(() => void this.read(), FIRST_CALLS_MS).unref()
  }

  /** Finds and reads artifacts, once; never rejects. */
  readonly read: () => Promise<void> = lazy(async () => {
    await this.#read().catch(this.#options.onBug)
    this.#hasRead = true
  })

  /** The artifacts that were there at the start have been read, or nobody needs them any more. */
  get hasRead(): boolean {
    return this.#hasRead || this.#isClosed
  }

  /** Reads the disk again, as a compiler may just have finished; never rejects. */
  async refresh(): Promise<void> {
    await this.read()
    await this.#readNews().catch(this.#options.onBug)
  }

  /**
   * The gas of all chains, also of those that have ended.
   * @param others counted in other threads
   */
  async gasSummary(others: readonly CountedGas[]): Promise<GasSummary> {
    return (await this.#fresh()).gas.summary(others)
  }

  /** The gas of this thread's chains. */
  async countedGas(): Promise<CountedGas> {
    return (await this.#fresh()).gas.counted()
  }

  /** The coverage of all chains of all threads, also of those that have ended. */
  async coverage(): Promise<CoverageReport> {
    const others = (await this.#options.otherThreads?.countedCode()) ?? []
    return await (await (await this.#fresh()).coverage()).report(others)
  }

  /** What this thread's chains ran. */
  async countedCode(): Promise<CountedCode> {
    return (await (await this.#fresh()).coverage()).counted()
  }

  /** A reading may outlive the program. */
  readonly #report = (event: ProjectEvent): void => {
    if (!this.#isClosed) this.#options.report(event)
  }

  async #fresh(): Promise<Loaded> {
    await this.refresh()
    return await this.open()
  }

  /**
   * Adds artifacts from a client, for the chains of all threads.
   * @returns the count of contracts
   * @throws {DevchainError} `INVALID_PARAMS` for what are none
   */
  async add(added: AddedArtifacts): Promise<number> {
    const count = await this.take(added)
    await this.#options.otherThreads?.share(added)
    return count
  }

  /** The same for the chains of this thread. */
  async take({ given, name }: AddedArtifacts): Promise<number> {
    const { artifacts } = await this.open()
    return typeof given === 'string' ? await artifacts.add(given) : artifacts.addValue(given, name)
  }

  /** Loads the reader on first use. */
  readonly open: () => Promise<Loaded> = lazy(() => this.#load())

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#start)
    this.#watch?.close()
    this.#loaded?.artifacts.close()
  }

  async #load(): Promise<Loaded> {
    const report = this.#report
    const { onBug, onNames } = this.#options
    const [{ Artifacts }, { Project }, { GasTotals }] = await Promise.all([
      import('./artifacts.ts'),
      import('./project.ts'),
      import('./gas/report.ts'),
    ])
    const { folder } = this
    const onRead = (): void => {
      gas.settle()
      onNames()
    }
    const artifacts = new Artifacts({ folder, report, onBug, onRead })
    if (this.#isClosed) artifacts.close()
    const warn = (warning: string): void => report({ event: 'artifacts', warning })
    const { catalogue, details } = artifacts
    const gas = new GasTotals(catalogue)
    const coverage = lazy(async () => {
      const { Coverage } = await import('./coverage/coverage.ts')
      return new Coverage({ catalogue, details, folder, warn })
    })
    const loaded = { artifacts, Project, gas, coverage }
    this.#loaded = loaded
    for (const onLoaded of this.#chains) onLoaded(loaded)
    return loaded
  }

  async #read(): Promise<void> {
    const { settings, folder } = this.#options
    // traces use names even without artifacts
    if (settings.trace !== undefined) await this.open()
    if (settings.noArtifacts) return
    const given = [...settings.artifacts, ...settings.abi]
    if (given.length === 0 && folder !== undefined) {
      await this.#hint(folder, (await this.#search(folder)).length > 0)
    }
    for (const each of given) {
      if (this.#isClosed) return
      try {
        await (await this.open()).artifacts.add(each)
      } catch (error) {
        this.#report({ event: 'artifacts', warning: (error as Error).message })
        if (settings.artifacts.includes(each))
          await (await this.open()).artifacts.expectFolder(each)
      }
    }
  }

  async #readNews(): Promise<void> {
    const { settings, folder } = this.#options
    const isSearched = settings.artifacts.length + settings.abi.length === 0
    if (isSearched && !settings.noArtifacts && folder !== undefined) await this.#search(folder)
    await this.#loaded?.artifacts.refresh()
  }

  async #hint(folder: string, isProject: boolean): Promise<void> {
    if (this.#isClosed || this.#loaded?.artifacts.catalogue.isEmpty === false) return
    const { projectAbove, toolsOf } = await import('./reading/tools.ts')
    const [tool] = await toolsOf(folder)
    if (tool !== undefined) {
      const { name, build } = tool
      const hint = `this ${name} project has no artifacts yet: run ${build}, and devchain reads them`
      this.#report({ event: 'artifacts', hint, flag: build })
      return
    }
    const above = isProject ? undefined : await projectAbove(folder)
    if (above === undefined) return
    const place = path.relative(folder, above.folder)
    const flag = `--artifacts ${place}`
    const hint = `a ${above.tool.name} project is in ${place}; ${flag} reads its artifacts`
    this.#report({ event: 'artifacts', hint, flag })
  }

  /**
   * Reads the folder's artifacts, now or when the project is first compiled.
   * @returns its artifact folders; empty if it is no project
   */
  async #search(folder: string): Promise<readonly string[]> {
    const [{ artifactFolders }, { FolderWatch }] = await Promise.all([
      import('./reading/find.ts'),
      import('./reading/watch.ts'),
    ])
    if (this.#isClosed) return []
    this.#watch ??= new FolderWatch(() => void this.#search(folder).catch(this.#options.onBug))
    this.#watch.follow([folder])
    const found = await artifactFolders(folder)
    if (found.length > 0 && !this.#isClosed) await (await this.open()).artifacts.addFolders(found)
    return found
  }
}
