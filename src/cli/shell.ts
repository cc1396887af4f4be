// Commands by name, `devchain mine`. A bundle of its own: those to a running chain do not load the code of one.
import { printValue } from '../core/errors.ts'
import { nearest } from '../core/nearest.ts'
import { remoteCommand } from './remote.ts'
import { EXIT, isSubcommand, SUBCOMMANDS } from './subcommands.ts'

/**
 * Runs a command.
 * @param argv its name and its arguments
 * @returns the exit code
 */
export async function main([name = '', ...argv]: readonly string[]): Promise<number> {
  if (!isSubcommand(name)) {
    process.stderr.write(`devchain: ${unknownCommand(name)}\n`)
    return EXIT.usage
  }
  if (name !== 'exec' && name !== 'export' && name !== 'completions') {
    return await remoteCommand(name, argv)
  }
  const { heavyCommand } = await import('./main.ts')
  return await heavyCommand(name, argv)
}

function unknownCommand(word: string): string {
  const proposal = nearest(
    word,
    SUBCOMMANDS.map(({ name }) => name),
  )
  const hint =
    proposal === undefined
      ? 'options alone, such as --port 8545, start a chain'
      : `did you mean ${proposal}?`
  return `unknown command ${printValue(word)}: ${hint} (--help lists all)`
}
