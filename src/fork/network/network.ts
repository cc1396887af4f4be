// Reads of another network at a block: caches answers, and checks that the block is still the same.
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
import type { MaybePromise } from '../../core/promises.ts'
import type { Json } from '../../rpc/schema.ts'
import { type Check, type Client, RefusedByUpstream, type Traffic } from '../client/client.ts'
import { isMethodNotFound, isPrunedError } from '../client/provider.ts'
import { type ItemKey, type Store, textOfKey } from '../store/store.ts'
import { bytesIn, isWord, listIn, quantity, unexpected } from './answers.ts'
import type { RemoteBlock } from './header.ts'
import { ownContractNotice } from './owncontracts.ts'
import type { TracedAccounts } from './prestate.ts'
import { type BlockAge, isPruned, PrunedState } from './pruned.ts'

export interface BlockPoint {
  readonly number: bigint
  readonly hash: Hash
  readonly stateRoot: Hash
}

export function pointOf({ hash, header: { number, stateRoot } }: RemoteBlock): BlockPoint {
  return { number, hash, stateRoot }
}

/** The network, or nothing for a recording. */
export type Asker = Pick<Client, 'request' | 'name'> & {
  readonly traffic?: Traffic
  /** True: its URL never becomes another network's. */
  readonly isFixed?: boolean
}

export interface NetworkParts {
  readonly chainId: bigint
  /** The name of the fork that reads the network. */
  readonly fork: string
  readonly asker: Asker
  readonly store: Store
  /** True: a reorg could replace the block. */
  readonly isShallow: (number: bigint) => boolean
  /** True: accounts and slots are fetched with their proofs. */
  readonly isProven: boolean
  /**
   * Records what is fetched; null answers go only here. A run makes the same rounds whatever is cached, so that all
   * its recordings are equal.
   */
  readonly recording?: Store | undefined
  readonly onNotice?: (text: string) => void
  readonly isArbitrum?: boolean
  /** How old a block is, for errors about pruned state. */
  readonly ageOf?: ((number: bigint) => BlockAge) | undefined
}

/** Parses an answer: one that it refuses is asked for again, and not cached. */
type Read<T> = (answer: Json) => T

const MOST_WARNINGS = 1_000

const MOST_PROVEN = 512

export class ForkedNetwork {
  readonly chainId: bigint
  readonly fork: string
  readonly isArbitrum: boolean
  readonly isProven: boolean
  readonly #parts: NetworkParts
  /** False once the network has refused `eth_getStorageValues`. */
  #takesMany = true
  readonly #pending = new Map<string, Promise<Json>>()
  /** Checks of blocks that began in this turn. */
  readonly #looks = new Map<Hash, Promise<void>>()
  readonly #warned = new Set<string>()

  constructor(parts: NetworkParts) {
    this.chainId = parts.chainId
    this.fork = parts.fork
    this.isArbitrum = parts.isArbitrum ?? false
    this.isProven = parts.isProven
    this.#parts = parts
  }

  get asker(): Asker {
    return this.#parts.asker
  }

  warn(text: string): void {
    this.#parts.onNotice?.(text)
  }

  /** Warns once about an account whose code is part of the network's nodes. */
  noteUsed(address: Address, code: Uint8Array): void {
    const notice = ownContractNotice(this.chainId, this.isArbitrum, address, code)
    if (notice !== undefined) this.warnOnce(notice)
  }

