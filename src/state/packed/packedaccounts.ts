// Accounts of a large genesis, packed in bytes, and their trie, made in one pass over the sorted keys. Objects are made for
// the accounts that are read.
import { Desk, keccak256, readDigest } from '../../core/crypto/keccak.ts'
import { type Address, bigintFromBytes, hexFromBytes, putHex } from '../../core/hex.ts'
import { lazy } from '../../core/lrucache.ts'
import type { YieldIfDue } from '../../core/yield.ts'
import { asBytes, EXTENSION, pairOf } from '../../protocol/trienodes.ts'
import { Trie } from '../trie.ts'
import {
  KEY_NIBBLES,
  makeFork,
  makeLeaf,
  referenceOf,
  type TrieNode,
  type WholeNode,
  writeLeaf,
} from '../trienode.ts'
import { type Account, emptyAccount, encodeAccount, type World } from '../world.ts'

const KEY_LENGTH = 32
const ADDRESS_LENGTH = 20
const BALANCE_LENGTH = 32

// one account: the hash of its address, the address, the balance
const ADDRESS = KEY_LENGTH
const BALANCE = ADDRESS + ADDRESS_LENGTH
const RECORD = BALANCE + BALANCE_LENGTH

/** Accounts of one page, as a power of two: pages need no copy when accounts are added. */
const PAGE_BITS = 13
const PAGE_SIZE = 1 << PAGE_BITS
const PAGE_MASK = PAGE_SIZE - 1

/** Most accounts below a node that is made only when one of them is read, and then level by level. */
const BUNDLE = 64

/** Most accounts that are hashed when the root is read. To hash more at once would hold the loop. */
const HASHED_ON_READ = 16_384

/** Indexes for which a number has room beside 32 bits. */
const MOST_ROOM = 2 ** 21

/** Bytes of the longest branch, rounded up. */
const NODE_ROOM = 576

/** Length of a branch's longest RLP header. */
const HEADER_ROOM = 3

/** Nodes made from packed accounts belong to no batch of changes. */
const NO_EDIT = {}

const desk = new Desk()
/** The beginning of a record. */
const draft: Uint8Array = desk.bytes.subarray(0, BALANCE)
const key = new Uint8Array(KEY_LENGTH)

/** RLP of an account without nonce, code and storage, whose balance is written into it. */
const content = new Uint8Array(2 + 1 + 1 + BALANCE_LENGTH + 33 + 33)

/** Its two hashes; the RLP has no address. */
const TAIL = encodeAccount(emptyAccount('0x' as Address)).subarray(-2 * 33)

export type PackedWorld =
  | { readonly world: World; readonly repeated?: undefined }
  | { readonly world?: undefined; readonly repeated: Address }

export class PackedAccounts {
  readonly #pages: Buffer[] = []
  /** Accounts with a nonce, code or storage. */
  readonly #others = new Map<number, Account>()
  #count = 0
  /** Indexes of the accounts by their keys. */
  #order = new Uint32Array(0)

  get count(): number {
    return this.#count
  }

  /**
   * Adds an account without nonce, code and storage.
   * @param address 40 hex digits
   * @param balance at most 64 hex digits
   */
  add(address: string, balance: string): void {
    const index = this.#count++
    if ((index & PAGE_MASK) === 0) this.#pages.push(Buffer.alloc(PAGE_SIZE * RECORD))
    const page = this.#pages[index >> PAGE_BITS]!
    const at = (index & PAGE_MASK) * RECORD
    putHex(draft, ADDRESS, address, 0)
    desk.hashTo(ADDRESS, ADDRESS_LENGTH, 0)
    page.set(draft, at)
    const odd = balance.length & 1
    const whole = at + RECORD - (balance.length >> 1)
    if (odd === 1) page[whole - 1] = Number.parseInt(balance[0]!, 16)
    putHex(page, whole, balance, odd)
  }

  /** Adds any account. @param address 40 hex digits */
  addOther(address: string, account: Account): void {
    this.#others.set(this.#count, account)
    this.add(address, '')
  }

