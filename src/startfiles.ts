// The files that a chain may start from: a genesis, and blocks to import.
import { readFile } from 'node:fs/promises'
import { DevchainError } from './core/errors.ts'
import type { ChainOptions } from './node/chainoptions.ts'
import { createNode, type Node } from './node/node.ts'
import type { DevchainSettings } from './options/derived.ts'
import { type Genesis, parseGenesis } from './state/genesis.ts'
/**
 * The genesis that the options name.
 * @throws {DevchainError} `INVALID_PARAMS` for a file that cannot be read or is no genesis
 */
export async function readGenesis({ genesis }: DevchainSettings): Promise<Genesis | undefined> {
  if (genesis === undefined) return undefined
  if (typeof genesis !== 'string') return parseGenesis(genesis)
  const json = parseJson(genesis, await readText('genesis file', genesis))
  try {
    return parseGenesis(json)
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    throw new DevchainError(error.word, `${genesis}: ${error.message.replaceAll('\n', '; ')}`)
  }
}

/** The blocks to import that the options name. */
export async function readBlocks({
  import: blocks,
}: DevchainSettings): Promise<Uint8Array | undefined> {
  return typeof blocks === 'string' ? readBytes('file of blocks', blocks) : blocks
}

/** Makes the chain; what is wrong with a block to import begins with the file's name. */
export async function createNodeFrom(
  settings: DevchainSettings,
  options: ChainOptions,
): Promise<Node> {
  try {
    return await createNode(options)
  } catch (error) {
    const isBlock = error instanceof DevchainError && error.word === 'INVALID_BLOCK'
    if (!isBlock || typeof settings.import !== 'string') throw error
    throw new DevchainError(error.word, `${settings.import}: ${error.message}`, error.data)
  }
}

async function readText(what: string, path: string): Promise<string> {
  return new TextDecoder().decode(await readBytes(what, path))
}

async function readBytes(what: string, path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new DevchainError('INVALID_PARAMS', `cannot read the ${what} ${path}: ${why}`)
  }
}

function parseJson(path: string, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    const message = `${path} is no valid JSON: ${(error as Error).message}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
}
