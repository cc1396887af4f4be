// Chains on disk (--state), or from a pack (--from). Loads src/store only when needed.
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { DevchainError, readFailure } from '../core/errors.ts'
import type { MaybePromise } from '../core/promises.ts'
import { profileOf } from '../methods/compat/profiles.ts'
import type { Commit } from '../node/chain/chain.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import { type DevchainSettings, flagOf, type OptionKey, optionOf } from '../options/derived.ts'
import { groupOf, OPTIONS } from '../options/table.ts'
import type { ChainStore } from '../store/chainstore.ts'
import type { ChainFolder } from '../store/folder.ts'

/** Groups of options that are a chain's own, but for those that only say how a new one begins. */
const GROUPS: readonly string[] = ['Chain', 'Accounts', 'Transactions', 'Mining and time']
const BEGINNING: readonly OptionKey[] = ['genesis', 'compat', 'import', 'predeploy', 'timestamp']

/** What a chain began with, as far as its state does not say: a plain value. */
export interface About {
  /** SHA-256 of the genesis file. */
  readonly genesis?: string | undefined
  readonly compat?: string | undefined
  /** Its own, for a chain at a path that has some. */
  readonly options?: object | undefined
  /** Grows with each chain that begins. */
  readonly turn?: number | undefined
}

/** The place of one chain in the folder. */
export interface ChainPlace {
  /** Undefined for a new chain. */
  readonly state: ChainState | undefined
  /** To be called with the first state of a new chain. */
  readonly begin: (state: ChainState) => MaybePromise<void>
  readonly commit: Commit
}

/** Names of chains begin with a letter or a digit. */
const FIRST = '/'
const SET_UP = '/set-up'

/** The chains of a process on disk. */
export class Keeping {
  readonly #folder: ChainFolder
  readonly #store: ChainStore
  /** By name. A chain that ended may still have a command that runs: its place is none any more. */
  readonly #places = new Map<string, ChainPlace>()
  #nextTurn: number

  constructor(folder: ChainFolder) {
    this.#folder = folder
    this.#store = folder.store
    this.#nextTurn = 1 + Math.max(0, ...this.#store.names().map((name) => this.#turnOf(name)))
  }

  /** Of the chains at paths, the oldest first. */
  get names(): readonly string[] {
    const names = this.#store.names().filter((name) => !name.startsWith('/'))
    return names.sort((a, b) => this.#turnOf(a) - this.#turnOf(b))
  }

  #turnOf(name: string): number {
    return this.aboutOf(name)?.turn ?? 0
  }

  aboutOf(name: string): About | undefined {
    return this.#store.at(name)?.about as About | undefined
  }

  stateOf(name: string): ChainState | undefined {
    return this.#store.at(name)?.state
  }

