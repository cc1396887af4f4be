// Tells when something changes in folders: compilers write many files at once, and are waited for.
import { type FSWatcher, statSync, watch } from 'node:fs'
import path from 'node:path'

/** Quiet after the last change, until it is told. */
const QUIET_MS = 250

/** Folders that are watched at most: each takes something of the system. */
export const MOST_WATCHED = 4_000

/** A watched folder. The system watches what a folder is, not what is called so: one that is made anew is another. */
interface Watched {
  readonly watcher: FSWatcher
  readonly identity: string
}

export interface Watching {
  /** True where a folder was not watched before: what changed in it meanwhile was not told. */
  readonly isNew: boolean
  readonly isWhole: boolean
}

export class FolderWatch {
  readonly #tell: () => void
  readonly #watchers = new Map<string, Watched>()
  #timer: NodeJS.Timeout | undefined
  #isHurried = false

  constructor(tell: () => void) {
    this.#tell = tell
  }

  get isBehind(): boolean {
    return this.#timer !== undefined
  }

  /**
   * Tells a change before there is quiet; it is told again when there is.
   * @returns false where nothing changed, or it was told so
   */
  hurry(): boolean {
    if (this.#timer === undefined || this.#isHurried) return false
    this.#isHurried = true
    this.#tell()
    return true
  }

  /** Watches these folders, and no others any more; in place of one that is gone the nearest that it was in. */
  follow(folders: readonly string[]): Watching {
    const wanted = new Map<string, string>()
    for (const folder of folders.slice(0, MOST_WATCHED)) {
      const [name, identity] = nearestThere(folder)
      wanted.set(name, identity)
    }
    for (const [folder, { watcher, identity }] of this.#watchers)
      if (wanted.get(folder) !== identity) this.#drop(folder, watcher)
    const fresh = [...wanted].filter(([folder]) => !this.#watchers.has(folder))
    for (const [folder, identity] of fresh) this.#add(folder, identity)
    return { isNew: fresh.length > 0, isWhole: folders.length <= MOST_WATCHED }
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const [folder, { watcher }] of this.#watchers) this.#drop(folder, watcher)
  }

  #add(folder: string, identity: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#changed())
      // a folder that goes away is one that changed
      watcher.on('error', () => this.#drop(folder, watcher))
      this.#watchers.set(folder, { watcher, identity })
    } catch {
      // it is gone, or the system watches no more: what was read stays
    }
  }

  #drop(folder: string, watcher: FSWatcher): void {
    watcher.close()
    if (this.#watchers.get(folder)?.watcher === watcher) this.#watchers.delete(folder)
  }

  #changed(): void {
    clearTimeout(this.#timer)
    this.#isHurried = false
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#tell()
    }, QUIET_MS).unref()
  }
}

/** A folder, or the nearest above it that is there, and what tells it from another of its name. */
function nearestThere(folder: string): readonly [name: string, identity: string] {
  const found = statSync(folder, { bigint: true, throwIfNoEntry: false })
  if (found?.isDirectory()) return [folder, `${found.dev} ${found.ino} ${found.birthtimeNs}`]
  const above = path.dirname(folder)
  return above === folder ? [folder, ''] : nearestThere(above)
}
