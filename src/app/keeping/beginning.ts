// What the default chain begins with: a genesis or a fork, a chain on disk (--state), a pack (--from).
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { type DevchainError, invalidParams, readFailure } from '../../core/errors.ts'
import { profileOf } from '../../methods/compat/profiles.ts'
import { headOf } from '../../node/ledger/blocktree.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { ForkBase, Upstream } from '../../node/ledger/upstream.ts'
import {
  type DevchainSettings,
  flagOf,
  isKept,
  type OptionKey,
  optionOf,
} from '../../options/derived.ts'
import { isOtherBlock } from '../../options/fork.ts'
import { OPTIONS } from '../../options/table.ts'
import type { PackedFork } from '../../store/packfile.ts'
import { openPackedFork } from '../forking.ts'
import { isDumpFile } from '../settings.ts'
import { readBytes } from '../startfiles.ts'
import { type About, type ChainPlace, FIRST, type Keeping, type OnNotice } from './keeping.ts'
import type { SharedFork } from './keptforks.ts'

/** `--state FILE` has anvil's meaning: the dump is loaded if there is one, and written at the end. */
export function withDumpFile(settings: DevchainSettings): DevchainSettings {
  const { state, loadState, dumpState } = settings
  if (state === undefined || !isDumpFile(state)) return settings
  return {
    ...settings,
    state: undefined,
    loadState: loadState ?? (existsSync(state) ? state : undefined),
    dumpState: dumpState ?? state,
  }
}

/** What the default chain begins with. */
export interface DefaultBeginning {
  readonly kept: ChainPlace | undefined
  readonly pack: OpenedPack | undefined
  /** With the options of a chain that began before. */
  readonly settings: DevchainSettings
}

export interface OpenedPack {
  readonly state: ChainState
  /** To be left when the chain has begun. */
  readonly fork: SharedFork | undefined
}

/**
 * @throws {DevchainError} `INVALID_PARAMS` for a pack that cannot be read, or if a chain in it or on disk began with other options;
 *   `DAMAGED` for a file that is no whole pack
 */
export async function beginningOf(
  given: DevchainSettings,
  keeping: Keeping | undefined,
  onNotice: OnNotice,
): Promise<DefaultBeginning> {
  await keeping?.openForks()
  // what a chain on disk began with is not read again
  const isNew = keeping?.stateOf(FIRST) === undefined
  const { from } = given
  const opened =
    isNew && from !== undefined ? await openPack(given, from, keeping, onNotice) : undefined
  const settings = opened?.settings ?? given
  const kept = keeping && (await placeOf(settings, keeping))
  if (kept?.state === undefined) return { kept, pack: opened?.pack, settings }
  return { kept, pack: undefined, settings: withOwn(settings, kept.state) }
}

async function placeOf(settings: DevchainSettings, keeping: Keeping): Promise<ChainPlace> {
  const began = { genesis: await digestOf(settings.genesis), compat: settings.compat }
  const [state, origin] = [keeping.stateOf(FIRST), keeping.aboutOf(FIRST)]
  if (state !== undefined) requireOrigin(settings, state, began, origin ?? {})
  return keeping.place(FIRST, began)
}

async function openPack(
  settings: DevchainSettings,
  from: string | Uint8Array,
  keeping: Keeping | undefined,
  onNotice: OnNotice,
): Promise<{ readonly pack: OpenedPack; readonly settings: DevchainSettings }> {
  const name = typeof from === 'string' ? from : 'from'
  const where = { chain: `the chain in ${name}`, instead: 'leave the option out' }
  const { readPack } = await import('../../store/packfile.ts')
  const bytes = typeof from === 'string' ? await readBytes('pack', from) : from
  let fork: SharedFork | undefined
  const openFork = async (packed: PackedFork | undefined): Promise<ForkBase | undefined> => {
    requireNetwork(settings, packed, where)
    fork = packed && (await openPackedFork(settings, packed, keeping?.forks, onNotice))
    return fork?.fork.base
  }
  const { state, compat } = await readPack(bytes, name, openFork)
  try {
    if (settings.compat !== undefined) requireCompat(settings, compat, where)
    requireSame(settings, state, where)
  } catch (error) {
    fork?.leave()
    throw error
  }
  return { pack: { state, fork }, settings: { ...withOwn(settings, state), compat } }
}

/** @throws {DevchainError} `INVALID_PARAMS` for a fork without its network, and for a recording without a fork */
function requireNetwork(
  { fork, forkReplay }: DevchainSettings,
  packed: PackedFork | undefined,
  where: Where,
): void {
  if (packed === undefined && forkReplay !== undefined)
    throw other('forkReplay', 'is no fork', where)
  if (packed === undefined || forkReplay !== undefined || fork?.urls.length) return
  const [chainId, hash] = packed.name.split('/')
  const message = `${where.chain} is a fork of chain ${chainId} at block ${hash}: name its network with --fork URL, or a recording with --fork-replay FILE`
  throw invalidParams(message)
}

