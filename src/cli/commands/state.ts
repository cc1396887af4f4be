// `devchain state`: lists, checks, compacts or exports the chains on disk (--state).
import type { ListedChain } from '../../app/keeping/keeping.ts'
import { invalidParams, printValue } from '../../core/errors.ts'
import { megabytes, number, plural } from '../../core/format.ts'
import { concatBytes } from '../../core/hex.ts'
import { replaceFile } from '../../loader/cachefolder.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import { snapshotsOf } from '../../node/ledger/snapshots.ts'
import { encodeBlock } from '../../protocol/blocks/block.ts'
import { CommandFailure, complain, writing } from '../output.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'
import { aligned } from './tables.ts'

/** @returns the text to print */
export async function stateCommand({
  words: [work = '', folder = '', file],
  flags,
}: Pick<CommandLine, 'words' | 'flags'>): Promise<string> {
  const works = { ls: list, check, compact, export: exportTo(file, flags) }
  const isWork = Object.hasOwn(works, work)
  const unused = work === 'export' ? undefined : (file ?? (flags.blocks && '--blocks'))
  if (isWork && unused === undefined) return await works[work as keyof typeof works](folder)
  const message = isWork
    ? `only export takes ${printValue(unused)}`
    : `expected ls, check, compact or export, got ${printValue(work)}`
  throw new CommandFailure(message, EXIT.usage)
}

/** Works on the chains of a folder. */
async function onChains<T>(
  folder: string,
  work: (chains: readonly ListedChain[]) => T | Promise<T>,
): Promise<T> {
  const [{ withKept }, { readDevchainOptions }] = await Promise.all([
    import('../../app/keeping/keeping.ts'),
    import('../../app/settings.ts'),
  ])
  return await withKept({ ...readDevchainOptions({}), state: folder }, notice, work)
}

async function list(folder: string): Promise<string> {
  const { sizeOfChains } = await import('../../store/folder.ts')
  const rows = await onChains(folder, (chains) => aligned(chains.map(rowOf), 6))
  return `${rows}\n${folder}: ${megabytes(sizeOfChains(folder))}\n`
}

function rowOf({ path, state }: ListedChain): readonly string[] {
  const { header, hash } = headOf(state.tree).block
  const { chainId, upstream } = state.config
  return [
    path,
    `chain ${chainId}`,
    `block ${number(header.number)}`,
    hash,
    plural(snapshotsOf(state).length, 'snapshot'),
    upstream === undefined ? '' : `fork of chain ${upstream.chainId} at ${number(upstream.number)}`,
  ]
}

async function check(folder: string): Promise<string> {
  const { checkFolder } = await import('../../store/upkeep.ts')
  const { chains, objects, bytes, reachable } = checkFolder(folder, notice)
  const size = `${megabytes(bytes)}, ${megabytes(reachable)} after a compaction`
  return `${folder}: whole: ${plural(chains, 'chain')}, ${objects.toLocaleString('en')} objects, ${size}\n`
}

async function compact(folder: string): Promise<string> {
  const { compactFolder } = await import('../../store/upkeep.ts')
  const { before, after } = compactFolder(folder, notice)
  return `${folder}: ${megabytes(after)}, ${megabytes(before)} before\n`
}

function exportTo(
  file: string | undefined,
  { chain = '/', blocks }: CommandLine['flags'],
): (folder: string) => Promise<string> {
  return async (folder) => {
    if (file === undefined) throw new CommandFailure('export needs a file to write', EXIT.usage)
    const wanted = `/${chain}`.replace(/^\/\//, '/')
    const bytes = await onChains(folder, async (chains) => {
      const found = chains.find(({ path }) => path === wanted)
      const { writePack } = await import('../../store/packfile.ts')
      if (found !== undefined) return blocks === true ? blocksOf(found) : await writePack(found)
      const known = chains.map(({ path }) => path).join(', ')
      throw invalidParams(`${folder} has no chain ${wanted}, only ${known}`)
    })
    writing(file, () => replaceFile(file, bytes))
    return `wrote ${file}: ${number(BigInt(bytes.length))} bytes\n`
  }
}

function blocksOf({ state: { tree } }: ListedChain): Uint8Array {
  if (tree.network !== undefined) throw invalidParams('a fork lacks the blocks of its network')
  return concatBytes(...[...tree.canonical.values()].map(({ block }) => encodeBlock(block)))
}

function notice(text: string): void {
  void complain(`${text}\n`)
}
