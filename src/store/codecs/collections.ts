// Persistent maps and lists: their inner nodes are objects, and read when something below them is asked for.
import { memoize } from '../../core/lrucache.ts'
import {
  type ListNode,
  listFromParts,
  type MapBranch,
  type MapLeaf,
  type MapNode,
  mapFromParts,
  type PersistentList,
  type PersistentMap,
  type UnreadBranch,
  UnreadItems,
} from '../../core/persistent.ts'
import { CorruptStore } from '../bytes.ts'
import { type Codec, listOf } from '../objects.ts'

const NOTHING = 0
const LEAF = 1
const COLLISION = 2
const BRANCH = 3

/** @param key writes and reads the keys */
export function mapOf<K extends string, V>(
  key: Codec<K>,
  value: Codec<V>,
): Codec<PersistentMap<K, V>> {
  const leaf: Codec<MapLeaf<K, V>> = {
    write(at, to) {
      to.count(at.hash)
      key.write(at.key, to)
      value.write(at.value, to)
    },
    read: (from) => ({
      kind: 'leaf',
      hash: from.count(),
      key: key.read(from),
      value: value.read(from),
    }),
  }
  const leaves = listOf(leaf)
  const node: Codec<MapNode<K, V> | undefined> = {
    write(at, to) {
      switch (at?.kind) {
        case undefined:
          return to.byte(NOTHING)
        case 'leaf':
          to.byte(LEAF)
          return leaf.write(at, to)
        case 'collision':
          to.byte(COLLISION)
          return leaves.write(at.leaves, to)
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
      if (kind === LEAF) return leaf.read(from)
      if (kind === COLLISION) {
        const all = leaves.read(from)
        return { kind: 'collision', hash: all[0]!.hash, leaves: all }
      }
      if (kind !== BRANCH) throw new CorruptStore(`unknown kind of map node ${kind}`)
      return unread.read(from)
    },
  }
  // one of another store is read, and written here
  const unread: Codec<UnreadBranch<K, V>> = {
    write: (at, to) => branch.write(at.read(), to),
    read: (from) => from.object((store, at) => ({ kind: 'unread', read: store.later(at, branch) })),
  }
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
  return {
    write(map, to) {
      const { size, root } = map.parts
      to.count(size)
      node.write(root, to)
    },
    read: (from) => mapFromParts({ size: from.count(), root: node.read(from) }),
  }
}

export function persistentListOf<V>(value: Codec<V>): Codec<PersistentList<V>> {
  /** By the bits of the index below the node. */
  const nodeAt = memoize(16, (shift: number): Codec<ListNode<V> | UnreadItems<V>> => {
    const inner = listOf<unknown>(shift === 0 ? value : nodeAt(shift - 5))
    const items: Codec<ListNode<V>> = {
      write: (node: ListNode<V> | UnreadItems<V>, to) =>
        inner.write(node instanceof UnreadItems ? node.read() : node, to),
      read: (from) => inner.read(from) as ListNode<V>,
    }
    return {
      write: (node, to) => to.reference(node, items),
      read: (from) => from.object((store, at) => new UnreadItems(store.later(at, items))),
    }
  })
  return {
    write(list, to) {
      const { length, shift, root } = list.parts
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
