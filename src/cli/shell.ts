// Subcommands such as `devchain mine`. A separate bundle, so that remote commands do not load chain code.
import { forkCacheCommand } from './commands/forkcache.ts'
import { remoteCommand } from './commands/remote.ts'
import { reported } from './output.ts'
import { readArguments } from './parse/commandline.ts'
import { HEAVY } from './parse/subcommands.ts'

/**
 * @param argv its name and arguments
 * @returns the exit code
 */
export async function main(argv: readonly string[]): Promise<number> {
  const line = await readArguments(argv)
  if (typeof line === 'number') return line
  const { name } = line
  const heavy = HEAVY.find((each) => each === name)
  if (heavy !== undefined) return await (await import('./main.ts')).heavyCommand(heavy, line)
  // without a subcommand there are only options, which this bundle does not handle
  if (name === undefined) throw new Error(`${argv[0]} is no command`)
  return await reported(name, line.flags.json === true, async () =>
    name === 'fork-cache' ? forkCacheCommand(line) : await remoteCommand(name, line),
  )
}
