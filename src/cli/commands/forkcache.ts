// `devchain fork-cache`: shows or deletes the cache of forks.
import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { attempt } from '../../core/errors.ts'
import { plural } from '../../core/format.ts'
import { forkFolder } from '../../loader/cachefolder.ts'
import { complain, print } from '../output.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'

/** @returns the exit code */
export async function forkCacheCommand({ flags }: Pick<CommandLine, 'flags'>): Promise<number> {
  const folder = forkFolder()
  const { files, bytes } = folder === undefined ? NOTHING : contentOf(folder)
  try {
    if (flags.clear === true && folder !== undefined) {
      rmSync(folder, { recursive: true, force: true })
    }
  } catch (error) {
    await complain(`devchain: fork-cache: ${(error as Error).message}\n`)
    return EXIT.refused
  }
  await print(`${textOf({ folder, files, bytes }, flags)}\n`)
  return EXIT.ok
}

interface Content {
  readonly files: number
  readonly bytes: number
}

const NOTHING: Content = { files: 0, bytes: 0 }

function textOf(
  { folder, files, bytes }: Content & { readonly folder: string | undefined },
  { json, size, clear }: CommandLine['flags'],
): string {
  if (json === true) return JSON.stringify({ folder: folder ?? null, files, bytes })
  if (size === true) return String(bytes)
  if (folder === undefined) return 'no cache folder: neither HOME nor XDG_CACHE_HOME is set'
  const much = `${(bytes / 1e6).toFixed(1)} MB in ${plural(BigInt(files), 'file')}`
  return clear === true ? `deleted ${much} in ${folder}` : `${folder}: ${much}`
}

/** Another process may delete or add files meanwhile. */
function contentOf(folder: string): Content {
  let files = 0
  let bytes = 0
  // nothing was forked yet where there is no folder
  const names = attempt(() => readdirSync(folder, { recursive: true }) as string[]) ?? []
  for (const name of names) {
    const stat = statSync(path.join(folder, name), { throwIfNoEntry: false })
    if (stat?.isFile() !== true) continue
    files += 1
    bytes += stat.size
  }
  return { files, bytes }
}
