// The user's artifacts, read once for all chains: watches their folders and keeps the contracts.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { deflateSync, inflateSync } from 'node:zlib'
import { invalidParams, printValue } from '../core/errors.ts'
import { listed } from '../core/format.ts'
import { getOrMake, LruCache } from '../core/lrucache.ts'
import { Catalogue, MOST_CONTRACTS } from './code/catalogue.ts'
import type { ProjectEvent } from './events.ts'
import { type ArtifactFiles, artifactFolders, artifactsBelow } from './reading/find.ts'
import { contractsIn, isObject } from './reading/formats.ts'
import { Summarizer } from './reading/read.ts'
import { readBeside } from './reading/readers.ts'
import type { AbiItem, SkippedFile } from './reading/summary.ts'
import { isFolder } from './reading/tools.ts'
import { FolderWatch, MOST_WATCHED } from './reading/watch.ts'
import { DetailReader } from './solidity/details.ts'

/** Compilations kept from RPC methods, the newest; and compressed bytes of those whose sources are kept. */
const MOST_COMPILATIONS = 100
const KEPT_COMPRESSED = 16_000_000

/** Of a compiler's output: syntax trees and code, which are most of it, and what else nothing here needs. */
const BULK: ReadonlySet<string> = new Set([
  ...['abi', 'assembly', 'ast', 'bin', 'bin-runtime', 'devdoc', 'functionDebugData'],
  ...['gasEstimates', 'generatedSources', 'ir', 'irAst', 'irOptimized', 'irOptimizedAst'],
  ...['legacyAST', 'legacyAssembly', 'methodIdentifiers', 'object', 'opcodes', 'userdoc'],
])

/** Listings per reading while new folders keep appearing. */
const MOST_LOOKS = 5

/** Milliseconds to wait for a reading in progress before names are used. */
const CATCH_UP_MS = 2_000

/** A watched folder or file. */
interface Watched {
  readonly place: string
  readonly isFile: boolean
  readonly watch: FolderWatch
  /** Skipped files that were reported. */
  readonly reported: Set<string>
}

interface ArtifactsOptions {
  /** Reported paths are relative to it. */
  readonly folder: string
  readonly report: (event: ProjectEvent) => void
  readonly onBug: (error: unknown) => void
  /** Called after each reading that may have found new artifacts. */
  readonly onRead: () => void
}

