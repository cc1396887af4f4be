// `devchain export`: writes a running chain's blocks to a file for --import.
import { open } from 'node:fs/promises'
import { printValue, unlessRefused, writeFailure } from '../../core/errors.ts'
import { parseBytes, quantityFromBigint } from '../../core/hex.ts'
import { replacementOf } from '../../loader/cachefolder.ts'
import { decodeBlock, type EncodedBlock } from '../../protocol/blocks/blockdecoding.ts'
import type { Json } from '../../rpc/schema.ts'
import { CommandFailure } from '../output.ts'
import type { CommandLine } from '../parse/commandline.ts'
import { EXIT } from '../parse/subcommands.ts'
import { ask, askAll, chainUrl } from './client.ts'

const BATCH = 50

/** @returns the text to print */
export async function exportCommand({
  words: [file = ''],
  flags,
}: Pick<CommandLine, 'words' | 'flags'>): Promise<string> {
  const url = chainUrl(flags.url, flags.chain)
  const last = quantityOf(await ask(url, { method: 'eth_blockNumber' }))
  const cannotWrite = (error: unknown): never => {
    throw refusal(`cannot write ${file}: ${writeFailure(error)}`)
  }
  const replacement = replacementOf(file)
  const output = await open(replacement.file, replacement.flag).catch(cannotWrite)
  try {
    let previous: EncodedBlock | undefined
    for (let first = 0n; first <= last; first += BigInt(BATCH)) {
      for (const bytes of await blocksFrom(url, first, last)) {
        const block = decodeBlock(bytes)
        await checkLink(url, previous, block)
        previous = block
        await output.write(bytes).catch(cannotWrite)
      }
    }
    await output.close()
    replacement.finish()
    return `wrote blocks 0 to ${last} of ${url} to ${file}\n`
  } catch (error) {
    await output.close()
    replacement.undo()
    throw error
  }
}

async function blocksFrom(url: string, first: bigint, last: bigint): Promise<Uint8Array[]> {
  const left = Number(last - first) + 1
  const numbers = Array.from({ length: Math.min(BATCH, left) }, (_, i) => first + BigInt(i))
  const calls = numbers.map((number) => ({
    method: 'debug_getRawBlock',
    params: [quantityFromBigint(number)],
  }))
  return (await askAll(url, calls)).map((result) => bytesOf(url, result))
}

/**
 * A reorg may happen between two requests. In bulk-mined runs block hashes are not those of their headers, so no
 * other chain would accept them.
 */
async function checkLink(
  url: string,
  previous: EncodedBlock | undefined,
  { header: { number, parentHash } }: EncodedBlock,
): Promise<void> {
  if (previous === undefined || parentHash === previous.hash) return
  const params = [quantityFromBigint(number - 1n), false]
  const before = await ask(url, { method: 'eth_getBlockByNumber', params })
  const isSame = (before as { readonly hash?: Json } | null)?.hash === parentHash
  throw refusal(
    isSame
      ? `block ${number - 1n} is in a run of more than 1,000,000 empty blocks: their hashes differ from those of their headers, so no chain accepts them`
      : `the chain changed at block ${number} while it was exported: try again`,
  )
}

function quantityOf(result: Json): bigint {
  if (typeof result === 'string' && /^0x[0-9a-f]+$/i.test(result)) return BigInt(result)
  throw refusal(`expected a block number, got ${printValue(result)}`)
}

function bytesOf(url: string, result: Json): Uint8Array {
  const bytes = unlessRefused(() => parseBytes(String(result)))
  if (bytes !== undefined) return bytes
  throw refusal(`expected bytes of debug_getRawBlock from ${url}, got ${printValue(result)}`)
}

function refusal(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.refused)
}
