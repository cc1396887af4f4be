// Imports a file of concatenated RLP blocks, with full validation.
import { DevchainError, unlessRefused } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import { rlpItemEnd } from '../../core/rlp.ts'
import { yielder } from '../../core/yield.ts'
import type { Executor } from '../../evm/executor.ts'
import { decodeBlock, type EncodedBlock } from '../../protocol/blocks/blockdecoding.ts'
import { brokenRule } from '../../protocol/blocks/headerrules.ts'
import { INITIAL_BASE_FEE } from '../../protocol/fees.ts'
import { isAtLeast } from '../../protocol/forks.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { blockByHash, blockByNumber, headOf, withBlock } from '../ledger/blocktree.ts'
import { type ChainState, mergedFrom, type Ruleset } from '../ledger/chainstate.ts'
import { validateBlock } from './validate.ts'

/**
 * Hash and time of the genesis: from block 0, or block 1 and its parent hash, which does not give the time. Undefined for
 * other files.
 */
export function beginningOf(
  file: Uint8Array,
): { readonly hash: Hash; readonly timestamp: bigint | undefined } | undefined {
  if (file.length === 0) return undefined
  const { header, hash } = readAt(file, 0, 0n).block
  if (header.number === 0n) return { hash, timestamp: header.timestamp }
  return header.number === 1n ? { hash: header.parentHash, timestamp: undefined } : undefined
}

/**
 * The heaviest branch wins. Block 0, if present, must be the genesis; known blocks are skipped. The first block decides
 * the ruleset (`ChainConfig.ruleset`), the newest one the settings.
 * @throws {DevchainError} `INVALID_BLOCK` with the number of the first invalid block, the broken rule, and how
 */
export async function importBlocks(
  executor: Executor,
  state: ChainState,
  file: Uint8Array,
): Promise<ChainState> {
  const blocks = new BlockImport(state)
  let previous = 0n
  const yieldIfDue = yielder()
  for (let at = 0; at < file.length; ) {
    const { block, end } = readAt(file, at, previous + 1n)
    previous = block.header.number
    at = end
    if (blockByHash(blocks.state.tree, block.hash) === undefined) await blocks.add(executor, block)
    await yieldIfDue()
  }
  return onTop(state, blocks.state)
}

export class BlockImport {
  readonly #weights: ProofWeights
  /** Without updated settings for later blocks: see `onTop`. */
  state: ChainState

  constructor(state: ChainState) {
    this.state = state
    this.#weights = new ProofWeights(state)
  }

