// Reads a dump as it arrives: anvil's JSON (0.2 to 1.7), and that of older versions of devchain.
import type { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import { emptyWorld, type World } from '../../state/world.ts'
import { type BlockTree, blockByNumber, hashByNumber, headOf } from '../ledger/blocktree.ts'
import type { ChainState } from '../ledger/chainstate.ts'
import { WorldReader } from './accounts.ts'
import { hashAt, listAt, Members, noDump, objectAt } from './members.ts'
import { IS_SPLIT, readValues, type TakeValue } from './pieces.ts'
import {
  addOutcome,
  type GivenBlock,
  givenBlock,
  headerReader,
  type Outcomes,
  type ReadBlock,
  readBlock,
} from './readblocks.ts'

export interface Dump {
  /** The number of the first block: 0, or in a fork the one after a block of the chain. */
  readonly first: number
  /** Of all blocks; empty with `withoutBlocks`. */
  readonly hashes: readonly Hash[]
  /** Why only accounts are loaded; undefined: blocks are too. */
  readonly withoutBlocks: string | undefined
  /** The blocks, to be read once, one after another. @throws {DevchainError} `INVALID_PARAMS` for a wrong one */
  readonly readBlocks: () => IterableIterator<ReadBlock>
  readonly world: World
  readonly older: ReadonlyMap<Hash, World>
}

/** Gives the bytes from the beginning, each time that it is called. */
export type DumpSource = () => AsyncIterable<Uint8Array>

/**
 * Missing accounts are those of the loading chain's genesis, or of its newest block if no blocks are loaded: the dump
 * has none, or those of a fork that the chain is not.
 * @throws {DevchainError} `INVALID_PARAMS` for an invalid dump; `LIMIT_EXCEEDED` for one too large to hold
 */
export async function readDump(source: DumpSource, state: ChainState): Promise<Dump> {
  const whole = await readFrom(source, state, genesisWorldOf(state))
  if (whole.withoutBlocks === undefined) return whole
  const { world } = headOf(state.tree)
  return genesisWorldOf(state) === world ? whole : await readFrom(source, state, world)
}

async function readFrom(source: DumpSource, state: ChainState, base: World): Promise<Dump> {
  const { config, tree } = state
  const { number, timestamp } = headOf(tree).block.header
  const keepsEmpty = !isAtLeast(config.hardforkAt(number, timestamp), 'spuriousDragon')
  const reader = new WorldReader(base, keepsEmpty)
  const members: Record<string, unknown> = {}
  const given: GivenBlock[] = []
  const outcomes: Outcomes = new Map()
  const readHeader = headerReader()
  const take: TakeValue = (path, name, value) => {
    switch (path) {
      case 'accounts':
        return reader.addAccount(String(name), value)
      case 'blocks':
        given.push(givenBlock(value, `blocks[${name}]`, readHeader))
        return
      case 'transactions':
        addOutcome(outcomes, value, `transactions[${name}]`)
        return
      case 'historical_states':
      case 'historical_states.states':
        return typeof name === 'number' ? olderState(reader, value, `${path}[${name}]`) : undefined
      default:
        members[name] = value
    }
  }
  await readValues(source(), take, reader.plain)
  requireKinds(members)
  const { line, withoutBlocks } = lineOf(new Members(members, ''), given, tree)
  const { world, older } = await reader.worlds()
  const hashes = line.map(({ hash }) => hash)
  const newest = hashes.at(-1)
  return {
    first: Number(line[0]?.header.number ?? 0n),
    hashes,
    withoutBlocks,
    readBlocks: () => readLine(line, outcomes, config),
    world,
    older: new Map([...older].filter(([hash]) => hash !== newest)),
  }
}

/** Frees what was read. */
function* readLine(
  line: GivenBlock[],
  outcomes: Outcomes,
  config: ChainState['config'],
): IterableIterator<ReadBlock> {
  line.reverse()
  for (let block = line.pop(); block !== undefined; block = line.pop()) {
    yield readBlock(block, outcomes, config)
    outcomes.delete(block.hash)
  }
}

/** What was not split is null, or something else than it should be. */
function requireKinds(members: Readonly<Record<string, unknown>>): void {
  const { accounts, blocks, transactions, historical_states: older } = members
  if (accounts === undefined) throw noDump('it has no accounts')
  if (accounts !== IS_SPLIT) objectAt(accounts, 'accounts')
  for (const [name, value] of Object.entries({ blocks, transactions, historical_states: older })) {
    if (value !== IS_SPLIT) listAt(value ?? [], name)
  }
}

/** Newer dumps have two lists, before and after account edits; devchain keeps the first. */
function olderState(reader: WorldReader, entry: unknown, path: string): Promise<void> {
  const [hash, state] = listAt(entry, path)
  return reader.addOlder(hashAt(hash, path), state, `${path}[1]`)
}

/** What a chain has before its own blocks: of a fork, what its network has; nothing if it began with a dump that lacks it. */
export function genesisWorldOf({ origin, tree }: ChainState): World {
  const { tree: first } = origin ?? { tree }
  const genesis = blockByNumber(first, BigInt(first.network?.number ?? 0))!
  return genesis.isStateless === true ? emptyWorld : genesis.world
}

type Line = Pick<Dump, 'withoutBlocks'> & { readonly line: GivenBlock[] }

/** The newest block and its ancestors, oldest first. A dump may also have blocks that were rolled back or replaced. */
function lineOf(dump: Members, given: readonly GivenBlock[], tree: BlockTree): Line {
  if (given.length === 0) return { line: [], withoutBlocks: 'it has no blocks' }
  const byHash = new Map(given.map((block) => [block.hash, block]))
  const line: GivenBlock[] = []
  let each = newestOf(dump, given)
  for (;;) {
    line.push(each)
    const { number, parentHash } = each.header
    if (number === 0n) break
    const parent = byHash.get(parentHash)
    if (parent?.header.number !== number - 1n) {
      if (tree.network !== undefined && hashByNumber(tree, number - 1n) === parentHash) break
      if (parent !== undefined || given.some(({ header }) => header.number < number)) {
        throw unlinked(each, parent)
      }
      const fork = `a fork at block ${number - 1n} (${parentHash})`
      return { line: [], withoutBlocks: `its blocks load only into ${fork}` }
    }
    each = parent
  }
  return { line: line.reverse(), withoutBlocks: undefined }
}

function unlinked({ header }: GivenBlock, parent: GivenBlock | undefined): DevchainError {
  const { number, parentHash } = header
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
