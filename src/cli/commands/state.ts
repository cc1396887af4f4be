// `devchain state`: checks or compacts a chain on disk (--state).
import { DevchainError, printValue } from '../../core/errors.ts'
import { complain, print } from '../output.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'

/** @returns the exit code */
export async function stateCommand({ words }: Pick<CommandLine, 'words'>): Promise<number> {
  const [work, folder = ''] = words
  if (work !== 'check' && work !== 'compact') {
    await complain(`devchain: state: expected check or compact, got ${printValue(work)}\n`)
    return EXIT.usage
  }
  try {
    await print(`${folder}: ${work === 'check' ? await check(folder) : await compact(folder)}\n`)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    await complain(`devchain: state: ${error.message}\n`)
    return EXIT.refused
  }
}

async function check(folder: string): Promise<string> {
  const { checkFolder } = await import('../../store/upkeep.ts')
  const { head, objects, bytes, reachable } = await checkFolder(folder, notice)
  const size = `${megabytes(bytes)}, ${megabytes(reachable)} after a compaction`
  return `whole up to block ${head}: ${objects.toLocaleString('en')} objects, ${size}`
}

async function compact(folder: string): Promise<string> {
  const { compactFolder } = await import('../../store/upkeep.ts')
  const { before, after } = await compactFolder(folder, notice)
  return `${megabytes(after)}, ${megabytes(before)} before`
}

function notice(text: string): void {
  void complain(`${text}\n`)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