/** The options of a chain that began before. */
function withOwn(settings: DevchainSettings, { config }: ChainState): DevchainSettings {
  const own = Object.entries(config.source).filter(
    ([key]) => key in OPTIONS && isOwn(key as OptionKey),
  )
  const { takesChainId, takesBaseFee } = config.upstream?.source ?? {}
  return {
    ...settings,
    ...Object.fromEntries(own),
    ...(takesChainId === true && { chainId: 'remote' as const }),
    ...(takesBaseFee === true && { baseFee: 'remote' as const }),
  }
}

function requireOrigin(
  settings: DevchainSettings,
  state: ChainState,
  began: About,
  origin: About,
): void {
  const where = {
    chain: `the chain in ${settings.state}`,
    instead: 'leave the option as it was, or use another folder',
  }
  if (began.genesis !== undefined && began.genesis !== origin.genesis) {
    throw other('genesis', 'began with another genesis', where)
  }
  requireCompat(settings, origin.compat, where)
  if (settings.forkReplay !== undefined) throw other('forkReplay', 'began without it', where)
  requireSame(settings, state, where)
}

/** For messages: the chain that began before, and what to do about an option that differs. */
interface Where {
  readonly chain: string
  readonly instead: string
}

function requireCompat(
  { compat }: DevchainSettings,
  began: string | undefined,
  where: Where,
): void {
  if (compat !== began) throw other('compat', `began with ${began ?? 'none'}`, where)
}

/** Options at their defaults go with any chain: nobody may have given them. */
function requireSame(settings: DevchainSettings, state: ChainState, where: Where): void {
  const { source, upstream } = state.config
  requireFork(settings, upstream, where)
  const { defaults } = profileOf(settings.compat)
  for (const key of Object.keys(settings) as (OptionKey & keyof typeof settings)[]) {
    if (!isOwn(key)) continue
    const { type, default: usual } = optionOf(key)
    const known: Partial<DevchainSettings> = source
    const [given, kept] = [settings[key], known[key] ?? usualIn(state)[key]]
    const unsaid = (defaults as Partial<DevchainSettings>)[key] ?? usual
    const isLeftOut = given === undefined || isDeepStrictEqual(given, unsaid)
    if (isLeftOut || isDeepStrictEqual(given, kept)) continue
    if (given === 'remote' && takesIn(upstream, key)) continue
    if (kept === undefined) throw other(key, 'began without it', where)
    // one that hides its value may be a secret
    const isSecret = type.show !== undefined
    throw other(key, isSecret ? 'began with another' : `has ${type.print(kept)}`, where)
  }
}

/** What a chain has of options that it began without. */
function usualIn({ config, settings, tree }: ChainState): Partial<DevchainSettings> {
  const { number, timestamp } = headOf(tree).block.header
  const { chainId, upstream, source, hardforkAt } = config
  const isScheduled = upstream !== undefined || source.genesis !== undefined
  return {
    chainId,
    hardfork: isScheduled ? undefined : hardforkAt(number, timestamp),
    gasLimit: settings.blockGasLimit,
    difficulty: settings.difficulty,
    coinbase: settings.coinbase,
  }
}

/** `--chain-id remote` and `--base-fee remote`. */
function takesIn(upstream: Upstream | undefined, key: OptionKey): boolean {
  const { takesChainId = false, takesBaseFee = false } = upstream?.source ?? {}
  return key === 'chainId' ? takesChainId : takesBaseFee
}

/** Tags, and blocks counted from the newest, go with any fork: they say where a new one begins. */
function requireFork(
  settings: DevchainSettings,
  upstream: Upstream | undefined,
  where: Where,
): void {
  const { fork, forkProofs, forkTransaction } = settings
  if (fork === undefined) return
  if (upstream === undefined) throw other('fork', 'is no fork', where)
  const { number, hash } = upstream
  if (isOtherBlock(fork.block, number, hash)) {
    throw other('fork', `is a fork at block ${number}, ${hash}`, where)
  }
  if (forkTransaction !== undefined && forkTransaction !== firstIn(upstream)) {
    throw other('forkTransaction', 'began otherwise', where)
  }
  if (forkProofs && !upstream.facts().isProven) throw other('forkProofs', 'began without it', where)
}

/** The hash of the transaction before which a fork began. */
function firstIn({ source }: Upstream): string | undefined {
  const { prefix } = source.head as {
    readonly prefix?: { readonly block: { transactions: { hash: string }[] }; index: number }
  }
  return prefix?.block.transactions[prefix.index]?.hash
}

/** A chain that began before has it; a time only says when a new one begins. */
function isOwn(key: OptionKey): boolean {
  return isKept(key) && key !== 'timestamp'
}

function other(key: OptionKey, why: string, { chain, instead }: Where): DevchainError {
  return invalidParams(`${flagOf(key)}: ${chain} ${why}; ${instead}`)
}

/** SHA-256 in hex. */
async function digestOf(genesis: string | object | undefined): Promise<string | undefined> {
  if (genesis === undefined) return undefined
  const hash = createHash('sha256')
  if (typeof genesis !== 'string') return hash.update(JSON.stringify(genesis)).digest('hex')
  try {
    for await (const part of createReadStream(genesis)) hash.update(part as Uint8Array)
  } catch (error) {
    throw invalidParams(`cannot read the genesis file ${genesis}: ${readFailure(error)}`)
  }
  return hash.digest('hex')
}
