// The files a chain may start from: a genesis file, predeploys, and blocks to import.
import { createReadStream, readFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { DevchainError, invalidParams, readFailure } from '../core/errors.ts'
import type { Address } from '../core/hex.ts'
import { jsonOf } from '../core/objects.ts'
import type { ChainOptions } from '../node/chainoptions.ts'
import { createNode, type Node } from '../node/node.ts'
import type { DevchainSettings } from '../options/derived.ts'
import { isPredeployName, type PredeployName } from '../options/values.ts'
import {
  type Genesis,
  type GenesisAccount,
  NO_PREDEPLOYS,
  type Predeploys,
  parseGenesis,
  parsePredeploys,
} from '../state/genesis.ts'
import type { StreamedGenesis } from '../state/packed/genesisfile.ts'
import type { Predeploy } from '../state/predeploys.ts'
import { accountAt } from '../state/world.ts'

const CONTRACTS: Readonly<Record<PredeployName, () => Promise<Predeploy>>> = {
  multicall3: async () => (await import('../state/multicall3.ts')).MULTICALL3,
}

/** @throws {DevchainError} `INVALID_PARAMS` for a file that cannot be read or is no genesis */
export async function readGenesis(
  { genesis }: DevchainSettings,
  onNotice: (text: string) => void,
): Promise<Genesis | undefined> {
  if (genesis === undefined) return undefined
  if (typeof genesis !== 'string') return parseGenesis(genesis)
  const { genesis: streamed, repeated } = await streamGenesis(genesis, onNotice)
  if (streamed !== undefined) return streamed
  const whole = await parseFile('genesis file', genesis, parseGenesis)
  if (repeated === undefined) return whole
  // JSON.parse drops all but the last of equal names
  throw invalidParams(`${genesis}: invalid genesis: alloc.${repeated}: expected each address once`)
}

/** The first progress report comes after this time, the next ones after twice the last. */
const FIRST_REPORT_MS = 1000

/** Bytes of a file read at once: some 3,000 accounts. */
const CHUNK = 256 * 1024

async function streamGenesis(
  path: string,
  onNotice: (text: string) => void,
): Promise<StreamedGenesis> {
  const file = await stat(path).catch(() => undefined)
  // a pipe can be read only once, and reading the file as a whole says why it cannot be read
  if (!file?.isFile()) return { genesis: undefined }
  const began = performance.now()
  let due = began + FIRST_REPORT_MS
  const { readGenesisStream } = await import('../state/packed/genesisfile.ts')
  // in one chunk: turns of the loop for more take 3 ms of a start
  if (file.size <= 4 * CHUNK)
    return readGenesisStream(Readable.from([readFileSync(path)]), () => undefined)
  const stream = createReadStream(path, { highWaterMark: CHUNK })
  return readGenesisStream(stream, (accounts) => {
    const now = performance.now()
    if (now < due) return
    due += due - began
    const percent = Math.floor((100 * stream.bytesRead) / file.size)
    onNotice(`reading ${path}: ${percent} %, ${accounts.toLocaleString('en')} accounts`)
  })
}

/**
 * The contracts and accounts to predeploy.
 * @throws {DevchainError} `INVALID_PARAMS` for an unreadable or invalid file, or an address given twice
 */
export async function readPredeploys(
  { predeploy }: DevchainSettings,
  genesis: Genesis | undefined,
): Promise<Predeploys> {
  if (predeploy.length === 0) return NO_PREDEPLOYS
  const givers = new Map<Address, string>()
  const claim = (address: Address, giver: string): void => {
    const other = isIn(genesis, address) ? 'the genesis file' : givers.get(address)
    if (other !== undefined) {
      throw invalidParams(`predeploy ${giver}: ${address} is already in ${other}`)
    }
    givers.set(address, giver)
  }
  const contracts: Predeploy[] = []
  const accounts = new Map<Address, GenesisAccount>()
  for (const source of new Set(predeploy)) {
    if (isPredeployName(source)) {
      const contract = await CONTRACTS[source]()
      claim(contract.address, source)
      contracts.push(contract)
      continue
    }
    const alloc = await parseFile('file of accounts', source, parsePredeploys)
    for (const [address, account] of alloc) {
      claim(address, source)
      accounts.set(address, account)
    }
  }
  return { contracts, accounts }
}

function isIn(genesis: Genesis | undefined, address: Address): boolean {
  if (genesis === undefined) return false
  const { alloc, world } = genesis
  return alloc.has(address) || (world !== undefined && accountAt(world, address) !== undefined)
}

/** What identifies a chain may come from an option or the genesis file, but must not differ. */
export function checkIdentity(settings: DevchainSettings, genesis: Genesis | undefined): void {
  const { chainId, timestamp } = settings
  refuseDifference('chain id', chainId === 'remote' ? undefined : chainId, genesis?.config?.chainId)
  refuseDifference('timestamp', timestamp, genesis?.timestamp)
}

/** @param file the value as written in the file: a JSON number, decimal or hex text */
function refuseDifference(what: string, option: bigint | undefined, file: unknown): void {
  if (option === undefined || file === undefined) return
  const text = String(file)
  // Whatever reads the file reports a value that is no number.
  if (!/^(0x[0-9a-f]+|[0-9]+)$/i.test(text) || BigInt(text) === option) return
  throw invalidParams(`${what} ${option} contradicts the genesis file, which has ${text}`)
}

export async function readBlocks({
  import: blocks,
}: DevchainSettings): Promise<Uint8Array | undefined> {
  return typeof blocks === 'string' ? readBytes('file of blocks', blocks) : blocks
}

/** Makes the chain; errors about a block to import begin with the file's name. */
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

async function parseFile<T>(what: string, path: string, parse: (json: unknown) => T): Promise<T> {
  const json = jsonOf(path, new TextDecoder().decode(await readBytes(what, path)))
  try {
    return parse(json)
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    throw new DevchainError(error.word, `${path}: ${error.message.replaceAll('\n', '; ')}`)
  }
}

export async function readBytes(what: string, path: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await readFile(path))
  } catch (error) {
    throw invalidParams(`cannot read the ${what} ${path}: ${readFailure(error)}`)
  }
}
