// The chains of one program: the default one at `/`, and those at other paths.
import { DevchainError, invalidParams, limitExceeded, printValue } from '../core/errors.ts'
import { lazy } from '../core/lrucache.ts'
import { type MaybePromise, whenThere } from '../core/promises.ts'
import type { ChainInfo, ChainOrder, ChainsDoor } from '../methods/common/chains.ts'
import { readyBranch } from '../node/commands/branches.ts'
import type { BlockReference } from '../node/ledger/references.ts'
import type { DevchainSettings } from '../options/derived.ts'
import type { Target } from '../server/answer.ts'
import type { Refusal } from '../server/replies.ts'
import { type Backend, type Begun, held, type Origin } from './backend.ts'
import { type ChainFacts, NO_FACTS } from './chainfacts.ts'
import type { Keeping } from './keeping/keeping.ts'
import { ownSettings } from './settings.ts'
import { ChainSlot, type OnLost, type ServedChain } from './slot.ts'

interface ChainsOptions {
  readonly settings: DevchainSettings
  /** The default chain. */
  readonly first: Backend
  /** What chains begin with; resolves after the set-up. */
  readonly origin: () => Promise<Origin>
  readonly open: (name: string, begun: Begun, how: How) => Promise<ServedChain>
  /** Chains on disk; undefined: chains are in memory only. */
  readonly keeping: Keeping | undefined
  readonly now: () => number
  readonly onBug: (error: unknown) => void
}

/** A program has its chains in its own thread. */
export type Place = 'here' | 'anywhere'

export interface How {
  /** On disk, with `--state`. */
  readonly isKept: boolean
  readonly place: Place
  readonly onLost: OnLost
}

/** Test runners number their workers from 1; viem's tests use large random numbers. */
const NUMBER = /^\/0*([1-9]\d{0,14})$/
const NUMBERS = 'a number from 1 to 999999999999999'

/** Letters first, so that no name looks like a number. */
const NAME = /^[A-Za-z][\w-]{0,63}$/

/** Paths of the server itself. */
const RESERVED = ['health', 'healthcheck', 'acquire', 'release', 'sourcify']

/** Names listed in a message. */
const LISTED = 10

/** Idle chains are looked for this often within the time after which they are dropped. */
const LOOKS = 4

const CLOSED = 'devchain is closed'

export class Chains implements ChainsDoor {
  readonly #options: ChainsOptions
  readonly #first: Backend
  readonly #firstBegunMs: number
  /** By path. */
  readonly #slots = new Map<string, ChainSlot>()
  readonly #timer: NodeJS.Timeout | undefined
  #isClosed = false
  readonly #usual = async (): Promise<Begun> => ({ from: await this.#options.origin() })

  constructor(options: ChainsOptions) {
    this.#options = options
    this.#first = options.first
    this.#firstBegunMs = options.now()
    const { chainIdle } = options.settings
    for (const name of options.keeping?.names ?? []) this.#reopen(name)
    if (chainIdle !== undefined) {
      this.#timer = setInterval(() => this.dropIdle(), chainIdle / LOOKS).unref()
    }
  }

  readonly targetOf = (path: string): Target | Refusal => {
    if (path === '/') return this.#first
    return this.#slots.get(path) ?? this.#newTarget(path)
  }