  warnOnce(text: string): void {
    if (this.#warned.has(text) || this.#warned.size >= MOST_WARNINGS) return
    this.#warned.add(text)
    this.warn(text)
  }

  /** Cached forever. */
  askAt<T>(method: string, params: readonly Json[], point: BlockPoint, read: Read<T>): Promise<T> {
    const at = [...params, quantityFromBigint(point.number)]
    const make = (): Promise<Json> => this.ask(method, at, read)
    const kept = this.#kept(this.#key(point, method, params), make, point, read)
    return this.#explained(kept, point, point.number)
  }

  keptAt(method: string, params: readonly Json[], point: BlockPoint): Json | undefined {
    if (this.#parts.recording !== undefined) return undefined
    return this.#parts.store.get(this.#key(point, method, params))
  }

  /**
   * For what follows from the blocks up to the fork, and so never changes. Null may come from a node that has fallen
   * behind, so only a recording keeps it.
   * @param block its block, if known: forks at other blocks share answers about deep blocks
   * @param make fetches the answer if that takes several requests
   */
  askHistory<T>(
    fork: BlockPoint,
    method: string,
    params: readonly Json[],
    block: bigint | undefined,
    read: Read<T>,
    make: () => Promise<Json> = () => this.ask(method, params, read),
  ): Promise<T> {
    const isDeep = block !== undefined && !this.#parts.isShallow(block)
    const key = this.#key(fork, method, params)
    const [of, at] = isDeep ? [`${this.chainId}`, undefined] : [key.of, fork]
    return this.#explained(this.#kept({ ...key, of }, make, at, read), fork, block)
  }

  ask(method: string, params: readonly Json[], check?: Check): Promise<Json> {
    return this.#parts.asker.request(method, params, check)
  }

  /** Undefined: ask for each slot alone. */
  async storageValues(
    slots: readonly SlotPlace[],
    point: BlockPoint,
  ): Promise<readonly Json[] | undefined> {
    const { store } = this.#parts
    const asked: Record<Address, Hash[]> = {}
    const keys = slots.map(({ address, slot }) => {
      const word = wordFromBigint(slot)
      asked[address] ??= []
      asked[address].push(word)
      return this.#key(point, 'eth_getStorageAt', [address, word])
    })
    // what is being recorded may be in the cache
    const kept = keys.map((key) => store.get(key)).filter((value) => value !== undefined)
    if (kept.length === keys.length) return kept
    if (!this.#takesMany) return undefined
    try {
      const params = [asked, quantityFromBigint(point.number)]
      const answer = await this.#askState('eth_getStorageValues', params, point)
      const values = valuesOf(answer, slots)
      values?.forEach((value, index) => {
        store.put(keys[index]!, value)
      })
      return values
    } catch (error) {
      if (!(error instanceof RefusedByUpstream) || isPruned(error)) throw error
      // every node answers single slots
      this.#takesMany = false
      return undefined
    }
  }

  /** @param read parses one that exists; what it refuses is not cached */
  async slotProofs<T>(
    address: Address,
    slots: readonly bigint[],
    point: BlockPoint,
    read: Promise<(proof: Json, slot: bigint) => T>,
  ): Promise<readonly T[]> {
    const { store } = this.#parts
    const method = 'eth_getProof'
    const keyOf = (slot: bigint): ItemKey =>
      this.#key(point, method, [address, [wordFromBigint(slot)]])
    const proofs = new Map(slots.map((slot) => [slot, store.get(keyOf(slot))]))
    const open = slots.filter((slot) => proofs.get(slot) === undefined)
    const asked = partsOf(open, MOST_PROVEN).map(async (part) => {
      const params = [address, part.map(wordFromBigint), quantityFromBigint(point.number)]
      const answer = await this.#askState(method, params, point)
      const { storageProof } = (answer ?? {}) as { storageProof?: unknown }
      const list = listIn(storageProof)
      part.forEach((slot, index) => {
        proofs.set(slot, list[index] ?? null)
      })
    })
    const [reader] = await Promise.all([read, ...asked])
    const values = slots.map((slot) => reader(proofs.get(slot) ?? null, slot))
    for (const slot of open) store.put(keyOf(slot), proofs.get(slot) ?? null)
    return values
  }

  keptCodeAt(address: Address, point: BlockPoint): Json | undefined {
    const { store } = this.#parts
    const hash = store.get(this.#key(point, 'eth_getCode', [address]))
    // most accounts have no code: skip the file
    if (hash === EMPTY_CODE_HASH) return '0x'
    return typeof hash === 'string' ? store.get(codeKey(hash)) : undefined
  }

  peek<T>(method: string, params: readonly Json[], point: BlockPoint, read: Read<T>): Promise<T> {
    return this.#verified(this.ask(method, params, read), point).then(read)
  }

  /** Caches the accounts of a trace as though each part was asked for alone. */
  take(accounts: TracedAccounts, point: BlockPoint): void {
    const put = (method: string, params: readonly string[], value: Json): void =>
      this.#parts.store.put(this.#key(point, method, params), value)
    for (const [address, { balance, nonce, code, storage }] of Object.entries(accounts)) {
      if (balance === undefined) continue
      put('eth_getBalance', [address], balance)
      put('eth_getTransactionCount', [address], quantityFromBigint(BigInt(nonce ?? 0)))
      this.#keepCode(this.#key(point, 'eth_getCode', [address]), code ?? '0x')
      for (const [slot, word] of Object.entries(storage ?? {})) {
        put('eth_getStorageAt', [address, wordFromBigint(BigInt(slot))], word)
      }
    }
  }

  #keepCode(key: ItemKey, code: string): void {
    const { store } = this.#parts
    const found = keccakHash(bytesFromHex(code))
    if (found !== EMPTY_CODE_HASH) store.put(codeKey(found), code)
    store.put(key, found)
  }

  /** @param proven the code's hash, if proven: other code is not cached */
  async codeAt(address: Address, point: BlockPoint, proven?: Promise<Hash>): Promise<Json> {
    const key = this.#key(point, 'eth_getCode', [address])
    const kept = this.keptCodeAt(address, point)
    if (kept !== undefined && (await isProven(kept, proven))) return kept
    const at = quantityFromBigint(point.number)
    const ask = (): Promise<Json> => this.#askState('eth_getCode', [address, at], point, bytesIn)
    return this.#once(key, ask, async (code) => {
      if (typeof code !== 'string' || !isBytes(code)) return code
      if (!(await isProven(code, proven))) return code
      this.#keepCode(key, code)
      return code
    })
  }

  #key({ hash }: BlockPoint, method: string, params: readonly Json[]): ItemKey {
    return { of: `${this.chainId}/${hash}`, method, params }
  }

