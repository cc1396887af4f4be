// A sparse trie with changes: its nodes are created when a root or proof needs them.
import { type Hex, hexFromBytes } from '../core/hex.ts'
import { MissingState } from './misses.ts'
import { asItIs, type SparseNode } from './sparse.ts'
import { insert, remove } from './trieedit.ts'
import { EditToken, rootBytesOf } from './trienode.ts'

export interface SparseChange {
  readonly key: Uint8Array
  /**
   * The value as in its leaf; undefined deletes the key. Called when the root is needed.
   * @throws {MissingState} if it, or the path to its key, is not known yet
   */
  readonly encode: () => Uint8Array | undefined
}

export type SparseChanges = () => Iterable<SparseChange>

export class SparseTrie {
  /** The previous trie and the change, until the nodes exist; for the first trie its reader. */
  #origin: Origin | (() => SparseNode | undefined) | undefined
  #root: SparseNode | undefined

  private constructor(origin: Origin | (() => SparseNode | undefined)) {
    this.#origin = origin
  }

  /** @param read reads the root on first use */
  static of(read: () => SparseNode | undefined): SparseTrie {
    return new SparseTrie(read)
  }

  with(changes: SparseChanges): SparseTrie {
    return new SparseTrie({ before: this, changes })
  }

  /**
   * Undefined without keys.
   * @throws {MissingState} naming all missing nodes
   */
  get root(): SparseNode | undefined {
    if (this.#origin === undefined) return this.#root
    this.#root = typeof this.#origin === 'function' ? this.#origin() : this.#changed()
    this.#origin = undefined
    return this.#root
  }

  get rootBytes(): Uint8Array {
    return rootBytesOf(this.root, asItIs)
  }

  /** Applies all changes since the last known nodes: a key changed often costs as much as one. */
  #changed(): SparseNode | undefined {
    const batches: SparseChanges[] = []
    let at: SparseTrie = this
    while (at.#origin !== undefined && typeof at.#origin !== 'function') {
      batches.push(at.#origin.changes)
      at = at.#origin.before
    }
    const last = new Map<Hex, SparseChange>()
    for (const changes of batches.reverse()) {
      for (const change of changes()) last.set(hexFromBytes(change.key), change)
    }
    return withChanges(at.root, last.values())
  }
}

interface Origin {
  readonly before: SparseTrie
  readonly changes: SparseChanges
}

/** Sets first: a branch that gains a child need not collapse, which would read its last child. */
function withChanges(
  before: SparseNode | undefined,
  changes: Iterable<SparseChange>,
): SparseNode | undefined {
  const edit = new EditToken()
  const gone: Uint8Array[] = []
  let root = before
  const missing: MissingState[] = []
  const orMissing = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      missing.push(error, ...error.others)
    }
  }
  for (const { key, encode } of changes) {
    orMissing(() => {
      const value = encode()
      if (value === undefined) gone.push(key)
      else root = insert(root, key, value, 0, edit)
    })
  }
  for (const key of gone) {
    orMissing(() => {
      root = remove(root, key, 0, edit)
    })
  }
  const [first, ...others] = missing
  if (first !== undefined) throw new MissingState(first.miss, first.source, others)
  return root
}