export class Artifacts {
  readonly catalogue: Catalogue = new Catalogue()
  readonly details: DetailReader = new DetailReader(this.catalogue, (file) => this.valueOf(file))
  readonly #options: ArtifactsOptions
  readonly #watched = new Map<string, Watched>()
  readonly #compilations: string[] = []
  /** Compilations from RPC methods, compressed, for looking up sources. */
  readonly #values = new LruCache<string, Buffer>(MOST_COMPILATIONS, {
    most: KEPT_COMPRESSED,
    of: ({ length }) => length,
  })
  #handedOver = 0
  #turn: Promise<unknown> = Promise.resolve()
  #readings = 0
  #isClosed = false

  constructor(options: ArtifactsOptions) {
    this.#options = options
  }

  /** Reads and watches those that are not watched yet. */
  async addFolders(folders: readonly string[]): Promise<void> {
    await this.#addAll(folders.filter((each) => !this.#watched.has(path.resolve(each))))
  }

  async expectFolder(folder: string): Promise<void> {
    if (!existsSync(folder)) await this.#addAll([folder])
  }

  /** An ABI, an artifact or compiler output. */
  async #addFile(file: string): Promise<number> {
    const whole = path.resolve(file)
    const skipped = await this.#inTurn(() => this.#readFiles([whole], {}))
    const [problem] = skipped
    if (problem !== undefined) {
      throw invalidParams(`cannot read the artifacts in ${file}: ${problem.why}`)
    }
    // if it is incomplete or gone later, the last version stays
    const { watch } = this.#watch(whole, true)
    // tools replace the file instead of writing into it
    watch.follow([path.dirname(whole)])
    const contracts = this.catalogue.count(whole)
    this.#options.report({ event: 'artifacts', contracts, place: this.#shown(whole) })
    return contracts
  }

  #watch(place: string, isFile: boolean): Watched {
    return getOrMake(this.#watched, place, () => {
      const watch = new FolderWatch(() => {
        this.#inTurn(() => this.#read(watched)).catch(this.#options.onBug)
      })
      const watched = { place, isFile, watch, reported: new Set<string>() }
      return watched
    })
  }

  /** Reads the disk now, without waiting for the watcher. */
  async refresh(): Promise<void> {
    const readings = [...this.#watched.values()].map((each) => this.#inTurn(() => this.#read(each)))
    await Promise.all(readings)
  }

  /** Resolves when changes on disk are read, or after a timeout; undefined without changes. */
  catchUp(): Promise<unknown> | undefined {
    for (const { watch } of this.#watched.values()) watch.hurry()
    if (this.#readings === 0) return undefined
    return Promise.race([this.#turn, delay(CATCH_UP_MS, undefined, { ref: false })])
  }

  /**
   * Reads and watches a file, an artifact folder, or a project's artifact folders.
   * @returns the count of contracts
   * @throws {DevchainError} `INVALID_PARAMS` if neither a folder nor a file exists
   */
  async add(name: string): Promise<number> {
    if (!(await isFolder(name))) return await this.#addFile(name)
    const inside = await artifactFolders(name)
    return await this.#addAll(inside.length > 0 ? inside : [name])
  }

  /**
   * Adds an artifact or compiler output from an RPC method.
   * @throws {DevchainError} `INVALID_PARAMS` for anything else
   */
  addValue(value: unknown, name: string): number {
    const found = contractsIn(value, name)
    if (found === undefined) {
      const message = `expected an artifact, an ABI or compiler output, got ${printValue(value)}`
      throw invalidParams(message)
    }
    const summarizer = new Summarizer()
    const contracts = found.map((each) => summarizer.summaryOf(each))
    this.#handedOver += 1
    const file = `${name} #${this.#handedOver}`
    this.#compilations.push(file)
    const oldest = this.#compilations.splice(0, this.#compilations.length - MOST_COMPILATIONS)
    this.catalogue.remove(oldest)
    this.catalogue.add([{ path: file, stamp: '', contracts }])
    this.#options.onRead()
    this.#values.set(file, deflateSync(JSON.stringify(value, withoutBulk), { level: 1 }))
    return contracts.length
  }

  close(): void {
    this.#isClosed = true
    for (const { watch } of this.#watched.values()) watch.close()
  }

  valueOf(file: string): unknown {
    const kept = this.#values.get(file)
    return kept && (JSON.parse(inflateSync(kept).toString()) as unknown)
  }

  async #addAll(folders: readonly string[]): Promise<number> {
    for (const each of folders) {
      const watched = this.#watch(path.resolve(each), false)
      await this.#inTurn(() => this.#read(watched))
    }
    return this.catalogue.count(...folders.map((each) => path.resolve(each)))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#readings += 1
    const result = this.#turn.then(work).finally(() => {
      this.#readings -= 1
    })
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** Reads new files, forgets removed ones, and reports what changed; nothing if files were rewritten unchanged. */
  async #read(watched: Watched): Promise<void> {
    if (this.#isClosed) return
    const { catalogue } = this
    const { place } = watched
    const { files, skipped: folders, isCut, isWatched } = await this.#look(watched)
    // build information may have changed
    this.details.forget()
    const { version } = catalogue
    const before = catalogue.marks(place)
    const present = new Set(files)
    const gone = catalogue.filesIn(place).filter((file) => !present.has(file))
    if (gone.length > 0) catalogue.remove(gone)
    const skipped = await this.#readFiles(files, catalogue.stamps)
    this.#warn(watched, [...folders, ...skipped], { isCut, isWatched })
    if (catalogue.version === version) return
    const changed = changedIn(before, catalogue.marks(place))
    if (changed.length === 0) return
    this.#options.report({
      event: 'artifacts',
      contracts: catalogue.count(place),
      place: this.#shown(place),
      ...(before.size === 0 ? {} : { changed }),
    })
  }

  /** Lists a folder after it starts watching, so that no file is missed. */
  async #look({ place, isFile, watch }: Watched) {
    for (let i = 1; ; i++) {
      const found: ArtifactFiles = isFile
        ? { files: [place], folders: [path.dirname(place)], skipped: [], isCut: false }
        : await artifactsBelow(place)
      const { isNew, isWhole } = watch.follow(found.folders)
      if (!isNew || i === MOST_LOOKS) return { ...found, isWatched: isWhole }
    }
  }

  async #readFiles(
    files: readonly string[],
    known: Readonly<Record<string, string>>,
  ): Promise<readonly SkippedFile[]> {
    const items = new Map<string, AbiItem>()
    const skipped: SkippedFile[] = []
    let fits = true
    for await (const news of readBeside({ files, known })) {
      if (this.#isClosed) break
      fits = this.catalogue.add(news.files, items) && fits
      skipped.push(...news.skipped)
    }
    this.#options.onRead()
    if (!fits) this.#warning(`only ${MOST_CONTRACTS} contracts are kept`)
    return skipped
  }

  /** One warning for all unreadable files, without those reported before. */
  #warn(
    { place, isFile, watch, reported }: Watched,
    skipped: readonly SkippedFile[],
    { isCut, isWatched }: { readonly isCut: boolean; readonly isWatched: boolean },
  ): void {
    // a file that is still being written is read again later
    const fresh = watch.isBehind ? [] : skipped.filter(({ path: file }) => !reported.has(file))
    for (const { path: file } of fresh) reported.add(file)
    if (fresh.length > 0) {
      const folder = isFile ? path.dirname(place) : place
      const names = fresh.map(
        ({ path: file, why }) => `${path.relative(folder, file) || '.'} (${why})`,
      )
      this.#warning(`skipped in ${this.#shown(folder)}: ${listed(names)}`)
    }
    if (isCut && !reported.has(place)) {
      reported.add(place)
      this.#warning(`not all artifacts of ${this.#shown(place)} are read: there are too many`)
    }
    if (!isWatched && !reported.has('watch')) {
      reported.add('watch')
      this.#warning(`only ${MOST_WATCHED} folders of ${this.#shown(place)} are watched`)
    }
  }

  #warning(warning: string): void {
    this.#options.report({ event: 'artifacts', warning })
  }

  /** `./out` */
  #shown(place: string): string {
    const relative = path.relative(this.#options.folder, place)
    if (relative === '') return '.'
    return relative.startsWith('..') ? place : `./${relative}`
  }
}

/** Contracts may have such names too. */
function withoutBulk(name: string, value: unknown): unknown {
  return BULK.has(name) && !(isObject(value) && isObject(value.evm)) ? undefined : value
}

function changedIn(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly string[] {
  const keys = [...new Set([...now.keys(), ...before.keys()])]
  const changed = keys.filter((key) => before.get(key) !== now.get(key))
  return changed.map((key) => key.slice(key.lastIndexOf(':') + 1))
}
