// The user's project: reads its artifacts in the background, watches for changes, and provides names.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { deflateSync, inflateSync } from 'node:zlib'
import { DevchainError, printValue } from '../core/errors.ts'
import { listed } from '../core/format.ts'
import type { Address, Hash } from '../core/hex.ts'
import type { SourceExplanation } from '../evm/reasons.ts'
import { runOfMined } from '../node/calls/replay.ts'
import type { Chain } from '../node/chain/chain.ts'
import type { Again } from '../node/chain/failedrun.ts'
import type { World } from '../state/world.ts'
import { Catalogue, type Contract, MOST_CONTRACTS } from './code/catalogue.ts'
import type { Coverage } from './coverage/coverage.ts'
import { ReachedWatch } from './coverage/reached.ts'
import type { ProjectEvent } from './events.ts'
import { GasReport } from './gas/report.ts'
import { Labels } from './naming/labels.ts'
import { Names } from './naming/names.ts'
import { type Artifacts, artifactFolders, artifactsBelow } from './reading/find.ts'
import { contractsIn } from './reading/formats.ts'
import { Summarizer } from './reading/read.ts'
import { readBeside } from './reading/readers.ts'
import type { AbiItem, SkippedFile } from './reading/summary.ts'
import { isFolder } from './reading/tools.ts'
import { FolderWatch, MOST_WATCHED } from './reading/watch.ts'
import { DetailReader, withoutBulk } from './solidity/details.ts'
import { explain, type Foresight } from './solidity/explain.ts'
import type { SourcifySite } from './sourcify/site.ts'
import { tracedAgain, tracedMined } from './trace/runs.ts'
import { type Trace, type TracedTransaction, traceOf } from './trace/tree.ts'

/** Compilations kept from RPC methods, the newest; and their compressed bytes. */
const MOST_COMPILATIONS = 100
const MOST_COMPRESSED = 32_000_000

/** Listings per reading while new folders keep appearing. */
const MOST_LOOKS = 5

/** Milliseconds to wait for a reading in progress before names are used. */
const CATCH_UP_MS = 2_000

interface Source {
  readonly folder: string
  readonly watch: FolderWatch
  readonly read: () => Promise<void>
  /** Skipped files that were reported. */
  readonly told: Set<string>
}

export interface ProjectOptions {
  readonly chain: Chain
  /** Reported paths are relative to it. */
  readonly folder: string
  readonly tell: (event: ProjectEvent) => void
  readonly onBug: (error: unknown) => void
}

export class Project {
  readonly names: Names
  readonly gas: GasReport
  readonly catalogue: Catalogue = new Catalogue()
  readonly labels: Labels = new Labels()
  readonly #options: ProjectOptions
  readonly #sources = new Map<string, Source>()
  readonly #compilations: string[] = []
  /** Compilations from RPC methods, compressed, for looking up sources. */
  readonly #values = new Map<string, Buffer>()
  readonly #details: DetailReader = new DetailReader(this.catalogue, (file) => this.#valueOf(file))
  readonly #foresight: Foresight = { isAtHand: false }
  #handedOver = 0
  #coverage: Promise<Coverage> | undefined
  #site: Promise<SourcifySite> | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #readings = 0
  #isClosed = false