  /** Accepts any known parent. Throws `INVALID_BLOCK` as `importBlocks`; then the state stays. */
  async add(executor: Executor, block: EncodedBlock): Promise<void> {
    this.state = await withImported(executor, this.#weights.merged(this.state, block), block)
    this.#weights.add(block)
  }
}

function readAt(
  file: Uint8Array,
  at: number,
  expectedNumber: bigint,
): { readonly block: EncodedBlock; readonly end: number } {
  const read = (): { readonly block: EncodedBlock; readonly end: number } => {
    const end = rlpItemEnd(file, at)
    return { block: decodeBlock(file.subarray(at, end)), end }
  }
  return unlessRefused(read, ({ message }) => {
    const problem = brokenRule('encoding', `at byte ${at} of the file: ${message}`)
    throw ofBlock(expectedNumber, problem)
  })
}

/** An error that says of which block it is. */
export function ofBlock(number: bigint, error: unknown): unknown {
  if (!(error instanceof DevchainError && error.word === 'INVALID_BLOCK')) return error
  const { message, data } = error
  const facts = { ...(data as object), number: Number(number) }
  return new DevchainError('INVALID_BLOCK', `block ${number}: ${message}`, facts)
}

async function withImported(
  executor: Executor,
  state: ChainState,
  block: EncodedBlock,
): Promise<ChainState> {
  const { number } = block.header
  try {
    if (number === 0n) throw otherGenesis(state, block)
    const isFirst = headOf(state.tree).block.header.number === 0n
    const settled = isFirst ? await settle(executor, state, block) : undefined
    const { state: ruled, record } = settled ?? {
      state,
      record: await validateBlock(executor, state, block),
    }
    return { ...ruled, tree: withBlock(ruled.tree, record) }
  } catch (error) {
    const parent = blockByHash(state.tree, block.header.parentHash)?.block.header.number
    throw ofBlock(parent === undefined ? number : parent + 1n, error)
  }
}

function otherGenesis({ tree }: ChainState, { hash }: EncodedBlock): DevchainError {
  const own = blockByNumber(tree, 0n)?.block.hash
  return brokenRule(
    'genesis',
    `the file begins with ${hash}, this chain with ${own}: both need the same genesis and accounts (--accounts 0 adds none)`,
  )
}

interface Settled {
  readonly state: ChainState
  readonly record: BlockRecord
}

/** Detects the ruleset by the first block: rewards show it before the merge, difficulty after. */
async function settle(
  executor: Executor,
  state: ChainState,
  block: EncodedBlock,
): Promise<Settled> {
  const attempt = async (ruleset: Ruleset): Promise<Settled> => {
    const ruled = withRuleset(state, ruleset)
    return { state: ruled, record: await validateBlock(executor, ruled, block) }
  }
  const { source, hasOwnGenesis } = state.config
  // no network begins with a genesis that no file gave
  if (source.genesis === undefined) return attempt('own')
  const likely: Ruleset = hasOwnGenesis ? 'own' : 'network'
  return attempt(likely).catch((first: unknown) => {
    if (!(first instanceof DevchainError)) throw first
    return attempt(hasOwnGenesis ? 'network' : 'own').catch((second: unknown) => {
      if (!(second instanceof DevchainError)) throw second
      throw hasOwnGenesis ? ofBoth(second, first) : ofBoth(first, second)
    })
  })
}

function ofBoth(byNetwork: DevchainError, byOwn: DevchainError): DevchainError {
  if (byNetwork.message === byOwn.message) return byNetwork
  const message = `${byNetwork.message}; by the rules of devchain's own chains: ${byOwn.message}`
  return new DevchainError('INVALID_BLOCK', message, byNetwork.data)
}

/** A network's base fee begins where EIP-1559 says. */
function withRuleset(state: ChainState, ruleset: Ruleset): ChainState {
  if (ruleset === 'own') return state
  const config = { ...state.config, ruleset, initialBaseFee: INITIAL_BASE_FEE }
  return { ...state, config, settings: { ...state.settings, pinnedBaseFee: false } }
}

/** Total difficulty without uncles, for a merge by difficulty; kept only where one may come. */
class ProofWeights {
  readonly #weights = new Map<Hash, bigint>()
  readonly #terminal: bigint | undefined

  constructor({ config, tree }: ChainState) {
    this.#terminal = config.terminalTotalDifficulty
    if (this.#terminal === undefined) return
    let weight = 0n
    for (const { block } of tree.canonical.values()) weight += block.header.difficulty
    this.#weights.set(headOf(tree).block.hash, weight)
  }

  add({ header, hash }: EncodedBlock): void {
    if (this.#terminal === undefined || header.difficulty === 0n) return
    const before = this.#weights.get(header.parentHash) ?? 0n
    this.#weights.set(hash, before + header.difficulty)
  }

  merged(state: ChainState, { header }: EncodedBlock): ChainState {
    const weight = this.#weights.get(header.parentHash)
    if (this.#terminal === undefined || weight === undefined || weight < this.#terminal)
      return state
    if (isAtLeast(state.config.hardforkAt(header.number, header.timestamp), 'paris')) return state
    return { ...state, config: mergedFrom(state.config, header.number) }
  }
}

/** Under a network's rules: settings of later blocks follow the newest one, and a reset keeps the ruleset. */
export function onTop(before: ChainState, after: ChainState): ChainState {
  const { config } = after
  if (before.tree === after.tree || config.ruleset === 'own') return after
  const { origin, tree } = after
  const { gasLimit, difficulty } = headOf(tree).block.header
  const settings = { ...after.settings, blockGasLimit: gasLimit, difficulty }
  return { ...after, settings, origin: origin && { ...origin, config } }
}