  /** Sorts the accounts, and hashes many, unless an address is there twice. Add nothing later. */
  async world(yieldIfDue: YieldIfDue): Promise<PackedWorld> {
    const repeated = await this.#sort(yieldIfDue)
    if (repeated !== undefined) return { repeated: this.#accountOf(repeated).address }
    const root = this.#count === 0 ? undefined : await this.#build(0, this.#count, 0, yieldIfDue)
    return { world: { accounts: Trie.of(root, encodeAccount) } }
  }

  /**
   * By the first bits of their keys, which are hashes, and the few that share these by insertion. The typed array sorts numbers
   * of bits and index, as a function of ours would have to be compiled first.
   * @returns the place of an account whose address another one has, or undefined
   */
  async #sort(yieldIfDue: YieldIfDue): Promise<number | undefined> {
    const count = this.#count
    const room = 2 ** Math.ceil(Math.log2(Math.max(count, 1)))
    const numbers = new Float64Array(count)
    for (let start = 0; start < count; start += PAGE_SIZE) {
      await yieldIfDue()
      writeNumbers(numbers, this.#pages[start >> PAGE_BITS]!, start, room)
    }
    numbers.sort()
    await yieldIfDue()
    const order = new Uint32Array(count)
    this.#order = order
    let repeated: number | undefined
    for (let i = 0; i < count; i++) {
      const index = numbers[i]! % room
      order[i] = index
      if (i === 0 || numbers[i]! - numbers[i - 1]! > room) continue
      let at = i
      for (; at > 0; at--) {
        const difference = this.#compare(order[at - 1]!, index)
        if (difference === 0) repeated = at
        if (difference <= 0) break
        order[at] = order[at - 1]!
      }
      order[at] = index
    }
    return repeated
  }

  #compare(one: number, other: number): number {
    const a = this.#pages[one >> PAGE_BITS]!
    const b = this.#pages[other >> PAGE_BITS]!
    const from = (one & PAGE_MASK) * RECORD
    const to = (other & PAGE_MASK) * RECORD
    for (let i = 0; i < KEY_LENGTH; i++) {
      const difference = a[from + i]! - b[to + i]!
      if (difference !== 0) return difference
    }
    return 0
  }

