// A copy of a file in use, without what nothing refers to any more. It is made in turns, while the file grows, and replaces it.
import { rmSync } from 'node:fs'
import type { FileCalls } from './files.ts'
import { type ChainLog, openLog } from './log.ts'
import { type Copied, finished, finishedInTurns, Reachable } from './reachable.ts'

/** The end of its name until it is in place. */
export const COPY = '.new'

/** Bytes that are copied at once, without a turn for others. */
const LAST = 256 * 1024

export interface FileCopy {
  /** Copies what was appended since the last time, in turns, until little is left. */
  readonly catchUp: () => Promise<void>
  /** Copies what came last, and puts the copy in place of the file. */
  readonly finish: () => { readonly log: ChainLog; readonly root: number }
  /** Deletes it, unless it is in place. */
  readonly discard: () => void
}

interface CopyOptions {
  /** The newest. */
  readonly root: () => number
  readonly files: FileCalls | undefined
  readonly signal: AbortSignal
}

/** @returns undefined if more than half of the file is needed, so that a copy does not pay */
export async function copyInTurns(
  path: string,
  from: ChainLog,
  { root, files, signal }: CopyOptions,
): Promise<FileCopy | undefined> {
  const first = new Reachable(from, from.size)
  await finishedInTurns(first.find(root()), signal)
  if (2 * first.bytes > from.size) return undefined
  const file = `${path}${COPY}`
  rmSync(file, { force: true })
  const { log } = openLog(file, files)
  let isOver = false
  const discard = (): void => {
    if (isOver) return
    isOver = true
    log.leave()
    rmSync(file, { force: true })
  }
  let copied: Copied | undefined
  const copyRest = async (): Promise<void> => {
    for (;;) {
      const next = copied === undefined ? first : new Reachable(from, from.size, copied)
      if (copied !== undefined) await finishedInTurns(next.find(root()), signal)
      if (copied !== undefined && next.bytes < LAST) break
      copied = await finishedInTurns(next.copyTo(log), signal)
    }
    // so that the last sync has little to do
    await log.sync()
  }
  const catchUp = (): Promise<void> =>
    copyRest().catch((error: unknown) => {
      discard()
      throw error
    })
  const finish: FileCopy['finish'] = () => {
    const last = new Reachable(from, from.size, copied)
    finished(last.find(root()))
    const position = finished(last.copyTo(log)).of(root())!
    log.replace(path, position)
    isOver = true
    return { log, root: position }
  }
  await catchUp()
  return { catchUp, finish, discard }
}
