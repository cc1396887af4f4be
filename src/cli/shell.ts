// Commands by name, `devchain mine`. A bundle of its own: those to a running chain do not load the code of one.

import { forkCacheCommand } from './commands/forkcache.ts'
import { remoteCommand } from './commands/remote.ts'
import { withOutput } from './output.ts'
import { readArguments } from './parse/commandline.ts'

/**
 * Runs a command.
 * @param argv its name and its arguments
 * @returns the exit code
 */
export async function main(argv: readonly string[]): Promise<number> {
  return await withOutput(() => run(argv))
}

async function run(argv: readonly string[]): Promise<number> {
  const line = await readArguments(argv)
  if (typeof line === 'number') return line
  const { name } = line
  if (name === 'exec' || name === 'export' || name === 'fork-merge' || name === 'completions') {
    const { heavyCommand } = await import('./main.ts')
    return await heavyCommand(name, line)
  }
  if (name === 'fork-cache') return await forkCacheCommand(line)
  // without a command there are options alone, which are not for this bundle
  if (name === undefined) throw new Error(`${argv[0]} is no command`)
  return await remoteCommand(name, line)
}