  /** The node above the accounts [from, to) of the order, which share `depth` nibbles. */
  async #build(
    from: number,
    to: number,
    depth: number,
    yieldIfDue: YieldIfDue,
  ): Promise<TrieNode<Account>> {
    await yieldIfDue()
    if (to - from <= BUNDLE) return this.#bundle(from, to, depth)
    const fork = this.#forkOf(from, to, depth)
    const children = new Array<TrieNode<Account> | undefined>(16).fill(undefined)
    let count = 0
    for (let start = from; start < to; ) {
      const end = this.#endOf(start, to, fork)
      const nibble = this.#nibbleAt(start, fork)
      children[nibble] = await this.#build(start, end, fork + 1, yieldIfDue)
      count += 1
      start = end
    }
    const node = makeFork(children, count, this.#keyOf(from), depth, fork, NO_EDIT)
    if (this.#count > HASHED_ON_READ) referenceOf(node, encodeAccount)
    return node
  }

  #bundle(from: number, to: number, depth: number): TrieNode<Account> {
    if (to - from === 1) return makeLeaf(this.#keyOf(from), depth, this.#accountOf(from), NO_EDIT)
    const reference = lazy(() => {
      this.#hash(from, to, depth, 0)
      return readDigest(desk.view, 0)
    })
    let made: WeakRef<WholeNode<Account>> | undefined
    const reveal = (): WholeNode<Account> => {
      const known = made?.deref()
      if (known !== undefined) return known
      const node = this.#forkAbove(from, to, depth)
      made = new WeakRef(node)
      return node
    }
    return {
      kind: 'blinded',
      edit: undefined,
      get reference() {
        return reference()
      },
      reveal,
      isKnown: () => true,
      whole: reveal,
    }
  }

  #forkAbove(from: number, to: number, depth: number): WholeNode<Account> {
    const fork = this.#forkOf(from, to, depth)
    const children = new Array<TrieNode<Account> | undefined>(16).fill(undefined)
    let count = 0
    for (let start = from; start < to; count++) {
      const end = this.#endOf(start, to, fork)
      children[this.#nibbleAt(start, fork)] = this.#bundle(start, end, fork + 1)
      start = end
    }
    return makeFork(children, count, this.#keyOf(from), depth, fork, NO_EDIT)
  }

  /** Writes the hash of the node above the accounts to `target` of the desk. No node is short: a leaf has two hashes. */
  #hash(from: number, to: number, depth: number, target: number): void {
    if (to - from === 1) {
      desk.hashTo(0, this.#writeLeaf(from, depth), target)
      return
    }
    const { bytes } = desk
    const fork = this.#forkOf(from, to, depth)
    const room = NODE_ROOM * (fork + 1)
    const start = room + HEADER_ROOM
    let at = start
    let next = from
    for (let nibble = 0; nibble < 16; nibble++) {
      const end =
        next < to && this.#nibbleAt(next, fork) === nibble ? this.#endOf(next, to, fork) : next
      if (end === next) {
        bytes[at++] = 0x80
      } else {
        bytes[at] = 0xa0
        this.#hash(next, end, fork + 1, at + 1)
        at += 1 + KEY_LENGTH
        next = end
      }
    }
    bytes[at++] = 0x80
    const size = at - start
    const isLong = size > 255
    const source = isLong ? room : room + 1
    bytes[source] = isLong ? 0xf9 : 0xf8
    if (isLong) bytes[room + 1] = size >> 8
    bytes[room + 2] = size & 255
    desk.hashTo(source, at - source, target)
    if (fork > depth) {
      const below = bytes.slice(target, target + KEY_LENGTH)
      const extension = pairOf(asBytes, this.#keyOf(from), depth, fork, EXTENSION, below)
      bytes.set(keccak256(extension), target)
    }
  }

  /** At the start of the desk; returns its end. */
  #writeLeaf(place: number, depth: number): number {
    const index = this.#order[place]!
    const page = this.#pages[index >> PAGE_BITS]!
    const at = (index & PAGE_MASK) * RECORD
    for (let i = 0; i < KEY_LENGTH; i++) key[i] = page[at + i]!
    const other = this.#others.get(index)
    if (other !== undefined) return writeLeaf(desk, key, depth, encodeAccount(other))
    let first = at + BALANCE
    const end = at + RECORD
    while (first < end && page[first] === 0) first += 1
    let to = 3
    if (first === end) content[to++] = 0x80
    else if (first < end - 1 || page[first]! > 0x7f) content[to++] = 0x80 + end - first
    for (; first < end; first++) content[to++] = page[first]!
    content.set(TAIL, to)
    to += TAIL.length
    content[0] = 0xf8
    content[1] = to - 2
    content[2] = 0x80
    return writeLeaf(desk, key, depth, content.subarray(0, to))
  }

  #accountOf(place: number): Account {
    const index = this.#order[place]!
    const other = this.#others.get(index)
    if (other !== undefined) return other
    const record = this.#recordOf(index)
    const address = hexFromBytes(record.subarray(ADDRESS, BALANCE)) as Address
    return { ...emptyAccount(address), balance: bigintFromBytes(record.subarray(BALANCE)) }
  }

  #keyOf(place: number): Uint8Array {
    return this.#recordOf(this.#order[place]!).subarray(0, KEY_LENGTH)
  }

  #recordOf(index: number): Uint8Array {
    const at = (index & PAGE_MASK) * RECORD
    return this.#pages[index >> PAGE_BITS]!.subarray(at, at + RECORD)
  }

  #nibbleAt(place: number, depth: number): number {
    const index = this.#order[place]!
    const byte = this.#pages[index >> PAGE_BITS]![(index & PAGE_MASK) * RECORD + (depth >> 1)]!
    return (depth & 1) === 0 ? byte >> 4 : byte & 15
  }

  /** The first nibble in which the accounts differ: as they are sorted, the first and the last do. */
  #forkOf(from: number, to: number, depth: number): number {
    let fork = depth
    while (fork < KEY_NIBBLES && this.#nibbleAt(from, fork) === this.#nibbleAt(to - 1, fork)) {
      fork += 1
    }
    return fork
  }

  /** The end of the accounts that have the first one's nibble. */
  #endOf(from: number, to: number, depth: number): number {
    const nibble = this.#nibbleAt(from, depth)
    if (to - from <= BUNDLE) {
      let end = from + 1
      while (end < to && this.#nibbleAt(end, depth) === nibble) end += 1
      return end
    }
    let low = from + 1
    let high = to
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#nibbleAt(middle, depth) > nibble) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** For each account of a page, the first bits of its key above its index, which is less than `room`. */
function writeNumbers(numbers: Float64Array, page: Uint8Array, start: number, room: number): void {
  const view = new DataView(page.buffer)
  const dropped = Math.max(1, room / MOST_ROOM)
  const end = Math.min(start + PAGE_SIZE, numbers.length)
  for (let i = start; i < end; i++) {
    const bits = view.getUint32((i - start) * RECORD)
    numbers[i] = Math.floor(bits / dropped) * room + i
  }
}
