// Another network: what it is asked at a block is kept, what it refused is remembered, and its blocks stay what they were.
import { EMPTY_CODE_HASH, keccakHash } from '../../core/crypto/crypto.ts'
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
import { tellsOfNoMethod, tellsOfPruning } from '../client/provider.ts'
import { type ItemKey, type Store, textOfKey } from '../store/store.ts'
import { isAnswer, isQuantity, isWord, requireSomething, unexpected } from './answers.ts'
import type { RemoteBlock } from './header.ts'
import { hasHighContracts, ownContractNotice } from './owncontracts.ts'
import { type BlockAge, isPruned, PrunedState } from './pruned.ts'
import { requireBlock } from './sameblock.ts'

/** A block of a network, as its state is asked for. */
export interface BlockPoint {
  readonly number: bigint
  readonly hash: Hash
  readonly stateRoot: Hash
}

export function pointOf({ hash, header: { number, stateRoot } }: RemoteBlock): BlockPoint {
  return { number, hash, stateRoot }
}

/** Who answers what no store has: the network itself, or nobody. */
export type Asker = Pick<Client, 'request' | 'name'> & {
  readonly traffic?: Traffic
  /** True: it never becomes another network. */
  readonly isFixed?: boolean
}

export interface NetworkParts {
  readonly chainId: bigint
  readonly asker: Asker
  readonly store: Store
  /** True: a block near its head could be another one later. */
  readonly isShallow: (number: bigint) => boolean
  /** True: accounts and slots are fetched with their proofs. */
  readonly isProven: boolean
  /**
   * The part of the store in which what is fetched is recorded, and alone what was answered by nothing. What a run reads is asked for
   * in the same rounds whatever is kept, so that all recordings of it are equal.
   */
  readonly recording?: Store | undefined
  readonly onNotice?: (text: string) => void
  /** True: its blocks tell of those of a network below. */
  readonly isArbitrum?: boolean
  /** How old a block is, to be told where the network has pruned its state. */
  readonly ageOf?: ((number: bigint) => BlockAge) | undefined
}

/** Sentences that are told once each; a network has fewer contracts of its own, and functions of them. */
const MOST_TOLD = 1_000

/** Most of such contracts stand at low addresses. */
const NO_HIGH_DIGITS = '0'.repeat(28)

const MOST_PROVEN = 512

export class Network {
  readonly chainId: bigint
  readonly isArbitrum: boolean
  readonly isProven: boolean
  readonly #parts: NetworkParts
  /** False once the network has refused to tell of many slots at once. */
  #takesMany = true
  readonly #pending = new Map<string, Promise<Json>>()
  /** Looks at blocks that were begun in this turn. */
  readonly #looks = new Map<Hash, Promise<void>>()
  readonly #hasHighContracts: boolean
  readonly #told = new Set<string>()

  constructor(parts: NetworkParts) {
    this.chainId = parts.chainId
    this.isArbitrum = parts.isArbitrum ?? false
    this.isProven = parts.isProven
    this.#hasHighContracts = hasHighContracts(parts.chainId)
    this.#parts = parts
  }

  get asker(): Asker {
    return this.#parts.asker
  }

  tell(text: string): void {
    this.#parts.onNotice?.(text)
  }

