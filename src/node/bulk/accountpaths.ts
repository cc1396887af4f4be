// The nodes of the state trie above a few accounts, in linear memory, where these accounts change in place.
import { rlpItemEnd } from '../../core/rlp.ts'
import { nibbleAt } from '../../protocol/trienodes.ts'
import { encodeNode, revealed, type TrieNode } from '../../state/trienode.ts'
import type { Account, World } from '../../state/world.ts'
import type { Arena } from './arena.ts'

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
  // the first hash covers everything, later ones begin at the first changed hash
  for (const { job } of [...live, ...laid]) arena.exports.enqueue(0, job)
  arena.exports.run()
  for (const { job, from } of laid) arena.setFrom(job, from)
  return { accounts: live, above: laid.map(({ job }) => job) }
}

export function itemStarts(list: Uint8Array): number[] {
  const starts = [list[0]! < 0xf8 ? 1 : list[0]! - 0xf7 + 1]
  while (starts.at(-1)! < list.length) starts.push(rlpItemEnd(list, starts.at(-1)!))
  return starts
}
