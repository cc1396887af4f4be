// Chains on disk (--state). Loads src/store only when needed.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { DevchainError, readFailure } from '../core/errors.ts'
import type { MaybePromise } from '../core/promises.ts'
import type { Commit } from '../node/chain/chain.ts'
import type { ChainState } from '../node/ledger/chainstate.ts'
import { type DevchainSettings, flagOf, type OptionKey, optionOf } from '../options/derived.ts'
import { groupOf } from '../options/table.ts'
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
    if (state !== undefined) requireSame(settings, state, { began, origin: origin ?? {} })
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

interface Origins {
  readonly began: About
  readonly origin: About
}

/** Options at their defaults go with any chain: nobody may have given them. */
function requireSame(
  settings: DevchainSettings,
  { config: { source } }: ChainState,
  { began, origin }: Origins,
): void {
  if (began.genesis !== undefined && began.genesis !== origin.genesis) {
    throw other(settings, 'genesis', 'began with another genesis')
  }
  if (began.compat !== origin.compat) {
    throw other(settings, 'compat', `began with ${origin.compat ?? 'none'}`)
  }
  for (const key of Object.keys(settings) as (OptionKey & keyof typeof settings)[]) {
    if (!GROUPS.includes(groupOf(key)) || BEGINNING.includes(key)) continue
    const { type, default: value } = optionOf(key)
    const [given, kept] = [settings[key], (source as Partial<DevchainSettings>)[key]]
    const isLeftOut = given === undefined || isDeepStrictEqual(given, value)
    if (isLeftOut || isDeepStrictEqual(given, kept)) continue
    throw other(settings, key, kept === undefined ? 'began without it' : `has ${type.print(kept)}`)
  }
}

function other({ state }: DevchainSettings, key: OptionKey, why: string): DevchainError {
  const message = `${flagOf(key)}: the chain in ${state} ${why}; leave the option as it was, or use another folder`
  return new DevchainError('INVALID_PARAMS', message)
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
