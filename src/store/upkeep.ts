// Work on chains on disk that no process has: is all of it whole, and without what nothing refers to any more.
import { rmSync } from 'node:fs'
import { unlessRefused } from '../core/errors.ts'
import { CorruptStore } from './bytes.ts'
import { chainsObject } from './codecs/chains.ts'
import { COPY } from './filecopy.ts'
import { noChainIn, withFiles } from './folder.ts'
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
 * @throws {DevchainError} `DAMAGED` at the first damaged object, with the chains that are whole
 */
export function checkFolder(folder: string, onNotice: OnNotice): Checked {
  const files = withChains(folder, onNotice, ({ log, root }) => {
    try {
      const { objects, bytes: reachable } = reachableFrom(log, root)
      return { chains: chainsIn(log, root).length, objects, bytes: log.size, reachable }
    } catch (error) {
      if (!(error instanceof CorruptStore)) throw error
      throw new CorruptStore(`${error.message}; ${wholeIn(log, root)}`)
    }
  })
  const sumOf = (name: keyof Checked): number => files.reduce((sum, each) => sum + each[name], 0)
  return {
    chains: sumOf('chains'),
    objects: sumOf('objects'),
    bytes: sumOf('bytes'),
    reachable: sumOf('reachable'),
  }
}

/** Their names, and where they are. */
function chainsIn(log: ChainLog, root: number): readonly (readonly [string, number])[] {
  const objects = new Objects(log)
  const chains = [...objects.read(root, chainsObject).byName.entries()]
  return chains
    .filter(([name]) => !OWN.test(name))
    .map(([name, chain]) => [name === '/' ? name : `/${name}`, objects.known(chain)!])
}

/** Which chains of a damaged file are whole. */
function wholeIn(log: ChainLog, root: number): string {
  const whole = unlessRefused(() =>
    chainsIn(log, root).filter(([, position]) => unlessRefused(() => reachableFrom(log, position))),
  )
  if (whole === undefined || whole.length === 0) return 'no chain is whole'
  return `whole: ${whole.map(([name]) => name).join(', ')}`
}

/** Copies what the chains of each file refer to into a new one, which replaces the old one when it is on disk. */
export function compactFolder(
  folder: string,
  onNotice: OnNotice,
): { readonly before: number; readonly after: number } {
  const files = withChains(folder, onNotice, ({ log, root, file }) => {
    const copy = `${file}${COPY}`
    rmSync(copy, { force: true })
    const { log: fresh } = openLog(copy)
    try {
      const before = log.size
      const copied = finished(reachableFrom(log, root).copyTo(fresh))
      fresh.replace(file, copied.of(root)!)
      return { before, after: fresh.size }
    } finally {
      fresh.leave()
      // unless it is in place
      rmSync(copy, { force: true })
    }
  })
  return files.reduce((sum, each) => ({
    before: sum.before + each.before,
    after: sum.after + each.after,
  }))
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
): readonly T[] {
  const done = withFiles(folder, (file) => {
    const { log, position: root, cut } = openLog(file)
    try {
      if (cut > 0) onNotice(`${file}: cut off ${cut} bytes that a crash left unfinished`)
      return root === undefined ? [] : [work({ file, log, root })]
    } finally {
      log.close()
    }
  }).flat()
  if (done.length === 0) throw noChainIn(folder)
  return done
}

function reachableFrom(log: ChainLog, root: number): Reachable {
  const all = new Reachable(log, log.size)
  finished(all.find(root))
  return all
}
