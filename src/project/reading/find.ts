// Finds artifact folders.
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { readFailure } from '../../core/errors.ts'
import type { SkippedFile } from './summary.ts'
import { isFolder, TOOLS, toolsOf } from './tools.ts'

const DEEPEST = 12
const MOST_FILES = 20_000

/** Build information is read only when a source is needed. */
const BUILD_INFO = 'build-info'

export interface ArtifactFiles {
  readonly files: readonly string[]
  readonly folders: readonly string[]
  /** Folders that cannot be listed. */
  readonly skipped: readonly SkippedFile[]
  readonly isCut: boolean
}

/**
 * Artifact folders in a folder, and those its project will have.
 * @returns empty if it has none and is no project
 */
export async function artifactFolders(folder: string): Promise<readonly string[]> {
  const tools = await toolsOf(folder)
  const found: string[] = []
  for (const tool of TOOLS) {
    const named = tool.name === 'Foundry' ? await foundryFolder(folder) : undefined
    const each = path.resolve(folder, named ?? tool.artifacts)
    if ((tools.includes(tool) || (await isFolder(each))) && !found.includes(each)) found.push(each)
  }
  return found
}

async function foundryFolder(folder: string): Promise<string | undefined> {
  const toml = await readFile(path.join(folder, 'foundry.toml'), 'utf8').catch(() => '')
  return /^\s*out\s*=\s*["']([^"']+)["']/m.exec(toml)?.[1]
}

export async function artifactsBelow(folder: string): Promise<ArtifactFiles> {
  const files: string[] = []
  const folders: string[] = []
  const skipped: SkippedFile[] = []
  let isCut = false
  const visit = async (name: string, depth: number): Promise<void> => {
    folders.push(name)
    const listed = await readdir(name, { withFileTypes: true }).catch((error: Error) => {
      // it may be removed since, perhaps by a compiler
      if (!('code' in error && error.code === 'ENOENT'))
        skipped.push({ path: name, why: readFailure(error) })
      return []
    })
    for (const entry of listed) {
      const each = path.join(name, entry.name)
      if (files.length >= MOST_FILES || depth > DEEPEST) {
        isCut = true
        return
      }
      if (entry.isDirectory() && entry.name !== 'node_modules') {
        if (entry.name !== BUILD_INFO || depth === 0) await visit(each, depth + 1)
      } else if (entry.isFile() && isArtifact(entry.name, path.basename(name))) files.push(each)
    }
  }
  await visit(folder, 0)
  return { files, folders, skipped, isCut }
}

function isArtifact(name: string, folder: string): boolean {
  return name.endsWith('.json') && !name.endsWith('.dbg.json') && folder !== BUILD_INFO
}
