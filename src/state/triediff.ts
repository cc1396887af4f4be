// What two tries of common origin differ in: only nodes that they do not share are visited.
import { isShort } from '../protocol/trienodes.ts'
import type { TrieNode, WholeNode } from './trienode.ts'
import { walk, wholeBelow } from './triewalk.ts'

/** The values of a key in both tries; undefined: it has none. */
export type ValueChange<V> = readonly [before: V | undefined, after: V | undefined]

/** Values that are the same object do not differ. All nodes must be known. */
export function* trieChanges<V>(
  before: TrieNode<V> | undefined,
  after: TrieNode<V> | undefined,
): IterableIterator<ValueChange<V>> {
  if (before === after || hasSameHash(before, after)) return
  const [one, other] = [before && whole(before), after && whole(after)]
  if (one?.kind === 'branch' && other?.kind === 'branch') {
    for (let nibble = 0; nibble < 16; nibble++) {
      yield* trieChanges(one.children[nibble], other.children[nibble])
    }
  } else if (
    one?.kind === 'extension' &&
    other?.kind === 'extension' &&
    one.key === other.key &&
    one.from === other.from &&
    one.to === other.to
  ) {
    yield* trieChanges<V>(one.child, other.child)
  } else {
    // a node here was split or joined: there are few below it, as all keys are hashes
    yield* entryChanges(one, other)
  }
}

function* entryChanges<V>(
  before: TrieNode<V> | undefined,
  after: TrieNode<V> | undefined,
): IterableIterator<ValueChange<V>> {
  const old = [...walk(before, undefined, 0)]
  const entries = [...walk(after, undefined, 0)]
  let at = 0
  for (const [key, value] of old) {
    while (at < entries.length && Buffer.compare(entries[at]![0], key) < 0) {
      yield [undefined, entries[at++]![1]]
    }
    const isKept = at < entries.length && Buffer.compare(entries[at]![0], key) === 0
    const now = isKept ? entries[at++]![1] : undefined
    if (now !== value) yield [value, now]
  }
  for (; at < entries.length; at++) yield [undefined, entries[at]![1]]
}

function whole<V>(node: TrieNode<V>): WholeNode<V> {
  return node.kind === 'blinded' ? wholeBelow(node) : node
}

/** Nodes of a packed trie are made anew each time they are read. */
function hasSameHash<V>(one: TrieNode<V> | undefined, other: TrieNode<V> | undefined): boolean {
  if (one?.kind !== 'blinded' && other?.kind !== 'blinded') return false
  const [a, b] = [one?.reference, other?.reference]
  if (a === undefined || b === undefined || isShort(a) || isShort(b)) return false
  return (
    a.a === b.a &&
    a.b === b.b &&
    a.c === b.c &&
    a.d === b.d &&
    a.e === b.e &&
    a.f === b.f &&
    a.g === b.g &&
    a.h === b.h
  )
}
