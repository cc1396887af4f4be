// Work on a chain on disk that no process has: is all of it whole, and without what nothing refers to any more.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { DevchainError } from '../core/errors.ts'
import { headOf } from '../node/ledger/blocktree.ts'
import { CHAIN, type ChainFolder, openFolder } from './folder.ts'
import { openLog } from './log.ts'
import type { Medium } from './objects.ts'

export interface Checked {
  /** The number of the newest block. */
  readonly head: bigint
  readonly objects: number
  /** Of the file, and of what a compaction would leave. */
  readonly bytes: number
  readonly reachable: number
}

/**
 * Reads all that the state of a folder refers to.
 * @throws {DevchainError} `DAMAGED` at the first damaged object
 */
export async function checkFolder(
  folder: string,
  onNotice: (text: string) => void,
): Promise<Checked> {
  const kept = open(folder, onNotice)
  try {
    let [objects, reachable] = [0, 0]
    const counting: Medium = {
      append(bytes) {
        objects += 1
        reachable += bytes.length + 8
        return objects
      },
      read: () => {
        throw new Error('nothing is kept')
      },
    }
    kept.store.copyTo(counting)
    const head = headOf(kept.store.state!.tree).block.header.number
    return { head, objects, bytes: statSync(path.join(folder, CHAIN)).size, reachable }
  } finally {
    await kept.close()
  }
}

/** Copies what the state refers to into a new file, which replaces the old one when it is on disk. */
export async function compactFolder(
  folder: string,
  onNotice: (text: string) => void,
): Promise<{ readonly before: number; readonly after: number }> {
  const kept = open(folder, onNotice)
  const file = path.join(folder, CHAIN)
  const [before, copy] = [statSync(file).size, `${file}.new`]
  try {
    rmSync(copy, { force: true })
    const { log } = openLog(copy)
    try {
      log.end(kept.store.copyTo(log))
    } finally {
      log.close()
    }
  } catch (error) {
    await kept.close(() => rmSync(copy, { force: true }))
    throw error
  }
  await kept.close(() => renameSync(copy, file))
  return { before, after: statSync(file).size }
}

function open(folder: string, onNotice: (text: string) => void): ChainFolder {
  if (!existsSync(path.join(folder, CHAIN))) {
    throw new DevchainError('INVALID_PARAMS', `${folder} has no chain`)
  }
  const kept = openFolder(folder, { durability: 'interval', onNotice })
  if (kept.store.state !== undefined) return kept
  void kept.close()
  throw new DevchainError('INVALID_PARAMS', `${folder} has no chain`)
}