  /** An account is used: one that is code of the network's own nodes is told of once. */
  noteUsed(address: Address, code: Uint8Array): void {
    // a mark is one byte of code, wherever it is
    const isLow = address.slice(2, 30) === NO_HIGH_DIGITS
    if (!(isLow || code.length === 1 || this.#hasHighContracts)) return
    const notice = ownContractNotice(this.chainId, this.isArbitrum, address, code)
    if (notice !== undefined) this.tellOnce(notice)
  }

  /** Tells whoever watches the fork what was not told yet: one of few sentences. */
  tellOnce(text: string): void {
    if (this.#told.has(text) || this.#told.size >= MOST_TOLD) return
    this.#told.add(text)
    this.tell(text)
  }

  /**
   * Asks for a state after a block, with the block as the last parameter: the answer never changes, and is kept.
   * @param read reads it; what it refuses is not kept
   */
  askAt<T>(
    method: string,
    params: readonly Json[],
    point: BlockPoint,
    read: (answer: Json) => T,
  ): Promise<T> {
    const at = [...params, quantityFromBigint(point.number)]
    const asked = this.#kept(
      this.#key(point, method, params),
      () => this.ask(method, at, read),
      point,
      read,
    )
    return this.#explained(asked, point, point.number)
  }

  /** What `askAt` would answer without asking. */
  keptAt(method: string, params: readonly Json[], point: BlockPoint): Json | undefined {
    if (this.#parts.recording !== undefined) return undefined
    return this.#parts.store.get(this.#key(point, method, params))
  }

  /**
   * Asks for what follows from the blocks up to the fork, and so never changes. Nothing is no answer, and not kept: a node that
   * has fallen behind does not know yet what it is asked for. A recording has it, until there is more.
   * @param block the one that it belongs to, where that is known: deep ones serve forks at other blocks too
   */
  askBelow(
    fork: BlockPoint,
    method: string,
    params: readonly Json[],
    block?: bigint,
    { check, make }: Below = {},
  ): Promise<Json> {
    const isDeep = block !== undefined && !this.#parts.isShallow(block)
    const key = this.#key(fork, method, params)
    const required = check ?? (block === undefined ? anything : requireSomething)
    const ask = make ?? (() => this.ask(method, params, required))
    const [of, at] = isDeep ? [`${this.chainId}`, undefined] : [key.of, fork]
    const asked = this.#kept({ ...key, of }, ask, at, (answer) => answer, required)
    return this.#explained(asked, fork, block)
  }

  ask(method: string, params: readonly Json[], check?: Check): Promise<Json> {
    return this.#parts.asker.request(method, params, check)
  }

  /** The words in many slots at once; undefined where they are to be asked for one by one. */
  async storageValues(
    slots: readonly SlotPlace[],
    point: BlockPoint,
  ): Promise<readonly Json[] | undefined> {
    const keyOf = ({ address, slot }: SlotPlace): ItemKey =>
      this.#key(point, 'eth_getStorageAt', [address, wordFromBigint(slot)])
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

  /**
   * Proofs of slots of an account. Each is kept as though it was asked for alone: how they come together differs.
   * @param read reads one, once it is there itself; what it refuses is not kept
   */
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
      const list = Array.isArray(storageProof) ? (storageProof as Json[]) : []
      part.forEach((slot, index) => {
        proofs.set(slot, list[index] ?? null)
      })
    })
    const [reader] = await Promise.all([read, ...asked])
    const values = slots.map((slot) => reader(proofs.get(slot) ?? null, slot))
    for (const slot of open) store.put(keyOf(slot), proofs.get(slot) ?? null)
    return values
  }

  /** What `codeAt` would answer without asking. */
  keptCodeAt(address: Address, point: BlockPoint): Json | undefined {
    const { store } = this.#parts
    const hash = store.get(this.#key(point, 'eth_getCode', [address]))
    // most accounts have none: that wants no look into a file
    if (hash === EMPTY_CODE_HASH) return '0x'
    return typeof hash === 'string' ? store.get(codeKey(hash)) : undefined
  }

  /** Asks for what is not kept, about a block that is still what it was. */
  askAbout(
    method: string,
    params: readonly Json[],
    point: BlockPoint,
    check?: Check,
  ): Promise<Json> {
    return this.#verified(this.ask(method, params, check), point)
  }

  /** Keeps what a trace tells of accounts at a block, as though each part of it had been asked for. */
  take(accounts: Readonly<Record<string, unknown>>, point: BlockPoint): void {
    const put = (method: string, params: readonly string[], value: Json): void =>
      this.#parts.store.put(this.#key(point, method, params), value)
    for (const [address, told] of Object.entries(accounts)) {
      const { balance, nonce = 0, code = '0x', storage } = told as Traced
      const count = Number.isSafeInteger(nonce) ? `0x${Number(nonce).toString(16)}` : nonce
      if (!(isQuantity(balance) && isQuantity(count) && isBytes(String(code)))) continue
      put('eth_getBalance', [address], balance)
      put('eth_getTransactionCount', [address], count)
      this.#keepCode(this.#key(point, 'eth_getCode', [address]), code)
      for (const [slot, word] of Object.entries(storage ?? {})) {
        if (!(isQuantity(slot) && isQuantity(word))) continue
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

  /**
   * Code, which is kept by its hash: many accounts have the same.
   * @param proven its hash, where that is proven: other code is not kept
   */
  async codeAt(address: Address, point: BlockPoint, proven?: Promise<Hash>): Promise<Json> {
    const key = this.#key(point, 'eth_getCode', [address])
    const kept = this.keptCodeAt(address, point)
    if (kept !== undefined && (await isProven(kept, proven))) return kept
    const at = quantityFromBigint(point.number)
    const ask = (): Promise<Json> =>
      this.#askState('eth_getCode', [address, at], point, (code) => {
        if (!isBytes(String(code))) throw unexpected('code', code)
      })
    return this.#once(key, ask, async (code) => {
      if (typeof code !== 'string' || !isBytes(code)) return code
      if (!(await isProven(code, proven))) return code
      this.#keepCode(key, code)
      return code
    })
  }

  /** An item that belongs to a block. */
  #key({ hash }: BlockPoint, method: string, params: readonly Json[]): ItemKey {
    return { of: `${this.chainId}/${hash}`, method, params }
  }

