// Searches, iterates over and compares the nodes of a trie.
import { isShort, nibbleAt } from '../protocol/trienodes.ts'
import {
  type Blinded,
  type Extension,
  firstDifference,
  KEY_NIBBLES,
  type Leaf,
  revealed,
  type TrieNode,
  type WholeNode,
} from './trienode.ts'

/** @throws {MissingState} at an unknown blinded node */
export function findLeaf<V>(root: TrieNode<V> | undefined, key: Uint8Array): Leaf<V> | undefined {
  let node = root
  let depth = 0
  while (node !== undefined) {
    if (node.kind === 'branch') {
      node = node.children[nibbleAt(key, depth)]
      depth += 1
    } else if (node.kind === 'leaf') {
      // `addressKey` caches keys, so identity nearly always decides
      if (node.key === key) return node
      return firstDifference(node.key, key, depth, KEY_NIBBLES) === KEY_NIBBLES ? node : undefined
    } else if (node.kind === 'blinded') {
      node = node.reveal(key, depth)
    } else {
      if (firstDifference(node.key, key, depth, node.to) !== node.to) return undefined
      depth = node.to
      node = node.child
    }
  }
  return undefined
}

/**
 * The nodes on the path to `key`, including the one at which the search fails.
 * @param end depth in nibbles from which an unknown node ends the path
 * @throws {MissingState} at an unknown node above that
 */
export function* pathTo<V>(
  root: TrieNode<V> | undefined,
  key: Uint8Array,
  end: number = KEY_NIBBLES,
): IterableIterator<WholeNode<V>> {
  let at = root
  let depth = 0
  while (at !== undefined) {
    if (depth >= end && at.kind === 'blinded' && !at.isKnown()) return
    const node = revealed(at, key, depth)
    yield node
    if (node.kind === 'leaf') return
    if (node.kind === 'branch') {
      at = node.children[nibbleAt(key, depth)]
      depth += 1
    } else {
      if (firstDifference(node.key, key, depth, node.to) !== node.to) return
      depth = node.to
      at = node.child
    }
  }
}

/**
 * In the order of the keys. All nodes must be known.
 * @param from the first key
 * @param depth nibbles above the node
 */
export function* walk<V>(
  at: TrieNode<V> | undefined,
  from: Uint8Array | undefined,
  depth: number,
): IterableIterator<readonly [Uint8Array, V]> {
  if (from === undefined) {
    yield* walkAll(at)
    return
  }
  if (at === undefined) return
  const node = at.kind === 'blinded' ? wholeBelow(at) : at
  if (node.kind === 'branch') {
    const first = nibbleAt(from, depth)
    yield* walk(node.children[first], from, depth + 1)
    for (let i = first + 1; i < 16; i++) yield* walkAll(node.children[i])
    return
  }
  const end = node.kind === 'leaf' ? KEY_NIBBLES : node.to
  const fork = firstDifference(node.key, from, depth, end)
  const differs = fork < end
  if (differs && nibbleAt(node.key, fork) < nibbleAt(from, fork)) return
  if (node.kind === 'leaf') yield [node.key, node.value]
  else yield* walk(node.child, differs ? undefined : from, node.to)
}

/** Without recursion, which would pass each entry up through all levels. */
function* walkAll<V>(node: TrieNode<V> | undefined): IterableIterator<readonly [Uint8Array, V]> {
  const waiting = [node]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (next === undefined) continue
    if (next.kind === 'leaf') yield [next.key, next.value]
    else if (next.kind === 'branch') for (let i = 15; i >= 0; i--) waiting.push(next.children[i])
    else if (next.kind === 'extension') waiting.push(next.child)
    else waiting.push(wholeBelow(next))
  }
}

function wholeBelow<V>(node: Blinded<V>): WholeNode<V> {
  if (node.whole === undefined) throw new Error('the keys below a blinded node are not known')
  return node.whole()
}

/** The values of a key in both tries; undefined: it has none. */
export type ValueChange<V> = readonly [before: V | undefined, after: V | undefined]

/** Adds what differs to `changes`; values that are the same object do not. All nodes must be known. */
export function collectChanges<V>(
  before: TrieNode<V> | undefined,
  after: TrieNode<V> | undefined,
  changes: ValueChange<V>[],
): void {
  if (before === after) return
  const isBlinded = before?.kind === 'blinded' || after?.kind === 'blinded'
  if (isBlinded && hasSameHash(before, after)) return
  const one = isBlinded ? before && whole(before) : (before as WholeNode<V> | undefined)
  const other = isBlinded ? after && whole(after) : (after as WholeNode<V> | undefined)
  if (one?.kind === 'branch' && other?.kind === 'branch') {
    const { children } = one
    const { children: others } = other
    for (let nibble = 0; nibble < 16; nibble++) {
      const old = children[nibble]
      if (old !== others[nibble]) collectChanges(old, others[nibble], changes)
    }
  } else if (one?.kind === 'leaf' && other?.kind === 'leaf' && one.key === other.key) {
    if (one.value !== other.value) changes.push([one.value, other.value])
  } else if (one === undefined && other?.kind === 'leaf') {
    changes.push([undefined, other.value])
  } else if (one?.kind === 'extension' && other?.kind === 'extension' && isOnePath(one, other)) {
    collectChanges<V>(one.child, other.child, changes)
  } else {
    // a node here was split or joined: there are few below it, as all keys are hashes
    collectEntries(one, other, changes)
  }
}

function isOnePath<V>(one: Extension<V>, other: Extension<V>): boolean {
  return one.key === other.key && one.from === other.from && one.to === other.to
}

function collectEntries<V>(
  before: TrieNode<V> | undefined,
  after: TrieNode<V> | undefined,
  changes: ValueChange<V>[],
): void {
  const entries = [...walkAll(after)]
  let at = 0
  for (const [key, value] of walkAll(before)) {
    while (at < entries.length && Buffer.compare(entries[at]![0], key) < 0) {
      changes.push([undefined, entries[at++]![1]])
    }
    const isKept = at < entries.length && Buffer.compare(entries[at]![0], key) === 0
    const now = isKept ? entries[at++]![1] : undefined
    if (now !== value) changes.push([value, now])
  }
  for (; at < entries.length; at++) changes.push([undefined, entries[at]![1]])
}

function whole<V>(node: TrieNode<V>): WholeNode<V> {
  return node.kind === 'blinded' ? wholeBelow(node) : node
}

/** Nodes of a packed trie are made anew each time they are read. */
function hasSameHash<V>(one: TrieNode<V> | undefined, other: TrieNode<V> | undefined): boolean {
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
