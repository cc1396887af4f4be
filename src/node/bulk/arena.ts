// Linear memory with Keccak-256 in it, for bytes that are hashed repeatedly as parts of them change: headers, and the nodes
// of the state trie above a few accounts, which change in place.
import { rlpItemEnd } from '../../core/rlp.ts'
import { nibbleAt } from '../../protocol/trienodes.ts'
import { encodeNode, revealed, type TrieNode } from '../../state/trienode.ts'
import type { Account, World } from '../../state/world.ts'
import { WASM } from './runminer.wasm.ts'

/** What the module exports. Jobs, tries and rings are known by their addresses (assembly/). */
interface Exports {
  readonly memory: WebAssembly.Memory
  /** Allocates zeroed bytes. */
  readonly allocate: (length: number) => number
  /** Both key and value are in the memory. Returns 0 when a node is too short to be hashed. */
  readonly put: (trie: number, key: number, value: number, length: number) => number
  /** Queues the changes for the next `run`, in one of two queues (0 or 1). */
  readonly hash: (trie: number, queue: number) => void
  readonly enqueue: (queue: number, job: number) => void
  readonly run: () => void
  readonly mine: (parameters: number, number: number, count: number) => number
  readonly fill: (ring: number, slot: number, value: number, length: number) => number
}

const MODULE = new WebAssembly.Module(Buffer.from(WASM, 'base64'))

/** Bytes of the sponge's state, kept for each whole block of `RATE` bytes. */
const STATE_LENGTH = 200

/** Bytes that the sponge absorbs at once. */
const RATE = 136

/** Hashes `length` bytes at `source`; the 32 bytes of the hash go to `target`. */
interface HashJob {
  readonly source: number
  readonly length: number
  /** Where the sponge states are kept between runs; 0 for nowhere. */
  readonly states?: number
  readonly target: number
}

/** A piece of linear memory that is never freed in parts: it goes as a whole, with its last user. */
export class Arena {
  readonly exports: Exports
  #bytes: Uint8Array

  constructor() {
    this.exports = new WebAssembly.Instance(MODULE, {}).exports as unknown as Exports
    this.#bytes = new Uint8Array(this.exports.memory.buffer)
  }

  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.exports.memory.buffer)
    return this.#bytes
  }

  allocate(length: number): number {
    return this.exports.allocate(length)
  }

  store(bytes: Uint8Array): number {
    const at = this.allocate(bytes.length)
    this.bytes.set(bytes, at)
    return at
  }

  storeWords(words: readonly number[]): number {
    const at = this.allocate(4 * words.length)
    this.setWords(at, words)
    return at
  }

  setWords(at: number, words: readonly number[]): void {
    new Uint32Array(this.exports.memory.buffer, at).set(words)
  }

  /** @returns the job's address (assembly/jobs.ts) */
  storeJob({ source, length, states = 0, target }: HashJob): number {
    return this.storeWords([source, length, 0, states, target])
  }

  storeStates(length: number): number {
    return this.allocate(Math.floor(length / RATE) * STATE_LENGTH)
  }

  /**
   * Sets a key of a live trie to a value: RLP of at most 55 bytes.
   * @returns false when a node became too short to be hashed: two keys share ten nibbles or more. The trie is unusable
   *   then
   */
  put(trie: number, key: Uint8Array, value: Uint8Array): boolean {
    return this.exports.put(trie, this.store(key), this.store(value), value.length) !== 0
  }
}

/** Bytes from the storage root to the end of an account's RLP: two hashes, and the header of the second. */
const STORAGE_ROOT = 65

const HASH_LENGTH = 32

interface LiveAccount {
  readonly job: number
  readonly storageRoot: number
}

interface AccountPaths {
  readonly accounts: readonly LiveAccount[]
  readonly above: readonly number[]
}

/** Lays out the paths to the accounts and hashes them once; the state root goes to `target`. */
export function layAccountPaths(
  arena: Arena,
  { accounts }: World,
  keys: readonly Uint8Array[],
  target: number,
): AccountPaths {
  const found = new Map<Uint8Array, LiveAccount>()
  const laid: { readonly job: number; readonly from: number }[] = []

  /** Lays out a node that is on the path of all keys and begins at nibble `depth`. */
  const lay = (
    at: TrieNode<Account>,
    own: readonly Uint8Array[],
    depth: number,
    place: number,
  ): void => {
    const node = revealed(at, own[0]!, depth)
    const encoded = encodeNode(node, accounts.encodeValue)
    const source = arena.store(encoded)
    const { length } = encoded
    if (node.kind === 'leaf') {
      const job = arena.storeJob({ source, length, target: place })
      found.set(own[0]!, { job, storageRoot: source + length - STORAGE_ROOT })
      return
    }
    let from = length
    if (node.kind === 'extension') {
      from = length - HASH_LENGTH
      lay(node.child, own, node.to, source + from)
    } else {
      const starts = itemStarts(encoded)
      for (const [nibble, child] of node.children.entries()) {
        const below = own.filter((key) => nibbleAt(key, depth) === nibble)
        if (below.length === 0) continue
        from = Math.min(from, starts[nibble]! + 1)
        lay(child!, below, depth + 1, source + starts[nibble]! + 1)
      }
    }
    const states = arena.storeStates(length)
    laid.push({ job: arena.storeJob({ source, length, states, target: place }), from })
  }

  if (keys.length > 0) lay(accounts.root!, keys, 0, target)
  const live = keys.map((key) => found.get(key)!)
  // the first hash covers everything, later ones begin at the first changed hash (`Job.from`)
  for (const { job } of [...live, ...laid]) arena.exports.enqueue(0, job)
  arena.exports.run()
  for (const { job, from } of laid) arena.setWords(job + 8, [from])
  return { accounts: live, above: laid.map(({ job }) => job) }
}

export function itemStarts(list: Uint8Array): number[] {
  const starts = [list[0]! < 0xf8 ? 1 : list[0]! - 0xf7 + 1]
  while (starts.at(-1)! < list.length) starts.push(rlpItemEnd(list, starts.at(-1)!))
  return starts
}
