// The door to the user's project, which loads it once there are artifacts.
import { type FSWatcher, watch } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DevchainError } from '../core/errors.ts'
import { makeFolderOf } from '../loader/cachefolder.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { SiteReply, SiteRequest } from '../rpc/site.ts'
import type { CoverageReport } from './coverage/coverage.ts'
import type { ProjectEvent } from './events.ts'
import type { GasSummary } from './gas/report.ts'
import type { Names } from './naming/names.ts'
import type { Project } from './project.ts'
import type { Ask } from './sourcify/repository.ts'

/** Paths of the project's site. forge adds `v2` to a URL without its last `/`. */
const SITE = /^\/sourcify(\/|v2\/)/

export function isAskedOfProject(target: string): boolean {
  return SITE.test(target)
}

/** Milliseconds without changes before a new folder is searched: a compiler is at work. */
const QUIET_MS = 250

export interface DoorOptions {
  readonly chain: Chain
  readonly settings: Pick<
    DevchainSettings,
    'artifacts' | 'abi' | 'noArtifacts' | 'trace' | 'coverage' | 'gasReport'
  >
  /** Searched for artifacts if no option names them; undefined: no search. */
  readonly folder: string | undefined
  readonly tell: (event: ProjectEvent) => void
  readonly onNames: (names: Names) => void
  readonly onBug: (error: unknown) => void
}

export class ProjectDoor {
  readonly #options: DoorOptions
  #opening: Promise<Project> | undefined
  #project: Project | undefined
  #reading: Promise<void> | undefined
  #watcher: FSWatcher | undefined
  #timer: NodeJS.Timeout | undefined
  #written: Promise<CoverageReport> | undefined
  #isClosed = false

  constructor(options: DoorOptions) {
    this.#options = options
  }

  get project(): Project | undefined {
    return this.#project
  }

  /** Finds and reads artifacts, once; never rejects. */
  read(): Promise<void> {
    this.#reading ??= this.#read().catch(this.#options.onBug)
    return this.#reading
  }

  /** Reads the disk again, as a compiler may just have finished; never rejects. */
  async refresh(): Promise<void> {
    await this.read()
    await this.#readNews().catch(this.#options.onBug)
  }

  /** Loads the project on first use. */
  open(): Promise<Project> {
    this.#opening ??= this.#load()
    return this.#opening
  }

  async gasReport(): Promise<GasSummary> {
    await this.refresh()
    return (await this.open()).gas.summary()
  }

  /**
   * Reads all artifacts first.
   * @throws {DevchainError} `INVALID_REQUEST` unless coverage is enabled
   */
  async coverage(): Promise<CoverageReport> {
    if (this.#options.settings.coverage === undefined) {
      const message = 'coverage is not counted: start the chain with --coverage FILE'
      throw new DevchainError('INVALID_REQUEST', message)
    }
    await this.refresh()
    return await (await (await this.open()).coverage()).report()
  }

  /**
   * Writes the coverage file once, and makes its folder.
   * @throws {DevchainError} as `coverage`; node's error if the file cannot be written
   */
  writeCoverage(): Promise<CoverageReport> {
    this.#written ??= this.#write()
    return this.#written
  }

  async #write(): Promise<CoverageReport> {
    const report = await this.coverage()
    const file = this.#options.settings.coverage ?? ''
    makeFolderOf(file)
    await writeFile(file, report.lcov)
    return report
  }

  async begin(): Promise<void> {
    const { coverage, gasReport } = this.#options.settings
    if (gasReport) (await this.open()).countInnerGas()
    if (coverage !== undefined) await (await this.open()).coverage()
  }

  /** Answers requests below /sourcify. @param ask sends RPC requests to the chain */
  async answer(request: SiteRequest, ask: Ask): Promise<SiteReply> {
    const project = await this.open()
    return await (await project.site).answer(request, ask)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#watcher?.close()
    this.#project?.close()
  }

  async #load(): Promise<Project> {
    const { chain, folder = process.cwd(), tell, onNames, onBug } = this.#options
    const { Project } = await import('./project.ts')
    const project = new Project({ chain, folder, tell, onBug })
    this.#project = project
    if (this.#isClosed) project.close()
    onNames(project.names)
    return project
  }

  async #read(): Promise<void> {
    const { settings, folder, tell } = this.#options
    // traces use names even without artifacts
    if (settings.trace !== undefined) await this.open()
    if (settings.noArtifacts) return
    const given = [...settings.artifacts, ...settings.abi]
    if (given.length === 0 && folder !== undefined) {
      await this.#search(folder)
      await this.#hint(folder)
    }
    for (const each of given) {
      if (this.#isClosed) return
      try {
        await (await this.open()).add(each)
      } catch (error) {
        tell({ event: 'artifacts', warning: (error as Error).message })
        if (settings.artifacts.includes(each)) await (await this.open()).expectFolder(each)
      }
    }
  }

  async #readNews(): Promise<void> {
    const { settings, folder } = this.#options
    const isSearched = settings.artifacts.length + settings.abi.length === 0
    if (isSearched && !settings.noArtifacts && folder !== undefined) await this.#search(folder)
    await this.#project?.refresh()
  }

  async #hint(folder: string): Promise<void> {
    const { tell } = this.#options
    if (this.#isClosed || this.#project?.catalogue.isEmpty === false) return
    const { hasSign, projectAbove, toolsOf } = await import('./reading/tools.ts')
    const [tool] = await toolsOf(folder)
    if (tool !== undefined) {
      const { name, build } = tool
      const hint = `this ${name} project has no artifacts yet; ${build} makes them, and they are read then`
      tell({ event: 'artifacts', hint, flag: build })
      return
    }
    const above = (await hasSign(folder)) ? undefined : await projectAbove(folder)
    if (above === undefined) return
    const place = path.relative(folder, above.folder)
    const flag = `--artifacts ${place}`
    const hint = `a ${above.tool.name} project is in ${place}; ${flag} reads its artifacts`
    tell({ event: 'artifacts', hint, flag })
  }

  /** Reads the folder's artifacts, now or when the project is first compiled. */
  async #search(folder: string): Promise<void> {
    this.#await(folder)
    const { hasSign } = await import('./reading/tools.ts')
    if (!(await hasSign(folder)) || this.#isClosed) return
    await (await this.open()).addProject(folder)
  }

  #await(folder: string): void {
    if (this.#watcher !== undefined || this.#isClosed) return
    try {
      this.#watcher = watch(folder, { persistent: false }, () => {
        clearTimeout(this.#timer)
        const again = (): void => void this.#search(folder).catch(this.#options.onBug)
        this.#timer = setTimeout(again, QUIET_MS).unref()
      })
      this.#watcher.on('error', () => this.#watcher?.close())
    } catch {
      // watching failed: read what is there now
    }
  }
}
