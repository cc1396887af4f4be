// Persistent maps and lists: their inner nodes are objects, and read when something below them is asked for.

import { lazy } from '../../core/lrucache.ts'
import {
  type ListNode,
  listFromParts,
  type MapBranch,
  type MapNode,
  mapFromParts,
  type PersistentList,
  type PersistentMap,
  partsOfList,
  partsOfMap,
  type UnreadBranch,
  UnreadItems,
} from '../../core/persistent.ts'
import { CorruptStore } from '../bytes.ts'
import type { Codec, Input, Objects, Output } from '../objects.ts'

const NOTHING = 0
const LEAF = 1
const COLLISION = 2
const BRANCH = 3

/** @param key writes and reads the keys */
export function mapOf<K extends string, V>(
  key: Codec<K>,
  value: Codec<V>,
): Codec<PersistentMap<K, V>> {
  const node: Codec<MapNode<K, V> | undefined> = {
    write(at, to) {
      switch (at?.kind) {
        case undefined:
          return to.byte(NOTHING)
        case 'leaf':
          to.byte(LEAF)
          return writeLeaf(at, to)
        case 'collision':
          to.byte(COLLISION)
          to.count(at.leaves.length)
          for (const leaf of at.leaves) writeLeaf(leaf, to)
          return
        case 'branch':
          to.byte(BRANCH)
          return to.reference(at, branch)
        case 'unread':
          to.byte(BRANCH)
          return to.reference(at, unread)
      }
    },
    read(from) {
      const kind = from.byte()
      if (kind === NOTHING) return undefined
      if (kind === LEAF) return readLeaf(from)
      if (kind === COLLISION) {
        const leaves = Array.from({ length: from.count() }, () => readLeaf(from))
        return { kind: 'collision', hash: leaves[0]!.hash, leaves }
      }
      if (kind !== BRANCH) throw new CorruptStore(`unknown kind of map node ${kind}`)
      return unread.read(from)
    },
  }
  // one of another store is read, and written here
  const unread: Codec<UnreadBranch<K, V>> = {
    write: (at, to) => branch.write(at.read(), to),
    read: (from) => unreadAt(from.store, from.position()),
  }
  const unreadAt = (store: Objects, position: number): UnreadBranch<K, V> =>
    store.at(position, () => ({
      kind: 'unread',
      read: lazy(() => {
        const made = branch.read(store.open(position))
        store.remember(made, position)
        return made
      }),
    }))
  const branch: Codec<MapBranch<K, V>> = {
    write({ bitmap, children }, to) {
      to.count(bitmap >>> 0)
      for (const child of children) node.write(child, to)
    },
    read(from) {
      const bitmap = from.count() | 0
      const children: MapNode<K, V>[] = []
      for (let bits = bitmap; bits !== 0; bits &= bits - 1) {
        const child = node.read(from)
        if (child === undefined) throw new CorruptStore('a branch of a map lacks a child')
        children.push(child)
      }
      return { kind: 'branch', bitmap, children }
    },
  }
  const writeLeaf = (leaf: { hash: number; key: K; value: V }, to: Output): void => {
    to.count(leaf.hash)
    key.write(leaf.key, to)
    value.write(leaf.value, to)
  }
  const readLeaf = (from: Input): Extract<MapNode<K, V>, { kind: 'leaf' }> => {
    const hash = from.count()
    return { kind: 'leaf', hash, key: key.read(from), value: value.read(from) }
  }
  return {
    write(map, to) {
      const { size, root } = partsOfMap(map)
      to.count(size)
      node.write(root, to)
    },
    read: (from) => mapFromParts({ size: from.count(), root: node.read(from) }),
  }
}

export function persistentListOf<V>(value: Codec<V>): Codec<PersistentList<V>> {
  /** By the bits of the index below the node. */
  const codecs = new Map<number, Codec<ListNode<V> | UnreadItems<V>>>()
  const nodeAt = (shift: number): Codec<ListNode<V> | UnreadItems<V>> => {
    const known = codecs.get(shift)
    if (known !== undefined) return known
    const items: Codec<ListNode<V> | UnreadItems<V>> = {
      write(node, to) {
        const all = node instanceof UnreadItems ? node.read() : node
        to.count(all.length)
        for (const item of all) {
          if (shift === 0) value.write(item as V, to)
          else nodeAt(shift - 5).write(item as ListNode<V>, to)
        }
      },
      read(from) {
        const all: (ListNode<V> | UnreadItems<V> | V)[] = []
        for (let left = from.count(); left > 0; left--) {
          all.push(shift === 0 ? value.read(from) : nodeAt(shift - 5).read(from))
        }
        return all
      },
    }
    const codec: Codec<ListNode<V> | UnreadItems<V>> = {
      write: (node, to) => to.reference(node, items),
      read(from) {
        const { store } = from
        const position = from.position()
        return store.at(
          position,
          () =>
            new UnreadItems(
              lazy(() => {
                const made = items.read(store.open(position)) as ListNode<V>
                store.remember(made, position)
                return made
              }),
            ),
        )
      },
    }
    codecs.set(shift, codec)
    return codec
  }
  return {
    write(list, to) {
      const { length, shift, root } = partsOfList(list)
      to.count(length)
      to.count(shift)
      nodeAt(shift).write(root, to)
    },
    read(from) {
      const [length, shift] = [from.count(), from.count()]
      if (shift > 50) throw new CorruptStore(`a list has ${shift} bits`)
      return listFromParts({ length, shift, root: nodeAt(shift).read(from) })
    },
  }
}
