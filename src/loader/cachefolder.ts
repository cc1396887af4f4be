// The user's cache folder, and files and folders that other processes use too.
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

export function forkFolder(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const folder = cacheFolder(environment)
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

/**
 * Readers never see a partial file; an existing file under either name may belong to somebody else.
 * @param mode by default only the user may read it, because it may have keys
 * @throws node's error if it cannot be written
 */
export function replaceFile(file: string, content: Uint8Array | string, mode = 0o600): void {
  // threads share the process id
  const beside = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`
  try {
    writeFileSync(beside, content, { mode, flag: 'wx' })
    renameSync(beside, file)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** The specification says to ignore relative paths. */
function isAbsolute(folder: string | undefined): folder is string {
  return folder !== undefined && path.isAbsolute(folder)
}
