// Another network: what it is asked at a block is kept, what it refused is remembered, and its blocks stay what they were.
import { EMPTY_CODE_HASH, keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import {
  type Address,
  bytesFromHex,
  type Hash,
  isBytes,
  quantityFromBigint,
  wordFromBigint,
} from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import { type Client, RefusedByUpstream, type Traffic } from '../client/client.ts'
import { type ItemKey, type Store, textOfKey } from '../store/store.ts'

/** A block of a network, as its state is asked for. */
export interface BlockPoint {
  readonly number: bigint
  readonly hash: Hash
  readonly stateRoot: Hash
}

/** Who answers what no store has: the network itself, or nobody. */
export type Asker = Pick<Client, 'request' | 'name'> & { readonly traffic?: Traffic }

/** A network that was forked. */
export interface NetworkParts {
  readonly chainId: bigint
  readonly asker: Asker
  readonly store: Store
  /** True: a block near its head could be another one later. */
  readonly isShallow: (number: bigint) => boolean
  /** True: accounts and slots are fetched with their proofs. */
  readonly isProven: boolean
  /** Milliseconds of any clock. */
  readonly now: () => number
}

/** Milliseconds between two looks whether a block is still there. */
const VERIFY_MS = 10_000

/** JSON-RPC numbers of a method that is not there, or not for us. */
const UNKNOWN_METHOD = new Set([-32601, -32004, -32600])

const UNKNOWN_WORDS =
  /method.*(not (found|supported|available|allowed|exist|whitelisted|enabled)|unsupported|disabled)|does not exist|not supported|unknown method/i

export class Network {
  readonly chainId: bigint
  readonly #parts: NetworkParts
  /** Methods that the network does not know. */
  readonly #refused = new Set<string>()
  readonly #pending = new Map<string, Promise<Json>>()
  readonly #verified = new Map<Hash, number>()

  constructor(parts: NetworkParts) {
    this.chainId = parts.chainId
    this.#parts = parts
  }

  get name(): string {
    return this.#parts.asker.name
  }

  get isProven(): boolean {
    return this.#parts.isProven
  }

  get traffic(): Traffic {
    return this.#parts.asker.traffic ?? { sent: 0, asked: 0, batch: 0 }
  }

  isShallow(number: bigint): boolean {
    return this.#parts.isShallow(number)
  }

  /** True when the network said that it does not know a method. */
  refuses(method: string): boolean {
    return this.#refused.has(method)
  }

  /** Asks for a state after a block, with the block as the last parameter: the answer never changes, and is kept. */
  askAt(method: string, params: readonly Json[], point: BlockPoint): Promise<Json> {
    const at = [...params, quantityFromBigint(point.number)]
    return this.#kept({ of: this.#placeOf(point.hash), method, params }, at)
  }

  /** What `askAt` would answer without asking. */
  keptAt(method: string, params: readonly Json[], { hash }: BlockPoint): Json | undefined {
    return this.#parts.store.get({ of: this.#placeOf(hash), method, params })
  }

  /**
   * Asks for what follows from the blocks up to the fork, and so never changes.
   * @param block the one that it belongs to, where that is known: deep ones serve forks at other blocks too
   */
  askBelow(
    fork: BlockPoint,
    method: string,
    params: readonly Json[],
    block?: bigint,
  ): Promise<Json> {
    const isDeep = block !== undefined && !this.isShallow(block)
    const of = isDeep ? `${this.chainId}` : this.#placeOf(fork.hash)
    return this.#kept({ of, method, params }, params)
  }

  /** Asks for what may be otherwise tomorrow. */
  async ask(method: string, params: readonly Json[]): Promise<Json> {
    try {
      return await this.#parts.asker.request(method, params)
    } catch (error) {
      if (error instanceof RefusedByUpstream && isUnknown(error)) this.#refused.add(method)
      throw error
    }
  }

  /**
   * The words in many slots at once.
   * @returns undefined where they are to be asked for one by one
   */
  async storageValues(
    slots: readonly { readonly address: Address; readonly slot: bigint }[],
    point: BlockPoint,
  ): Promise<readonly Json[] | undefined> {
    const keyOf = (each: (typeof slots)[number]): ItemKey => ({
      of: this.#placeOf(point.hash),
      method: 'eth_getStorageAt',
      params: [each.address, wordFromBigint(each.slot)],
    })
    const { store } = this.#parts
    const values = slots.map((each) => store.get(keyOf(each)))
    const open = slots.filter((_, index) => values[index] === undefined)
    const fetched = open.length === 0 ? [] : await this.#askTogether(open, point)
    if (fetched === undefined) return undefined
    open.forEach((each, index) => {
      store.put(keyOf(each), fetched[index]!)
    })
    let next = 0
    return values.map((value) => value ?? fetched[next++]!)
  }

  /** What `codeAt` would answer without asking. */
  keptCodeAt(address: Address, point: BlockPoint): Json | undefined {
    const hash = this.keptAt('eth_getCode', [address], point)
    // most accounts have none: that wants no look into a file
    if (hash === EMPTY_CODE_HASH) return '0x'
    return typeof hash === 'string' ? this.#parts.store.get(codeKey(hash)) : undefined
  }

  /** Code, which is kept by its hash: many accounts have the same. */
  async codeAt(address: Address, point: BlockPoint): Promise<Json> {
    const { store } = this.#parts
    const key = { of: this.#placeOf(point.hash), method: 'eth_getCode', params: [address] }
    const kept = this.keptCodeAt(address, point)
    if (kept !== undefined) return kept
    const code = await this.ask('eth_getCode', [address, quantityFromBigint(point.number)])
    if (typeof code !== 'string' || !isBytes(code)) return code
    const found = keccakHash(bytesFromHex(code))
    if (found !== EMPTY_CODE_HASH) store.put(codeKey(found), code)
    store.put(key, found)
    return code
  }

  /** Looks whether a block near the head is still what it was. @throws {DevchainError} `UPSTREAM_FAILED` when it is not */
  async verify({ number, hash }: BlockPoint): Promise<void> {
    if (!this.isShallow(number)) return
    const now = this.#parts.now()
    const last = this.#verified.get(hash)
    if (last !== undefined && now - last < VERIFY_MS) return
    this.#verified.set(hash, now)
    const block = await this.ask('eth_getBlockByNumber', [quantityFromBigint(number), false])
    const found = (block as { hash?: unknown } | null)?.hash
    if (found === hash) return
    this.#verified.delete(hash)
    const message = `block ${number} of the forked network was ${hash} and is ${String(found ?? 'gone')}: it was reorganized below the fork; fork anew, at a deeper block`
    throw new DevchainError('UPSTREAM_FAILED', message)
  }

  /** Notes that a block has just been seen. */
  noteVerified(hash: Hash): void {
    this.#verified.set(hash, this.#parts.now())
  }

  flush(): Promise<void> {
    return this.#parts.store.flush()
  }

  #placeOf(hash: Hash): string {
    return `${this.chainId}/${hash}`
  }

  /** The kept answer, or one that is asked for now. The same question is not asked twice at a time. */
  async #kept(key: ItemKey, params: readonly Json[]): Promise<Json> {
    const { store } = this.#parts
    const kept = store.get(key)
    if (kept !== undefined) return kept
    const text = textOfKey(key)
    const pending = this.#pending.get(text)
    if (pending !== undefined) return pending
    const asked = this.ask(key.method, params).finally(() => this.#pending.delete(text))
    this.#pending.set(text, asked)
    const value = await asked
    store.put(key, value)
    return value
  }

  async #askTogether(
    slots: readonly { readonly address: Address; readonly slot: bigint }[],
    point: BlockPoint,
  ): Promise<readonly Json[] | undefined> {
    const method = 'eth_getStorageValues'
    if (this.#refused.has(method)) return undefined
    const asked: Record<Address, Hash[]> = {}
    for (const { address, slot } of slots) {
      asked[address] ??= []
      asked[address].push(wordFromBigint(slot))
    }
    try {
      const answer = await this.ask(method, [asked, quantityFromBigint(point.number)])
      return valuesOf(answer, asked, slots)
    } catch (error) {
      if (!(error instanceof RefusedByUpstream)) throw error
      // whatever it does not like of it, single slots are what everybody answers
      this.#refused.add(method)
      return undefined
    }
  }
}

/** The values in the order of the slots; undefined where the answer is not what was asked for. */
function valuesOf(
  answer: Json,
  asked: Readonly<Record<Address, readonly Hash[]>>,
  slots: readonly { readonly address: Address; readonly slot: bigint }[],
): readonly Json[] | undefined {
  const byAccount = new Map(
    Object.entries((answer ?? {}) as Record<string, Json>).map(([key, list]) => [
      key.toLowerCase(),
      list,
    ]),
  )
  const seen = new Map<Address, number>()
  const values: Json[] = []
  for (const { address } of slots) {
    const list = byAccount.get(address)
    if (!Array.isArray(list) || list.length !== asked[address]?.length) return undefined
    const index = seen.get(address) ?? 0
    seen.set(address, index + 1)
    values.push(list[index]!)
  }
  return values
}

function codeKey(hash: string): ItemKey {
  return { of: 'code', method: 'eth_getCode', params: [hash] }
}

function isUnknown({ upstream: { code, message } }: RefusedByUpstream): boolean {
  return UNKNOWN_METHOD.has(code) || UNKNOWN_WORDS.test(message)
}
