// Watches folders and reports changes after a quiet time, because compilers write many files at once.
import { type FSWatcher, statSync, watch } from 'node:fs'
import path from 'node:path'

/** Milliseconds without changes before a report. */
const QUIET_MS = 250

/** Each watched folder takes system resources. */
export const MOST_WATCHED = 4_000

/** The system watches the folder itself, not its name: a folder made again needs a new watch. */
interface Watched {
  readonly watcher: FSWatcher
  readonly identity: string
}

interface Watching {
  /** True if a folder was not watched before, so changes may have been missed. */
  readonly isNew: boolean
  readonly isWhole: boolean
}

export class FolderWatch {
  readonly #onChange: () => void
  readonly #watchers = new Map<string, Watched>()
  #timer: NodeJS.Timeout | undefined
  #isHurried = false

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get isBehind(): boolean {
    return this.#timer !== undefined
  }

  /** Reports a change early; it is reported again after the quiet time. */
  hurry(): void {
    if (this.#timer === undefined || this.#isHurried) return
    this.#isHurried = true
    this.#onChange()
  }

  /** Watches exactly these folders; for a missing one, the nearest existing parent. */
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
      // removal counts as a change
      watcher.on('error', () => this.#drop(folder, watcher))
      this.#watchers.set(folder, { watcher, identity })
    } catch {
      // gone, or the system stopped watching: what was read stays
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
      this.#onChange()
    }, QUIET_MS).unref()
  }
}

/** The folder or its nearest existing parent, and an identity that a new folder of the name does not share. */
function nearestThere(folder: string): readonly [name: string, identity: string] {
  const found = statSync(folder, { bigint: true, throwIfNoEntry: false })
  if (found?.isDirectory()) return [folder, `${found.dev} ${found.ino} ${found.birthtimeNs}`]
  const above = path.dirname(folder)
  return above === folder ? [folder, ''] : nearestThere(above)
}
