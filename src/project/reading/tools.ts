// Build tools: how to recognize their projects and find their artifacts.
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'

export interface Tool {
  readonly name: string
  readonly config: RegExp
  /** Default artifact folder; the config file may name another. */
  readonly artifacts: string
  readonly build: string
}

export const TOOLS: readonly Tool[] = [
  { name: 'Foundry', config: /^foundry\.toml$/, artifacts: 'out', build: 'forge build' },
  {
    name: 'Hardhat',
    config: /^hardhat\.config\.[cm]?[jt]s$/,
    artifacts: 'artifacts',
    build: 'npx hardhat compile',
  },
  {
    name: 'Truffle',
    config: /^truffle-config\.c?js$/,
    artifacts: path.join('build', 'contracts'),
    build: 'truffle compile',
  },
]

const HIGHEST = 8

export async function toolsOf(folder: string): Promise<readonly Tool[]> {
  const names = await namesIn(folder)
  return TOOLS.filter(({ config }) => names.some((name) => config.test(name)))
}

/** The nearest project around a folder, within its repository. */
export async function projectAbove(
  folder: string,
): Promise<{ readonly folder: string; readonly tool: Tool } | undefined> {
  let below = path.resolve(folder)
  for (let i = 0; i < HIGHEST; i++) {
    const above = path.dirname(below)
    if (above === below || (await namesIn(below)).includes('.git')) return undefined
    const [tool] = await toolsOf(above)
    if (tool !== undefined) return { folder: above, tool }
    below = above
  }
  return undefined
}

export async function isFolder(name: string): Promise<boolean> {
  const found = await stat(name).catch(() => undefined)
  return found?.isDirectory() === true
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return await readdir(folder).catch(() => [])
}
