// The user's cache folder, and files and folders that other processes use too.
import { mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * This program's folder in the user's cache folder; undefined if there is none.
 * @see https://specifications.freedesktop.org/basedir-spec/latest/
 */
export function cacheFolder(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const { XDG_CACHE_HOME, LOCALAPPDATA, HOME } = environment
  if (isAbsolute(XDG_CACHE_HOME)) return path.join(XDG_CACHE_HOME, 'devchain')
  if (platform === 'win32') {
    return isAbsolute(LOCALAPPDATA) ? path.join(LOCALAPPDATA, 'devchain', 'Cache') : undefined
  }
  if (!isAbsolute(HOME)) return undefined
  const caches = platform === 'darwin' ? 'Library/Caches' : '.cache'
  return path.join(HOME, caches, 'devchain')
}

export function forkFolder(): string | undefined {
  const folder = cacheFolder()
  return folder && path.join(folder, 'forks')
}

/**
 * Node's own `recursive` loops forever where the system refuses a folder with ENOENT although its parent exists, as below
 * /proc.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (isFolder(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder) makeFolder(parent, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // another process may have made it
    if (!isFolder(folder)) throw error
  }
}

/** Makes the folder for a file if possible; errors are reported when the file is opened. */
export function makeFolderOf(file: string): void {
  try {
    makeFolder(path.dirname(path.resolve(file)))
  } catch {
    // opening the file fails for the same reason
  }
}

/** A file that is replaced as a whole: readers never see a part of it. */
export interface Replacement {
  /** What to write. */
  readonly file: string
  /** To open it with. */
  readonly flag: 'w' | 'wx'
  readonly finish: () => void
  readonly undo: () => void
}

/** A link stays, and the file that it names is replaced. */
export function replacementOf(file: string): Replacement {
  const there = statSync(file, { throwIfNoEntry: false })
  // a pipe or device, such as /dev/stdout, takes what is written
  if (there !== undefined && !there.isFile()) {
    return { file, flag: 'w', finish: () => undefined, undo: () => undefined }
  }
  const target = there === undefined ? file : realpathSync(file)
  // threads share the process id; a file of that name may belong to somebody else
  const beside = `${target}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`
  return {
    file: beside,
    flag: 'wx',
    finish: () => renameSync(beside, target),
    undo: () => rmSync(beside, { force: true }),
  }
}

/**
 * Replaces a file, or writes to a pipe or device.
 * @param mode by default only the user may read it, because it may have keys
 * @throws node's error with `file` as its path if it cannot be written
 */
export function replaceFile(file: string, content: Uint8Array | string, mode = 0o600): void {
  let replacement: Replacement | undefined
  try {
    replacement = replacementOf(file)
    writeFileSync(replacement.file, content, { mode, flag: replacement.flag })
    replacement.finish()
  } catch (error) {
    replacement?.undo()
    // that of a full disk names no file
    throw Object.assign(error as Error, { path: file })
  }
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** The specification says to ignore relative paths. */
function isAbsolute(folder: string | undefined): folder is string {
  return folder !== undefined && path.isAbsolute(folder)
}