  /**
   * The kept answer, or one that is asked for now. The same question is not asked twice at a time.
   * @param point the block that it hangs on; undefined for what no reorganization reaches
   * @param check what is no answer is not kept
   */
  async #kept<T>(
    key: ItemKey,
    ask: () => Promise<Json>,
    point: BlockPoint | undefined,
    read: (answer: Json) => T,
    check: Check = anything,
  ): Promise<T> {
    const { store } = this.#parts
    const kept = store.get(key)
    if (kept !== undefined) return read(kept)
    return this.#once(
      key,
      () => this.#verified(ask(), point),
      (answer) => {
        const value = read(answer)
        if (!isAnswer(check, answer)) return value
        if (answer !== null) store.put(key, answer)
        else this.#parts.recording?.put(key, answer)
        return value
      },
    )
  }

  /** Asks what is asked already no second time. @param keep has it kept in the turn in which it is no longer pending */
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

  /**
   * An answer about a block that is still what it was: the two are asked for together, so that nothing of another branch, or of
   * another network, is taken.
   * @throws {DevchainError} `UPSTREAM_FAILED` when the block is another
   */
  async #verified(asked: Promise<Json>, point: BlockPoint | undefined): Promise<Json> {
    if (point === undefined || !this.#mayChange(point)) return asked
    const [answer, seen] = await Promise.allSettled([asked, this.#look(point)])
    // another network refuses much, and answers other things: that it is another is what matters
    if (seen.status === 'rejected') throw seen.reason
    if (answer.status === 'rejected') throw answer.reason
    return answer.value
  }

  #mayChange({ number }: BlockPoint): boolean {
    return this.#parts.isShallow(number) && this.#parts.asker.isFixed !== true
  }

  /** As `askAbout`, for a part of the block's state. */
  #askState(
    method: string,
    params: readonly Json[],
    point: BlockPoint,
    check?: Check,
  ): Promise<Json> {
    return this.#explained(this.askAbout(method, params, point, check), point, point.number)
  }

  /**
   * What is asked about a block. Where the network does not keep its state, the error says how old it is; where it refuses for
   * another reason, whether it still is the network that was forked.
   */
  async #explained<T>(
    asked: Promise<T>,
    point: BlockPoint,
    number: bigint | undefined,
  ): Promise<T> {
    try {
      return await asked
    } catch (error) {
      if (!(error instanceof RefusedByUpstream) || error instanceof PrunedState) throw error
      const { upstream } = error
      if (number !== undefined && tellsOfPruning(upstream)) {
        const age = this.#parts.ageOf?.(number) ?? { number }
        throw new PrunedState(error, age, Date.now())
      }
      const isKnown = tellsOfPruning(upstream) || tellsOfNoMethod(upstream)
      const isSeen = this.#parts.isShallow(point.number) || this.#parts.asker.isFixed === true
      if (!isKnown && !isSeen) await this.#look(point)
      throw error
    }
  }

  /** Looks whether a block is still what it was: once for all that is asked in one turn. */
  #look(point: BlockPoint): Promise<void> {
    const begun = this.#looks.get(point.hash)
    if (begun !== undefined) return begun
    const look = requireBlock(this.#parts.asker, this.chainId, point)
    this.#looks.set(point.hash, look)
    setImmediate(() => this.#looks.delete(point.hash))
    return look
  }

  async #askTogether(
    slots: readonly SlotPlace[],
    point: BlockPoint,
  ): Promise<readonly Json[] | undefined> {
    const method = 'eth_getStorageValues'
    if (!this.#takesMany) return undefined
    const asked: Record<Address, Hash[]> = {}
    for (const { address, slot } of slots) {
      asked[address] ??= []
      asked[address].push(wordFromBigint(slot))
    }
    try {
      const at = quantityFromBigint(point.number)
      const answer = await this.#askState(method, [asked, at], point)
      return valuesOf(answer, asked, slots)
    } catch (error) {
      if (!(error instanceof RefusedByUpstream) || isPruned(error)) throw error
      // whatever it does not like of it, single slots are what everybody answers
      this.#takesMany = false
      return undefined
    }
  }
}

