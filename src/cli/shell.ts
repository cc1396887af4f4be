// Subcommands such as `devchain mine`. A separate bundle, so that remote commands do not load chain code.

import { forkCacheCommand } from './commands/forkcache.ts'
import { remoteCommand } from './commands/remote.ts'
import type { HeavyName } from './main.ts'
import { withOutput } from './output.ts'
import { readArguments } from './parse/commandline.ts'

/**
 * @param argv its name and arguments
 * @returns the exit code
 */
export async function main(argv: readonly string[]): Promise<number> {
  return await withOutput(() => run(argv))
}

/** Commands that load chain code. */
const HEAVY: readonly string[] = [
  'exec',
  'gas-diff',
  'export',
  'fork-merge',
  'state',
  'completions',
]

function isHeavy(name: string | undefined): name is HeavyName {
  return name !== undefined && HEAVY.includes(name)
}

async function run(argv: readonly string[]): Promise<number> {
  const line = await readArguments(argv)
  if (typeof line === 'number') return line
  const { name } = line
  if (isHeavy(name)) {
    const { heavyCommand } = await import('./main.ts')
    return await heavyCommand(name, line)
  }
  if (name === 'fork-cache') return await forkCacheCommand(line)
  // without a subcommand there are only options, which this bundle does not handle
  if (name === undefined) throw new Error(`${argv[0]} is no command`)
  return await remoteCommand(name, line)
}