  constructor(options: ProjectOptions) {
    this.#options = options
    const { chain } = options
    this.names = new Names(chain, this.catalogue, this.labels, {
      catchUp: () => this.#catchUp(),
      explain: async (hash) => {
        const again = runOfMined(chain, hash)
        return again && (await this.explain(again, 'it failed'))?.lines
      },
      explainRun: async (again, usual) => (await this.explain(again, usual))?.lines,
      trace: async (hash) => (await this.trace(hash)).lines,
      traceRun: async (again) => (await this.#traceOf(await tracedAgain(again))).lines,
    })
    this.gas = new GasReport(chain, this.names, this.catalogue, (text) => this.#warning(text))
  }

  /**
   * Reads and watches an artifact folder, or a project's artifact folders.
   * @returns the count of contracts
   */
  async addFolder(folder: string): Promise<number> {
    const inside = await artifactFolders(folder)
    return await this.#addAll(inside.length > 0 ? inside : [folder])
  }

  /** Reads a project's artifact folders that are not watched yet. */
  async addProject(folder: string): Promise<void> {
    const found = await artifactFolders(folder)
    await this.#addAll(found.filter((each) => !this.#sources.has(path.resolve(each))))
  }

  async expectFolder(folder: string): Promise<void> {
    if (!existsSync(folder)) await this.#addAll([folder])
  }

  /**
   * Reads and watches one file: an ABI, an artifact or compiler output.
   * @returns the count of contracts
   */
  async addFile(file: string): Promise<number> {
    const whole = path.resolve(file)
    const skipped = await this.#inTurn(() => this.#readFiles([whole], {}))
    const [problem] = skipped
    if (problem !== undefined) {
      throw new DevchainError(
        'INVALID_PARAMS',
        `cannot read the artifacts in ${file}: ${problem.why}`,
      )
    }
    this.#followFile(whole)
    const contracts = this.catalogue.count((each) => each === whole)
    this.#tell({ event: 'artifacts', contracts, place: this.#shown(whole) })
    return contracts
  }

  /** Reads a file again when it changes; if it is incomplete or gone, the last version stays. */
  #followFile(file: string): void {
    if (this.#sources.has(file)) return
    const folder = path.dirname(file)
    const { watch } = this.#addSource(file, { folder, read: () => this.#readAgain(file) })
    // tools replace the file instead of writing into it
    watch.follow([folder])
  }

  #addSource(place: string, { folder, read }: Pick<Source, 'folder' | 'read'>): Source {
    const watch = new FolderWatch(() => this.#background(read))
    const source = { folder, watch, read, told: new Set<string>() }
    this.#sources.set(place, source)
    return source
  }

  /** Reads the disk now, without waiting for the watcher. */
  async refresh(): Promise<void> {
    const readings = [...this.#sources.values()].map(({ read }) => this.#inTurn(read))
    await Promise.all(readings)
  }

  /** Resolves when changes on disk are read, or after a timeout; undefined without changes. */
  #catchUp(): Promise<unknown> | undefined {
    for (const { watch } of this.#sources.values()) watch.hurry()
    if (this.#readings === 0) return undefined
    return Promise.race([this.#turn, delay(CATCH_UP_MS, undefined, { ref: false })])
  }

  async #readAgain(file: string): Promise<void> {
    const source = this.#sources.get(file)
    if (source === undefined || this.#isClosed) return
    source.watch.follow([source.folder])
    this.#details.forget()
    await this.#tellChange(
      file,
      (each) => each === file,
      async () => {
        const skipped = await this.#readFiles([file], this.catalogue.stamps)
        this.#warn(source, skipped, { isCut: false, isWatched: true })
      },
    )
  }

  /** @throws {DevchainError} `INVALID_PARAMS` if neither a folder nor a file exists */
  async add(name: string): Promise<number> {
    return (await isFolder(name)) ? await this.addFolder(name) : await this.addFile(name)
  }

  /**
   * Adds an artifact or compiler output from an RPC method.
   * @throws {DevchainError} `INVALID_PARAMS` for anything else
   */
  addValue(value: unknown, name: string): number {
    const found = contractsIn(value, name)
    if (found === undefined) {
      const message = `expected an artifact, an ABI, or the output of a compiler, got ${printValue(value)}`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const summarizer = new Summarizer()
    const contracts = found.map((each) => summarizer.summaryOf(each))
    this.#handedOver += 1
    const file = `${name} #${this.#handedOver}`
    this.#compilations.push(file)
    const oldest = this.#compilations.splice(0, this.#compilations.length - MOST_COMPILATIONS)
    for (const each of oldest) this.#values.delete(each)
    this.catalogue.remove(oldest)
    const files = [{ path: file, stamp: '', contracts }]
    this.catalogue.add({ items: summarizer.takeItems(), files, skipped: [] }, [])
    this.#keep(file, value)
    return contracts.length
  }

  countInnerGas(): void {
    this.gas.countInner(this.#options.chain)
  }

  coverage(): Promise<Coverage> {
    this.#coverage ??= this.#openCoverage()
    return this.#coverage
  }

  async #openCoverage(): Promise<Coverage> {
    const { Coverage } = await import('./coverage/coverage.ts')
    const { chain, folder } = this.#options
    const { catalogue } = this
    const warn = (text: string): void => this.#warning(text)
    const coverage = new Coverage({ catalogue, details: this.#details, folder, warn })
    chain.execution.watchCommands(() => new ReachedWatch(coverage.take))
    chain.execution.watchCalls({ onReached: coverage.take })
    chain.onClose(() => coverage.close())
    return coverage
  }

  /** Undefined if the cause is unknown. */
  async explain(again: Again, usual: string): Promise<SourceExplanation | undefined> {
    await this.#catchUp()
    if (this.catalogue.isEmpty) return undefined
    const { names, catalogue } = this
    const now = (): number => performance.now()
    const explainer = { names, catalogue, details: this.#details, now, foresight: this.#foresight }
    return await explain(explainer, again, usual)
  }

  /** The site below /sourcify, loaded on first use. */
  get site(): Promise<SourcifySite> {
    this.#site ??= this.#openSite()
    return this.#site
  }

  async #openSite(): Promise<SourcifySite> {
    const { SourcifySite } = await import('./sourcify/site.ts')
    return new SourcifySite({
      chain: this.#options.chain,
      catalogue: this.catalogue,
      handedOver: (file) => this.#valueOf(file),
      add: (value, name) => void this.addValue(value, name),
    })
  }

  close(): void {
    this.#isClosed = true
    this.gas.close()
    for (const { watch } of this.#sources.values()) watch.close()
  }

  /** Keeps a compilation for its sources; drops the oldest above the limit. */
  #keep(file: string, value: unknown): void {
    this.#values.set(file, deflateSync(JSON.stringify(withoutBulk(value)), { level: 1 }))
    let size = [...this.#values.values()].reduce((sum, { length }) => sum + length, 0)
    for (const [oldest, { length }] of this.#values) {
      if (size <= MOST_COMPRESSED) return
      this.#values.delete(oldest)
      size -= length
    }
  }

  #valueOf(file: string): unknown {
    const kept = this.#values.get(file)
    return kept && (JSON.parse(inflateSync(kept).toString()) as unknown)
  }

  /**
   * A mined transaction's call trace with names and storage changes.
   * @throws {DevchainError} `NOT_FOUND` if no block of the chain has it
   */
  async trace(hash: Hash): Promise<Trace> {
    return await this.#traceOf(await tracedMined(this.#options.chain, hash))
  }

  async #traceOf(traced: TracedTransaction): Promise<Trace> {
    const { names } = this
    const contractOf = (world: World, address: Address): Contract | undefined => {
      const identity = names.identities.of(world, address)
      return identity?.isGuess === false ? identity.contract : undefined
    }
    const touched = [...traced.touched.keys()]
    await this.#details.prepare(
      touched.flatMap((address) => contractOf(traced.after, address) ?? []),
    )
    const layoutOf = (world: World, address: Address): unknown => {
      const contract = contractOf(world, address)
      return contract && this.#details.of(contract)?.layout
    }
    return traceOf({ names, layoutOf }, traced)
  }

  async #addAll(folders: readonly string[]): Promise<number> {
    for (const each of folders) {
      const whole = path.resolve(each)
      const read = (): Promise<void> => this.#readFolder(whole)
      if (!this.#sources.has(whole)) this.#addSource(whole, { folder: whole, read })
      await this.#inTurn(read)
    }
    return this.catalogue.count((file) => folders.some((each) => isBelow(each, file)))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#readings += 1
    const result = this.#turn.then(work).finally(() => {
      this.#readings -= 1
    })
    this.#turn = result.catch(() => undefined)
    return result
  }

  #background(work: () => Promise<unknown>): void {
    if (this.#isClosed) return
    this.#inTurn(work).catch((error: unknown) => this.#options.onBug(error))
  }

  /** Reads new files, forgets removed ones, and reports the counts if they changed. */
  async #readFolder(folder: string): Promise<void> {
    const source = this.#sources.get(folder)
    if (source === undefined || this.#isClosed) return
    const { files, isCut, isWatched } = await this.#look(source)
    // build information may have changed
    this.#details.forget()
    const present = new Set(files)
    const gone = [...this.catalogue.files()].filter(
      (file) => isBelow(folder, file) && !present.has(file),
    )
    await this.#tellChange(
      folder,
      (file) => isBelow(folder, file),
      async () => {
        if (gone.length > 0) this.catalogue.remove(gone)
        const skipped = await this.#readFiles(files, this.catalogue.stamps)
        this.#warn(source, skipped, { isCut, isWatched })
      },
    )
  }

  /** Reports changes; nothing if files were rewritten unchanged. */
  async #tellChange(
    place: string,
    isOf: (file: string) => boolean,
    read: () => Promise<void>,
  ): Promise<void> {
    const { catalogue } = this
    const { version } = catalogue
    const before = catalogue.marks(isOf)
    await read()
    if (catalogue.version === version) return
    const changed = changedIn(before, catalogue.marks(isOf))
    if (changed.length === 0) return
    this.#tell({
      event: 'artifacts',
      contracts: catalogue.count(isOf),
      place: this.#shown(place),
      ...(before.size === 0 ? {} : { changed }),
    })
  }

