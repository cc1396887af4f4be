// `devchain fork-cache`: shows or deletes the cache of forks.
import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { attempt } from '../../core/errors.ts'
import { megabytes, plural } from '../../core/format.ts'
import { forkFolder } from '../../loader/cachefolder.ts'
import { CommandFailure } from '../output.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'

/** @returns the text to print */
export function forkCacheCommand({ flags }: Pick<CommandLine, 'flags'>): string {
  const { json, size, clear } = flags
  const folder = forkFolder()
  const sizes = folder === undefined ? [] : sizesIn(folder)
  const bytes = sizes.reduce((sum, each) => sum + each, 0)
  try {
    if (clear === true && folder !== undefined) rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    throw new CommandFailure((error as Error).message, EXIT.refused)
  }
  const much = `${megabytes(bytes)} in ${plural(sizes.length, 'file')}`
  let text = clear === true ? `deleted ${much} in ${folder}` : `${folder}: ${much}`
  if (folder === undefined) text = 'no cache folder: neither HOME nor XDG_CACHE_HOME is set'
  if (size === true) text = String(bytes)
  if (json === true) text = JSON.stringify({ folder: folder ?? null, files: sizes.length, bytes })
  return `${text}\n`
}

/** Bytes of each file; another process may delete or add files meanwhile. */
function sizesIn(folder: string): readonly number[] {
  // nothing was forked yet where there is no folder
  const names = attempt(() => readdirSync(folder, { recursive: true }) as string[]) ?? []
  return names.flatMap((name) => {
    const stat = statSync(path.join(folder, name), { throwIfNoEntry: false })
    return stat?.isFile() === true ? [stat.size] : []
  })
}