  /** @param point undefined: no reorg can change the answer */
  async #kept<T>(
    key: ItemKey,
    ask: () => Promise<Json>,
    point: BlockPoint | undefined,
    read: Read<T>,
  ): Promise<T> {
    const { store } = this.#parts
    const kept = store.get(key)
    if (kept !== undefined) return read(kept)
    return this.#once(
      key,
      () => this.#verified(ask(), point),
      (answer) => {
        const value = read(answer)
        if (answer !== null) store.put(key, answer)
        else this.#parts.recording?.put(key, answer)
        return value
      },
    )
  }

  /** @param keep caches the answer in the turn in which the request ends */
  async #once<T>(
    key: ItemKey,
    ask: () => Promise<Json>,
    keep: (answer: Json) => MaybePromise<T>,
  ): Promise<T> {
    const text = textOfKey(key)
    const pending = this.#pending.get(text)
    if (pending !== undefined) return keep(await pending)
    const asked = ask()
    this.#pending.set(text, asked)
    try {
      return await keep(await asked)
    } finally {
      this.#pending.delete(text)
    }
  }

  /** Asks for the block in the same batch, so that no answer comes from another branch or network. */
  async #verified(asked: Promise<Json>, point: BlockPoint | undefined): Promise<Json> {
    const { isShallow, asker } = this.#parts
    if (point === undefined || !isShallow(point.number) || asker.isFixed === true) return asked
    const [answer, seen] = await Promise.allSettled([asked, this.#look(point)])
    // if it is another network, that error matters more than its answers
    if (seen.status === 'rejected') throw seen.reason
    if (answer.status === 'rejected') throw answer.reason
    return answer.value
  }

  #askState(
    method: string,
    params: readonly Json[],
    point: BlockPoint,
    check?: Check,
  ): Promise<Json> {
    const asked = this.#verified(this.ask(method, params, check), point)
    return this.#explained(asked, point, point.number)
  }

  /** Explains a failure: how old the block is if its state is pruned, else if the block is still the same. */
  async #explained<T>(asked: Promise<T>, point: BlockPoint, number?: bigint): Promise<T> {
    try {
      return await asked
    } catch (error) {
      if (!(error instanceof RefusedByUpstream) || error instanceof PrunedState) throw error
      const { upstream } = error
      if (number !== undefined && isPrunedError(upstream)) {
        const age = this.#parts.ageOf?.(number) ?? { number }
        throw new PrunedState(error, age, Date.now())
      }
      const isKnown = isPrunedError(upstream) || isMethodNotFound(upstream)
      const isSeen = this.#parts.isShallow(point.number) || this.#parts.asker.isFixed === true
      if (!isKnown && !isSeen) await this.#look(point)
      throw error
    }
  }

  /** One check for all questions of a turn. */
  #look(point: BlockPoint): Promise<void> {
    const begun = this.#looks.get(point.hash)
    if (begun !== undefined) return begun
    const look = requireBlock(this.#parts.asker, this.chainId, point)
    this.#looks.set(point.hash, look)
    setImmediate(() => this.#looks.delete(point.hash))
    return look
  }
}