  /** @param begun for a new chain */
  place(name: string, begun: About): ChainPlace {
    const about = this.aboutOf(name) ?? { ...begun, turn: this.#nextTurn++ }
    const begin = (state: ChainState): MaybePromise<void> =>
      this.#places.get(name) === place ? this.#store.keep(name, { about, state }) : undefined
    const commit: Commit = ({ after }) => begin(after)
    const place = { state: this.stateOf(name), begin, commit }
    this.#places.set(name, place)
    return place
  }

  /** @throws {DevchainError} `INVALID_PARAMS` if the chain began with other options */
  async first(settings: DevchainSettings): Promise<ChainPlace> {
    const began = { genesis: await digestOf(settings.genesis), compat: settings.compat }
    const [state, origin] = [this.stateOf(FIRST), this.aboutOf(FIRST)]
    if (state !== undefined) requireOrigin(settings, state, { began, origin: origin ?? {} })
    return this.place(FIRST, began)
  }

  /** What chains at paths begin with after a set-up; undefined if there was none. */
  get setUp(): ChainState | undefined {
    return this.stateOf(SET_UP)
  }

  keepSetUp(state: ChainState): MaybePromise<void> {
    return this.#store.keep(SET_UP, { about: {}, state })
  }

  forget(name: string): MaybePromise<void> {
    this.#places.delete(name)
    return this.#store.forget(name)
  }

  /** Frees the memory of a chain that was closed, which stays on disk. */
  rest(name: string): void {
    this.#places.delete(name)
    this.#store.rest(name)
  }

  close(): Promise<void> {
    return this.#folder.close()
  }
}

/**
 * @returns undefined without `--state`
 * @throws {DevchainError} `INVALID_PARAMS` for a folder that cannot be used, which stays as it is
 */
export async function openKeeping(
  { state, durability }: DevchainSettings,
  onNotice: (text: string) => void,
): Promise<Keeping | undefined> {
  if (state === undefined) return undefined
  const { openFolder } = await import('../store/folder.ts')
  return new Keeping(openFolder(state, { durability, onNotice }))
}

/** `--state FILE` has anvil's meaning: the dump is loaded if there is one, and written at the end. */
export function withDumpFile(settings: DevchainSettings): DevchainSettings {
  const { state, loadState, dumpState } = settings
  const there = state === undefined ? undefined : statSync(state, { throwIfNoEntry: false })
  const isFile = there === undefined ? state?.endsWith('.json') : there.isFile()
  if (isFile !== true) return settings
  return {
    ...settings,
    state: undefined,
    loadState: loadState ?? (there && state),
    dumpState: dumpState ?? state,
  }
}

/** What the default chain begins with. */
export interface DefaultBeginning {
  readonly kept: ChainPlace | undefined
  /** The state of a pack. */
  readonly state: ChainState | undefined
  /** With the options of a chain that began before. */
  readonly settings: DevchainSettings
}

/**
 * @throws {DevchainError} `INVALID_PARAMS` for a pack that cannot be read, or if a chain in it or on disk began with other options;
 *   `DAMAGED` for a file that is no whole pack
 */
export async function beginningOf(
  given: DevchainSettings,
  keeping: Keeping | undefined,
): Promise<DefaultBeginning> {
  // what a chain on disk began with is not read again
  const isNew = keeping?.stateOf(FIRST) === undefined
  const pack = isNew && given.from !== undefined ? await openPack(given, given.from) : undefined
  const settings = pack?.settings ?? given
  const kept = await keeping?.first(settings)
  if (kept?.state === undefined) return { kept, state: pack?.state, settings }
  return { kept, state: undefined, settings: withOwn(settings, kept.state) }
}

async function openPack(
  settings: DevchainSettings,
  from: string | Uint8Array,
): Promise<Omit<DefaultBeginning, 'kept'>> {
  const name = typeof from === 'string' ? from : 'from'
  const { readPack } = await import('../store/packfile.ts')
  const { state, compat } = await readPack(await bytesOf(from), name)
  const where = { chain: `the chain in ${name}`, instead: 'leave the option out' }
  if (settings.compat !== undefined) requireCompat(settings, compat, where)
  requireSame(settings, state, where)
  return { state, settings: { ...withOwn(settings, state), compat } }
}

async function bytesOf(from: string | Uint8Array): Promise<Uint8Array> {
  if (typeof from !== 'string') return from
  try {
    return await readFile(from)
  } catch (error) {
    throw new DevchainError('INVALID_PARAMS', `cannot read the pack ${from}: ${readFailure(error)}`)
  }
}

/** The options of a chain that began before. */
function withOwn(settings: DevchainSettings, { config }: ChainState): DevchainSettings {
  const own = Object.entries(config.source).filter(
    ([key]) => key in OPTIONS && isOwn(key as OptionKey),
  )
  return { ...settings, ...Object.fromEntries(own) }
}

interface Origins {
  readonly began: About
  readonly origin: About
}

function requireOrigin(
  settings: DevchainSettings,
  state: ChainState,
  { began, origin }: Origins,
): void {
  const where = {
    chain: `the chain in ${settings.state}`,
    instead: 'leave the option as it was, or use another folder',
  }
  if (began.genesis !== undefined && began.genesis !== origin.genesis) {
    throw other('genesis', 'began with another genesis', where)
  }
  requireCompat(settings, origin.compat, where)
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
function requireSame(
  settings: DevchainSettings,
  { config: { source } }: ChainState,
  where: Where,
): void {
  const { defaults } = profileOf(settings.compat)
  for (const key of Object.keys(settings) as (OptionKey & keyof typeof settings)[]) {
    if (!isOwn(key)) continue
    const { type, default: usual } = optionOf(key)
    const [given, kept] = [settings[key], (source as Partial<DevchainSettings>)[key]]
    const unsaid = (defaults as Partial<DevchainSettings>)[key] ?? usual
    const isLeftOut = given === undefined || isDeepStrictEqual(given, unsaid)
    if (isLeftOut || isDeepStrictEqual(given, kept)) continue
    throw other(key, kept === undefined ? 'began without it' : `has ${type.print(kept)}`, where)
  }
}

/** A chain that began before has it. */
function isOwn(key: OptionKey): boolean {
  return GROUPS.includes(groupOf(key)) && !BEGINNING.includes(key)
}

function other(key: OptionKey, why: string, { chain, instead }: Where): DevchainError {
  return new DevchainError('INVALID_PARAMS', `${flagOf(key)}: ${chain} ${why}; ${instead}`)
}

/** SHA-256 in hex. */
async function digestOf(genesis: string | object | undefined): Promise<string | undefined> {
  if (genesis === undefined) return undefined
  const hash = createHash('sha256')
  if (typeof genesis !== 'string') return hash.update(JSON.stringify(genesis)).digest('hex')
  try {
    for await (const part of createReadStream(genesis)) hash.update(part as Uint8Array)
  } catch (error) {
    const message = `cannot read the genesis file ${genesis}: ${readFailure(error)}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  return hash.digest('hex')
}
