// Reads a dump, gzipped or plain: anvil's JSON (0.2 to 1.7), and that of older versions of devchain.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { yielder } from '../../core/yield.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type { World } from '../../state/world.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { blockByNumber, headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { WorldReader } from './accounts.ts'
import { hashAt, listAt, MAX_DUMP, Members, noDump } from './members.ts'
import { type GivenBlock, givenBlock, outcomesOf, type ReadBlock, readBlock } from './readblocks.ts'

export interface Dump {
  /** From the genesis on; empty if the dump has only accounts. */
  readonly blocks: readonly ReadBlock[]
  readonly world: World
  readonly older: ReadonlyMap<Hash, World>
}

/**
 * Missing accounts are those of the loading chain's genesis, or of its newest block if the dump has no blocks.
 * @throws {DevchainError} `INVALID_PARAMS` for an invalid dump; `LIMIT_EXCEEDED` for one too large to hold
 */
export async function readDump(bytes: Uint8Array, state: ChainState): Promise<Dump> {
  const dump = new Members(parseDump(await unzipped(bytes)), '')
  if (!dump.has('accounts')) throw noDump('it has no accounts')
  const line = await lineOf(dump)
  const blocks = await blocksOf(line, dump, state)
  const base = line.length === 0 ? headOf(state.tree) : genesisOf(state)
  const reader = new WorldReader(base.world, keepsEmpty(state))
  const older = await olderWorlds(reader, line, dump, base.world)
  const last = line.map(({ hash }) => older.get(hash)).findLast((world) => world !== undefined)
  const world = await reader.newest(dump.value('accounts'), last ?? base.world)
  return { blocks, world, older }
}

async function unzipped(bytes: Uint8Array): Promise<Uint8Array> {
  // the first two bytes of gzip (RFC 1952)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: MAX_DUMP })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') {
      throw noDump(`it cannot be unzipped: ${(error as Error).message}`)
    }
    throw new DevchainError('LIMIT_EXCEEDED', `state: expected at most ${MAX_DUMP} bytes unzipped`)
  }
}

/** JSON numbers that JavaScript would round: a nonce may have 64 bits. */
const LONG_NUMBER = /([:[,]\s*)(\d{16,})(?=\s*[,}\]])/g

function parseDump(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder().decode(bytes)
    return JSON.parse(text.replace(LONG_NUMBER, '$1"$2"'))
  } catch (error) {
    throw noDump(`it is not JSON: ${(error as Error).message}`)
  }
}

export function genesisOf({ origin, tree }: ChainState): BlockRecord {
  return blockByNumber((origin ?? { tree }).tree, 0n)!
}

function keepsEmpty({ config, tree }: ChainState): boolean {
  const { number, timestamp } = headOf(tree).block.header
  return !isAtLeast(config.hardforkAt(number, timestamp), 'spuriousDragon')
}

/** The newest block and its ancestors, genesis first. A dump may also have blocks that were rolled back or replaced. */
async function lineOf(dump: Members): Promise<readonly GivenBlock[]> {
  const given = dump.has('blocks') ? await dump.eachOfMany('blocks', givenBlock) : []
  if (given.length === 0) return []
  const byHash = new Map(given.map((block) => [block.hash, block]))
  const line: GivenBlock[] = []
  let each = newestOf(dump, given)
  for (;;) {
    line.push(each)
    const { number, parentHash } = each.header
    if (number === 0n) return line.reverse()
    const parent = byHash.get(parentHash)
    if (parent === undefined || parent.header.number !== number - 1n) {
      throw unlinked(each, parent, given)
    }
    each = parent
  }
}

function unlinked(
  { header: { number, parentHash } }: GivenBlock,
  parent: GivenBlock | undefined,
  given: readonly GivenBlock[],
): DevchainError {
  const before = given.some(({ header }) => header.number < number)
  if (parent === undefined && !before) {
    const problem = `blocks: they begin with ${number}, and the blocks before it are missing`
    return noDump(`${problem}: expected blocks from 0 on, from a chain that is not a fork`)
  }
  const found =
    parent === undefined ? 'none has that hash' : `that is block ${parent.header.number}`
  return noDump(`blocks: block ${number} follows ${parentHash}, and ${found}`)
}

/** Of several blocks with the highest number the dump's block environment decides, else the last (newer anvil). */
function newestOf(dump: Members, given: readonly GivenBlock[]): GivenBlock {
  const environment = dump.optional('block', () => new Members(dump.value('block'), 'block'))
  const number = numberOfNewest(dump, environment, given)
  const candidates = given.filter(({ header }) => header.number === number)
  const mixHash = environment?.optional('prevrandao', (name) => environment.hash(name))
  const newest =
    candidates.findLast(({ header }) => header.mixHash === mixHash) ?? candidates.at(-1)
  if (newest !== undefined) return newest
  throw noDump(`blocks: expected block ${number}, the newest one by best_block_number, among them`)
}

function numberOfNewest(
  dump: Members,
  environment: Members | undefined,
  given: readonly GivenBlock[],
): bigint {
  if (dump.has('best_block_number')) return dump.integer('best_block_number', 64)
  if (environment?.has('number') === true) return environment.integer('number', 64)
  return given.reduce((most, { header }) => (header.number > most ? header.number : most), 0n)
}

async function blocksOf(
  line: readonly GivenBlock[],
  dump: Members,
  { config }: ChainState,
): Promise<readonly ReadBlock[]> {
  const entries = dump.has('transactions') ? listAt(dump.value('transactions'), 'transactions') : []
  const outcomes = await outcomesOf(entries)
  const yieldIfDue = yielder()
  const blocks: ReadBlock[] = []
  for (const block of line) {
    blocks.push(readBlock(block, outcomes, config))
    await yieldIfDue()
  }
  return blocks
}

/** Each world is made from the one before; blocks off the chain are skipped. */
async function olderWorlds(
  reader: WorldReader,
  line: readonly GivenBlock[],
  dump: Members,
  base: World,
): Promise<ReadonlyMap<Hash, World>> {
  const states = olderStatesOf(dump)
  const worlds = new Map<Hash, World>()
  let previous = base
  for (const { hash } of line.slice(0, -1)) {
    const given = states.get(hash)
    if (given === undefined) continue
    previous = await reader.older(given.state, given.path, previous)
    worlds.set(hash, previous)
  }
  return worlds
}

interface OlderState {
  readonly state: unknown
  readonly path: string
}

/** Newer dumps have two lists, before and after account edits; devchain keeps the first. */
function olderStatesOf(dump: Members): ReadonlyMap<Hash, OlderState> {
  const value = dump.value('historical_states') ?? []
  const name = 'historical_states'
  const list = Array.isArray(value) ? value : new Members(value, name).value('states')
  const states = new Map<Hash, OlderState>()
  for (const [index, entry] of listAt(list, name).entries()) {
    const path = `${name}[${index}]`
    const [hash, state] = listAt(entry, path)
    states.set(hashAt(hash, path), { state, path: `${path}[1]` })
  }
  return states
}