  #newTarget(path: string): Target | Refusal {
    if (numberIn(path) === undefined) return this.unknown(path)
    try {
      return this.slotFor(path)
    } catch (error) {
      return { status: 503, message: (error as Error).message }
    }
  }

  /** The chain at a path, such as `/7` or `/007`; undefined if there is none. */
  at(path: string): ChainSlot | undefined {
    return this.#slots.get(pathNamed(path))
  }

  /** A request to this path reaches a chain. */
  isReachable(path: string): boolean {
    return path === '/' || this.at(path) !== undefined || numberIn(path) !== undefined
  }

  /** A name that no chain has, and that one may get. */
  isFree(path: string): boolean {
    return NAME.test(path.slice(1)) && !RESERVED.includes(path.slice(1)) && !this.#slots.has(path)
  }

  /**
   * The chain at a path; one with a number is made if needed.
   * @throws {DevchainError} `NOT_FOUND` for an unknown name, `LIMIT_EXCEEDED` for too many chains
   */
  slotFor(path: string): ChainSlot {
    const known = this.at(path)
    if (known !== undefined) return known
    const number = numberIn(path)
    if (number === undefined) throw new DevchainError('NOT_FOUND', this.unknown(path).message)
    return this.#make(`${number}`)
  }

  /** A chain for leases, under a name that nobody uses. @throws {DevchainError} `LIMIT_EXCEEDED` */
  forLeases(): ChainSlot {
    return this.#make(this.#freeName('lease'), { isKept: false })
  }

  /** Opens the chains on disk that mine by themselves. */
  wake(): void {
    for (const slot of this.#slots.values()) {
      const { mode, stopped } = slot.kept?.mining ?? {}
      if (mode?.kind === 'interval' && stopped === false)
        void slot.open().catch(this.#options.onBug)
    }
  }

  async list(): Promise<readonly ChainInfo[]> {
    const first = {
      age: (this.#options.now() - this.#firstBegunMs) / 1000,
      requests: this.#first.requests,
      path: '/',
      name: undefined,
      ...this.#first.facts(),
    }
    const others = await Promise.all([...this.#slots.values()].map(infoOf))
    return [first, ...others.filter((info) => info !== undefined)]
  }

  async create(order: ChainOrder, place: Place = 'anywhere'): Promise<ChainInfo> {
    const slot = this.#reserve(order, place)
    const chain = await slot.open().catch(async (error: Error) => {
      if (this.#slots.get(slot.path) === slot) {
        this.#slots.delete(slot.path)
        await slot.retire(error.message)
      }
      throw error
    })
    return infoWith(slot, await chain.facts())
  }

  async drop(name: string, reason = 'the chain was dropped'): Promise<void> {
    const path = pathNamed(name)
    if (path === '/') throw invalidParams('name: the default chain at / cannot be dropped')
    const slot = this.#slots.get(path)
    if (slot === undefined) throw new DevchainError('NOT_FOUND', this.unknown(path).message)
    this.#slots.delete(path)
    await Promise.all([slot.end(reason), slot.retire(reason)])
  }

  dropIdle(): void {
    const { settings, onBug } = this.#options
    const limit = settings.chainIdle ?? Infinity
    for (const slot of [...this.#slots.values()]) {
      if (slot.idleMs() >= limit) void this.#leave(slot).catch(onBug)
    }
  }

  /** A kept chain stays on disk. */
  async #leave(slot: ChainSlot): Promise<void> {
    const { keeping } = this.#options
    const reason = 'the chain was dropped: it had no requests (--chain-idle)'
    if (slot.chain === undefined || keeping?.has(slot.name) !== true)
      return this.drop(slot.name, reason)
    const closed = slot.close(reason)
    keeping.rest(slot.name)
    await closed
  }

  /** Closes all chains but the default one. Rejects with the first error. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    const slots = [...this.#slots.values()]
    this.#isClosed = true
    this.#slots.clear()
    await Promise.all(
      slots.flatMap((slot) => [slot.close('devchain is stopping'), slot.retire(CLOSED)]),
    )
  }

  /** @throws {DevchainError} `CANCELLED` once devchain is closed */
  requireOpen(): void {
    if (this.#isClosed) throw new DevchainError('CANCELLED', CLOSED)
  }

  #reserve(order: ChainOrder, place: Place): ChainSlot {
    const { name: given = this.#freeName('chain'), from, block, options } = order
    const name = pathNamed(given).slice(1)
    if (!NAME.test(name) && numberIn(`/${name}`) === undefined) {
      const either = 'a number, or a letter and up to 63 letters, digits, - or _'
      const expected = /^-?\d/.test(name) ? NUMBERS : either
      throw invalidParams(`name: expected ${expected}; got ${printValue(given)}`)
    }
    if (RESERVED.includes(name)) throw invalidParams(`name: /${name} is a path of devchain itself`)
    if (this.#slots.has(`/${name}`)) throw invalidParams(`there is already a chain at /${name}`)
    if (block !== undefined && from === undefined)
      throw invalidParams('block: expected {from}, too: the chain whose block it is, such as /')
    if (options !== undefined && from !== undefined) {
      const message =
        'from and options exclude each other: a chain with options has its own genesis'
      throw invalidParams(message)
    }
    if (options !== undefined) {
      // invalid ones are refused at once
      ownSettings(this.#options.settings, options)
      return this.#make(name, { begun: () => ({ options }), place })
    }
    if (from === undefined) return this.#make(name, { place })
    // before its fork is held
    this.#requireRoom()
    const origin = this.#originNamed(from, block)
    const begun = async (): Promise<Begun> => ({ from: await origin })
    const onDrop = async (): Promise<void> => (await origin).forking.leaveAll()
    return this.#make(name, { begun, place, onDrop })
  }

  /** The slot of a chain on disk, which its first request opens. */
  #reopen(name: string): void {
    const { keeping, origin } = this.#options
    const options = keeping?.aboutOf(name)?.options
    if (options !== undefined) return void this.#place(name, { begun: () => ({ options }) })
    const known = lazy(() => keeping?.stateOf(name)?.origin)
    const begun = async (): Promise<Begun> => {
      const usual = await origin()
      return { from: { ...usual, state: known() ?? usual.state } }
    }
    // after a restart it begins where it began
    this.#place(name, { begun, onForget: known })
  }

  #make(name: string, opening: Opening = {}): ChainSlot {
    this.#requireRoom()
    return this.#place(name, opening)
  }

  #requireRoom(): void {
    const { maxChains } = this.#options.settings
    this.requireOpen()
    if (this.#slots.size < maxChains) return
    const message = `too many chains: the limit is ${maxChains} (--max-chains); drop one with devchain chain drop NAME`
    throw limitExceeded(message)
  }

  #place(
    name: string,
    { begun = this.#usual, isKept = true, place = 'anywhere', onForget, onDrop }: Opening,
  ): ChainSlot {
    const { open, keeping, now, onBug } = this.#options
    const slot = new ChainSlot({
      name,
      begun,
      open: (begun, onLost) => open(name, begun, { isKept, place, onLost }),
      kept: () => (isKept ? keeping?.stateOf(name) : undefined),
      forget: () => {
        onForget?.()
        return isKept ? keeping?.forget(name) : undefined
      },
      onDrop,
      now,
      onBug,
    })
    this.#slots.set(slot.path, slot)
    return slot
  }

  /**
   * The state of a chain, or of a named snapshot of the default chain. Its forks stay open for restarts, also when the chain that it
   * is of is dropped.
   */
  #originNamed(from: string, block: BlockReference | undefined): MaybePromise<Origin> {
    if (from === '/') return this.#first.heldOrigin(block)
    const slot = this.at(from)
    if (slot?.chain !== undefined) return slot.chain.heldOrigin(block)
    if (slot?.kept !== undefined) return slot.open().then((chain) => chain.heldOrigin(block))
    const origin = this.#first.origin()
    const { state } = origin
    const snapshot = state.namedSnapshots.get(from)
    if (snapshot !== undefined) {
      const begun = readyBranch({ ...snapshot.state, origin: state.origin }, block)
      return whenThere(begun, (ready) => held({ ...origin, state: ready }))
    }
    const known = [...this.#names(), ...state.namedSnapshots.keys()]
    const names = known.length === 0 ? 'there are none' : `there are ${listed(known)}`
    throw invalidParams(
      `from: expected a chain or a named snapshot; ${names}; got ${printValue(from)}`,
    )
  }

  #freeName(kind: 'chain' | 'lease'): string {
    let number = 1
    while (this.#slots.has(`/${kind}-${number}`)) number += 1
    return `${kind}-${number}`
  }

  #names(): readonly string[] {
    return [...this.#slots.values()].map(({ path }) => path)
  }

  /** The refusal of a path without a chain: it names those that there are. */
  unknown(path: string): Refusal {
    const names = ['/', ...this.#names()]
    const name = path.slice(1)
    const isOwn = RESERVED.includes(name)
      ? 'it is a path of devchain itself'
      : `${NUMBERS} makes one`
    const make = this.isFree(path) ? `devchain chain new ${name} makes it` : isOwn
    return { status: 404, message: `there is no chain at ${path}, only ${listed(names)}; ${make}` }
  }
}

interface Opening {
  /** Undefined: the chain begins as chains begin. */
  readonly begun?: () => MaybePromise<Begun>
  readonly place?: Place
  /** On disk, with `--state`: leased chains are not, as a lease ends with the process. */
  readonly isKept?: boolean
  /** Called before it is forgotten. */
  readonly onForget?: () => void
  readonly onDrop?: () => Promise<void>
}

/** The path of a chain's name, number or path: `/7` of `7` and `/007`. */
function pathNamed(given: string): string {
  return `/${given}`.replace('//', '/').replace(NUMBER, '/$1')
}

/** `7` of `/7`. */
function numberIn(path: string): string | undefined {
  return NUMBER.exec(path)?.[1]
}

async function infoOf(slot: ChainSlot): Promise<ChainInfo | undefined> {
  const facts = (await slot.facts()) ?? (slot.isOpening ? NO_FACTS : undefined)
  return facts && infoWith(slot, facts)
}

function infoWith(
  { name, path, age, requests }: ChainSlot,
  facts: ChainFacts | typeof NO_FACTS,
): ChainInfo {
  return { name, path, age, requests, ...facts }
}

export function listed(names: readonly string[]): string {
  const shown = names.slice(0, LISTED).join(', ')
  return names.length > LISTED ? `${shown} and ${names.length - LISTED} more` : shown
}