export interface SlotPlace {
  readonly address: Address
  readonly slot: bigint
}

export function partsOf<T>(list: readonly T[], most: number): readonly (readonly T[])[] {
  const count = Math.ceil(list.length / most)
  return Array.from({ length: count }, (_, index) => list.slice(index * most, (index + 1) * most))
}

/** Undefined: the answer does not fit the question. */
function valuesOf(answer: Json, slots: readonly SlotPlace[]): readonly Json[] | undefined {
  const lists = Object.entries((answer ?? {}) as Record<string, Json>)
  const left = new Map(lists.map(([address, list]) => [address.toLowerCase(), [...listIn(list)]]))
  const values = slots.map(({ address }) => left.get(address)?.shift() ?? null)
  const isWhole = slots.every(({ address }) => left.get(address)?.length === 0)
  return isWhole && values.every(isWord) ? values : undefined
}

async function isProven(code: Json, hash: Promise<Hash> | undefined): Promise<boolean> {
  return hash === undefined || keccakHash(bytesFromHex(String(code))) === (await hash)
}

function codeKey(hash: string): ItemKey {
  return { of: 'code', method: 'eth_getCode', params: [hash] }
}

/**
 * Checks that a network still has a block: nodes fall behind, reorgs happen, URLs change.
 * @throws {DevchainError} `UPSTREAM_FAILED` if the block has changed
 */
async function requireBlock(
  asker: Asker,
  chainId: bigint,
  { number, hash }: BlockPoint,
): Promise<void> {
  const params = [quantityFromBigint(number), false]
  const first = await asker.request('eth_getBlockByNumber', params)
  if (hashIn(first) === hash) return
  // one of several nodes may have fallen behind
  const again = asker.request('eth_getBlockByNumber', params, (block) => {
    if (hashIn(block) === undefined) throw unexpected(`block ${number}`, block)
  })
  // a failure that nobody awaits any more is ignored
  again.catch(() => undefined)
  const found = quantity(await asker.request('eth_chainId', [], quantity))
  if (found !== chainId) {
    const message = `${asker.name} is another network now: its chain id is ${found}, expected ${chainId}`
    throw new DevchainError('UPSTREAM_FAILED', message)
  }
  const second = hashIn(await again)
  if (second === hash) return
  const message =
    second === undefined
      ? `the forked network no longer has block ${number} (${hash}): its node lags behind, or the block was reorged; use another node, or start a new fork`
      : `block ${number} of the forked network was ${hash} and is ${second}: a reorg below the fork; start a new fork, at a deeper block`
  throw new DevchainError('UPSTREAM_FAILED', message)
}

function hashIn(block: Json): Hash | undefined {
  const { hash } = (block ?? {}) as { readonly hash?: unknown }
  return typeof hash === 'string' ? (hash.toLowerCase() as Hash) : undefined
}
