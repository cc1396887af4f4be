// Work on chains on disk that no process has: is all of it whole, and without what nothing refers to any more.
import { rmSync } from 'node:fs'
import { DevchainError } from '../core/errors.ts'
import { chainsObject } from './codecs/chains.ts'
import { COPY } from './filecopy.ts'
import { withFiles } from './folder.ts'
import { type ChainLog, openLog } from './log.ts'
import { Objects } from './objects.ts'
import { finished, Reachable } from './reachable.ts'

export interface Checked {
  readonly chains: number
  readonly objects: number
  /** Of the file, and of what a compaction would leave. */
  readonly bytes: number
  readonly reachable: number
}

/** What devchain keeps beside the chains, such as what they begin with. */
const OWN = /^\/./

type OnNotice = (text: string) => void

/**
 * Reads all that the chains of a folder refer to.
 * @throws {DevchainError} `DAMAGED` at the first damaged object
 */
export function checkFolder(folder: string, onNotice: OnNotice): Checked {
  const files = withChains(folder, onNotice, ({ log, root }) => {
    const { objects, bytes: reachable } = reachableFrom(log, root)
    const { byName } = new Objects(log).read(root, chainsObject)
    const chains = [...byName.entries()].filter(([name]) => !OWN.test(name)).length
    return { chains, objects, bytes: log.size, reachable }
  })
  return sumOf(files)
}

/** Copies what the chains of each file refer to into a new one, which replaces the old one when it is on disk. */
export function compactFolder(
  folder: string,
  onNotice: OnNotice,
): { readonly before: number; readonly after: number } {
  const files = withChains(folder, onNotice, ({ log, root, file }) => {
    const copy = `${file}${COPY}`
    rmSync(copy, { force: true })
    try {
      const { log: fresh } = openLog(copy)
      const before = log.size
      try {
        const copied = finished(reachableFrom(log, root).copyTo(fresh))
        fresh.end(copied.of(root)!)
        fresh.noteLook()
        fresh.syncNow()
        fresh.replace(file)
        return { before, after: fresh.size }
      } finally {
        fresh.leave()
      }
    } catch (error) {
      rmSync(copy, { force: true })
      throw error
    }
  })
  return sumOf(files)
}

/** Member by member. */
function sumOf<T extends { readonly [Name in keyof T]: number }>([first, ...others]: readonly [
  T,
  ...T[],
]): T {
  const entries = Object.entries(first) as [keyof T, number][]
  const sums = entries.map(([name, value]) => [
    name,
    others.reduce((sum, each) => sum + each[name], value),
  ])
  return Object.fromEntries(sums) as T
}

interface Opened {
  readonly file: string
  readonly log: ChainLog
  readonly root: number
}

/** Calls `work` with each file that has a chain. */
function withChains<T>(
  folder: string,
  onNotice: OnNotice,
  work: (opened: Opened) => T,
): readonly [T, ...T[]] {
  const [first, ...others] = withFiles(folder, (file) => {
    const { log, position: root, cut } = openLog(file)
    try {
      if (cut > 0) onNotice(`${file}: cut off ${cut} bytes that a crash left unfinished`)
      return root === undefined ? [] : [work({ file, log, root })]
    } finally {
      log.close()
    }
  }).flat()
  if (first === undefined) throw new DevchainError('INVALID_PARAMS', `${folder} has no chain`)
  return [first, ...others]
}

function reachableFrom(log: ChainLog, root: number): Reachable {
  const all = new Reachable(log, log.size)
  finished(all.find(root))
  return all
}
