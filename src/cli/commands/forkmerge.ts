// `devchain fork-merge`: merges recordings of one fork.

import { mergeRecordings } from '../../app/forking.ts'
import { DevchainError } from '../../core/errors.ts'
import { plural } from '../../core/format.ts'
import { complain, print } from '../output.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'

/**
 * Merges into the first recording.
 * @returns the exit code
 */
export async function forkMergeCommand({ words }: Pick<CommandLine, 'words'>): Promise<number> {
  const [into = '', ...others] = words
  try {
    const { items, added } = await mergeRecordings(into, others)
    await print(`${into}: ${plural(BigInt(items), 'item')}, ${added} of them new\n`)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    await complain(`devchain: fork-merge: ${error.message}\n`)
    return EXIT.refused
  }
}
