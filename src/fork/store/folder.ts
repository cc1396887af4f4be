// Limits the size of the cache folder: deletes the least recently used files first.
import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { plural } from '../../core/format.ts'

const MOST_BYTES = 4_000_000_000

/** Milliseconds after the start: it has other work first. */
const LATER_MS = 1_000

/**
 * Runs once.
 * @returns cancels it
 */
export function trimLater(folder: string, onNotice: (text: string) => void): () => void {
  const timer = setTimeout(() => {
    void trimFolder(folder).then((count) => {
      if (count === 0) return
      onNotice(
        `deleted the ${plural(count, 'least recently used file')} of the fork cache in ${folder}: it had more than ${MOST_BYTES / 1e9} GB`,
      )
    })
  }, LATER_MS)
  timer.unref()
  return () => clearTimeout(timer)
}

/** @returns how many files were deleted, until nine tenths of the limit are left */
export async function trimFolder(folder: string, mostBytes: number = MOST_BYTES): Promise<number> {
  const files = await filesIn(folder)
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes <= mostBytes) return 0
  let deleted = 0
  for (const file of files.toSorted((a, b) => a.usedMs - b.usedMs)) {
    if (bytes <= mostBytes * 0.9) break
    try {
      await rm(file.path, { force: true })
    } catch {
      // another process has it open, or the owner differs
      continue
    }
    bytes -= file.bytes
    deleted += 1
  }
  return deleted
}

interface CacheFile {
  readonly path: string
  readonly bytes: number
  readonly usedMs: number
}

/** Empty if the folder is missing. Other processes may delete or add files meanwhile. */
async function filesIn(folder: string): Promise<readonly CacheFile[]> {
  const files: CacheFile[] = []
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names) {
    const file = path.join(folder, name)
    const found = await stat(file).catch(() => undefined)
    if (found?.isFile() !== true) continue
    files.push({ path: file, bytes: found.size, usedMs: Math.max(found.atimeMs, found.mtimeMs) })
  }
  return files
}
