// Where tools put their artifacts.
import type { Dirent } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { isFolder, TOOLS, toolsOf } from './tools.ts'

/** Folders that are gone into below one another, and files that are taken: no project has as many. */
const DEEPEST = 12
const MOST_FILES = 20_000

/** Folders of build information: it is read when a source is asked for. */
const BUILD_INFO = 'build-info'

export interface Artifacts {
  readonly files: readonly string[]
  readonly folders: readonly string[]
  readonly isCut: boolean
}

/**
 * The folders of artifacts in a folder, and those that will be there as it is that of a project.
 * @returns an empty list where it has none and is none
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
  try {
    const toml = await readFile(path.join(folder, 'foundry.toml'), 'utf8')
    return /^\s*out\s*=\s*["']([^"']+)["']/m.exec(toml)?.[1]
  } catch {
    return undefined
  }
}

export async function artifactsBelow(folder: string): Promise<Artifacts> {
  const files: string[] = []
  const folders: string[] = []
  let isCut = false
  const visit = async (name: string, depth: number): Promise<void> => {
    folders.push(name)
    for (const entry of await entriesOf(name)) {
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
  return { files, folders, isCut }
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    // gone since: a compiler may be clearing it
    return []
  }
}

function isArtifact(name: string, folder: string): boolean {
  return name.endsWith('.json') && !name.endsWith('.dbg.json') && folder !== BUILD_INFO
}
