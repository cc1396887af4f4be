// Tells when something changes in folders: compilers write many files at once, and are waited for.
import { type FSWatcher, watch } from 'node:fs'

/** Quiet after the last change, until it is told. */
const QUIET_MS = 250

/** Folders that are watched at most: each takes something of the system. */
export const MOST_WATCHED = 4_000

/** Watches folders until it is closed. */
export class FolderWatch {
  readonly #tell: () => void
  readonly #watchers = new Map<string, FSWatcher>()
  #timer: NodeJS.Timeout | undefined

  constructor(tell: () => void) {
    this.#tell = tell
  }

  /** Watches these folders, and no others any more. @returns false when there are too many of them */
  follow(folders: readonly string[]): boolean {
    const wanted = new Set(folders.slice(0, MOST_WATCHED))
    for (const [folder, watcher] of this.#watchers)
      if (!wanted.has(folder)) this.#drop(folder, watcher)
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder)
    return folders.length <= MOST_WATCHED
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const [folder, watcher] of this.#watchers) this.#drop(folder, watcher)
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#changed())
      // a folder that goes away is one that changed
      watcher.on('error', () => this.#drop(folder, watcher))
      this.#watchers.set(folder, watcher)
    } catch {
      // it is gone, or the system watches no more: what was read stays
    }
  }

  #drop(folder: string, watcher: FSWatcher): void {
    watcher.close()
    this.#watchers.delete(folder)
  }

  #changed(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#tell, QUIET_MS).unref()
  }
}
