// The door to one chain's side of the user's project, which is there once artifacts are.
import { DevchainError } from '../core/errors.ts'
import { lazy } from '../core/lrucache.ts'
import { makeFolderOf, replaceFile } from '../loader/cachefolder.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { SiteReply, SiteRequest } from '../rpc/site.ts'
import type { AddedArtifacts, ArtifactsDoor, Loaded } from './artifactsdoor.ts'
import type { Contracts } from './contracts.ts'
import type { CoverageReport } from './coverage/coverage.ts'
import type { ProjectEvent } from './events.ts'
import type { GasSummary } from './gas/report.ts'
import type { KeptLabels } from './naming/labels.ts'
import type { Project } from './project.ts'
import type { RpcCaller } from './sourcify/repository.ts'

/** Paths of the project's site. forge adds `v2` to a URL without its last `/`. */
const SITE = /^\/sourcify(\/|v2\/)/

export function isAskedOfProject(target: string): boolean {
  return SITE.test(target)
}

interface ProjectDoorOptions {
  readonly chain: Chain
  readonly artifacts: ArtifactsDoor
  readonly settings: Pick<DevchainSettings, 'coverage' | 'gasReport'>
  /** Warnings about the chain's reports. */
  readonly report: (event: ProjectEvent) => void
  readonly onProject: (project: Project) => void
  /** Undefined: labels end with the process. */
  readonly labels: KeptLabels | undefined
}

export class ProjectDoor {
  readonly #options: ProjectDoorOptions
  readonly #leave: () => void
  #project: Project | undefined
  #isClosed = false
  #hasEnded = false

  constructor(options: ProjectDoorOptions) {
    this.#options = options
    this.#leave = options.artifacts.join((loaded) => this.#projectWith(loaded))
  }

  get project(): Project | undefined {
    return this.#project
  }

  async open(): Promise<Project> {
    return this.#projectWith(await this.#options.artifacts.open())
  }

  /** Of all artifacts as they are now. */
  async contracts(): Promise<Contracts> {
    return await (await this.open()).contracts()
  }

  /** As of the door of artifacts. */
  addArtifacts(added: AddedArtifacts): Promise<number> {
    return this.#options.artifacts.add(added)
  }

  async gasReport(): Promise<GasSummary> {
    await this.#options.artifacts.refresh()
    return (await this.open()).gas.summary()
  }

  /**
   * Of all chains.
   * @throws {DevchainError} `INVALID_REQUEST` unless coverage is enabled
   */
  async coverage(): Promise<CoverageReport> {
    if (this.#options.settings.coverage === undefined) {
      const message = 'coverage is not counted: start the chain with --coverage FILE'
      throw new DevchainError('INVALID_REQUEST', message)
    }
    return await this.#options.artifacts.coverage()
  }

  /**
   * Writes the coverage file once, and makes its folder.
   * @throws {DevchainError} as `coverage`; node's error if the file cannot be written
   */
  readonly writeCoverage: () => Promise<CoverageReport> = lazy(async () => {
    const report = await this.coverage()
    const file = this.#options.settings.coverage ?? ''
    makeFolderOf(file)
    replaceFile(file, report.lcov, 0o666)
    return report
  })

  async begin(): Promise<void> {
    const { coverage, gasReport } = this.#options.settings
    if (this.#options.labels?.known.size) await this.open()
    if (gasReport) (await this.open()).gas.countInner()
    if (coverage !== undefined) await (await this.open()).coverage()
  }

  /** Answers requests below /sourcify. @param rpc sends RPC requests to the chain */
  async answer(request: SiteRequest, rpc: RpcCaller): Promise<SiteReply> {
    const project = await this.open()
    return await (await project.site(rpc)).answer(request)
  }

  /** If artifacts are being read, the gas of the chain is counted with their names. */
  close(): void {
    this.#isClosed = true
    const { artifacts } = this.#options
    if (artifacts.hasRead || this.#project === undefined) this.#end()
    else void artifacts.read().then(() => this.#end())
  }

  #end(): void {
    this.#hasEnded = true
    this.#leave()
    this.#project?.close()
  }

  #projectWith({ Project, ...loaded }: Loaded): Project {
    if (this.#project !== undefined) return this.#project
    const { chain, report, onProject, labels } = this.#options
    // a reading may outlive its chain
    const warn = (warning: string): void => {
      if (!this.#isClosed) report({ event: 'artifacts', warning })
    }
    const project = new Project({ ...loaded, chain, labels, warn })
    this.#project = project
    if (this.#hasEnded) project.close()
    onProject(project)
    return project
  }
}