  /** Lists a folder after it starts watching, so that no file is missed. */
  async #look({ folder, watch }: Source): Promise<Artifacts & { readonly isWatched: boolean }> {
    for (let i = 1; ; i++) {
      const found = await artifactsBelow(folder)
      const { isNew, isWhole } = watch.follow(found.folders)
      if (!isNew || i === MOST_LOOKS) return { ...found, isWatched: isWhole }
    }
  }

  async #readFiles(
    files: readonly string[],
    known: Readonly<Record<string, string>>,
  ): Promise<readonly SkippedFile[]> {
    const items: AbiItem[] = []
    const skipped: SkippedFile[] = []
    let fits = true
    for await (const news of readBeside({ files, known })) {
      if (this.#isClosed) break
      fits = this.catalogue.add(news, items) && fits
      skipped.push(...news.skipped)
    }
    if (!fits) this.#warning(`only ${MOST_CONTRACTS} contracts are kept`)
    return skipped
  }

  /** One warning for all unreadable files, without those reported before. */
  #warn(
    { folder, watch, told }: Source,
    skipped: readonly SkippedFile[],
    { isCut, isWatched }: { readonly isCut: boolean; readonly isWatched: boolean },
  ): void {
    // a file that is still being written is read again later
    const fresh = watch.isBehind ? [] : skipped.filter(({ path: file }) => !told.has(file))
    for (const { path: file } of fresh) told.add(file)
    if (fresh.length > 0) {
      const names = fresh.map(({ path: file, why }) => `${path.relative(folder, file)} (${why})`)
      this.#warning(`skipped in ${this.#shown(folder)}: ${listed(names)}`)
    }
    if (isCut && !told.has(folder)) {
      told.add(folder)
      this.#warning(`not all artifacts of ${this.#shown(folder)} are read: there are too many`)
    }
    if (!isWatched && !told.has('watch')) {
      told.add('watch')
      this.#warning(`only ${MOST_WATCHED} folders of ${this.#shown(folder)} are watched`)
    }
  }

  /** A reading may outlive its chain. */
  #tell(event: ProjectEvent): void {
    if (!this.#isClosed) this.#options.tell(event)
  }

  #warning(warning: string): void {
    this.#tell({ event: 'artifacts', warning })
  }

  /** `./out` */
  #shown(place: string): string {
    const relative = path.relative(this.#options.folder, place)
    if (relative === '') return '.'
    return relative.startsWith('..') ? place : `./${relative}`
  }
}

function changedIn(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly string[] {
  const keys = [...new Set([...now.keys(), ...before.keys()])]
  const changed = keys.filter((key) => before.get(key) !== now.get(key))
  return changed.map((key) => key.slice(key.lastIndexOf(':') + 1))
}

function isBelow(folder: string, file: string): boolean {
  return file.startsWith(path.resolve(folder) + path.sep)
}
