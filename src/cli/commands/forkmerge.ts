// devchain fork-merge: puts recordings of one fork together.
import { DevchainError } from '../../core/errors.ts'
import { plural } from '../../core/format.ts'
import { mergeRecordings } from '../../forking.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'

/**
 * Merges recordings into the first of them.
 * @returns the exit code
 */
export async function forkMergeCommand({ words }: Pick<CommandLine, 'words'>): Promise<number> {
  const [into = '', ...others] = words
  try {
    const { items, added } = await mergeRecordings(into, others)
    const said = `${into}: ${plural(BigInt(items), 'item')}, ${added} of them new`
    await new Promise((resolve) => process.stdout.write(`${said}\n`, resolve))
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    process.stderr.write(`devchain: fork-merge: ${error.message}\n`)
    return EXIT.refused
  }
}