/** A slot of an account. */
export interface SlotPlace {
  readonly address: Address
  readonly slot: bigint
}

interface Below {
  /** Throws for what is no answer: it is asked for again, and not kept. */
  readonly check?: Check | undefined
  /** Has the answer, where that takes more than one request. */
  readonly make?: (() => Promise<Json>) | undefined
}

function anything(): void {}

/** A list in pieces of so many items. */
export function partsOf<T>(list: readonly T[], most: number): readonly (readonly T[])[] {
  const count = Math.ceil(list.length / most)
  return Array.from({ length: count }, (_, index) => list.slice(index * most, (index + 1) * most))
}

interface Traced {
  readonly balance?: unknown
  readonly nonce?: unknown
  readonly code?: string
  readonly storage?: Readonly<Record<string, unknown>>
}

/** The values in the order of the slots; undefined where the answer is not what was asked for. */
function valuesOf(
  answer: Json,
  asked: Readonly<Record<Address, readonly Hash[]>>,
  slots: readonly SlotPlace[],
): readonly Json[] | undefined {
  const lists = Object.entries((answer ?? {}) as Record<string, Json>)
  const byAccount = new Map(lists.map(([address, list]) => [address.toLowerCase(), list]))
  const seen = new Map<Address, number>()
  const values: Json[] = []
  for (const { address } of slots) {
    const list = byAccount.get(address)
    if (!Array.isArray(list) || list.length !== asked[address]?.length) return undefined
    const index = seen.get(address) ?? 0
    seen.set(address, index + 1)
    if (!isWord(list[index])) return undefined
    values.push(list[index]!)
  }
  return values
}

async function isProven(code: Json, hash: Promise<Hash> | undefined): Promise<boolean> {
  return hash === undefined || keccakHash(bytesFromHex(String(code))) === (await hash)
}

function codeKey(hash: string): ItemKey {
  return { of: 'code', method: 'eth_getCode', params: [hash] }
}
