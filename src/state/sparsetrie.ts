// A sparse trie after changes: its nodes are made when its root or a proof is asked for, not before.
import { type Hex, hexFromBytes } from '../core/hex.ts'
import { MissingState } from './misses.ts'
import { asItIs, type SparseNode } from './sparse.ts'
import { insert, remove } from './trieedit.ts'
import { type EditToken, EMPTY_ROOT_BYTES, rootReference } from './trienode.ts'

export interface SparseChange {
  readonly key: Uint8Array
  /**
   * The value as its leaf holds it; undefined takes the key away. Called once the root is asked for.
   * @throws {MissingState} when it, or the way to its key, is not known yet
   */
  readonly encode: () => Uint8Array | undefined
}

export type SparseChanges = () => Iterable<SparseChange>

/** Immutable, but that it remembers its nodes once they were made. */
export class SparseTrie {
  /** The trie before, and what was changed, until the nodes are made; for the first one the way to read it. */
  #origin: Origin | (() => SparseNode | undefined) | undefined
  #root: SparseNode | undefined

  private constructor(origin: Origin | (() => SparseNode | undefined)) {
    this.#origin = origin
  }

  /** @param read the root of a trie that is known by its hash; called when it is needed */
  static of(read: () => SparseNode | undefined): SparseTrie {
    return new SparseTrie(read)
  }

  with(changes: SparseChanges): SparseTrie {
    return new SparseTrie({ before: this, changes })
  }

  /**
   * The root node, undefined without keys.
   * @throws {MissingState} naming all that it takes and that is not known yet
   */
  get root(): SparseNode | undefined {
    if (this.#origin === undefined) return this.#root
    this.#root = typeof this.#origin === 'function' ? this.#origin() : this.#changed()
    this.#origin = undefined
    return this.#root
  }

  /** 32 bytes. @throws {MissingState} as `root` */
  get rootBytes(): Uint8Array {
    const { root } = this
    return root === undefined ? EMPTY_ROOT_BYTES : rootReference(root, asItIs)
  }

  /** The nodes after all changes since those that were made last: a key that was changed often costs as one. */
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

/** What is set comes first: a branch that gets a child need not give way to the one that it would have kept. */
function withChanges(
  before: SparseNode | undefined,
  changes: Iterable<SparseChange>,
): SparseNode | undefined {
  const edit: EditToken = {}
  const gone: Uint8Array[] = []
  let root = before
  const missing: MissingState[] = []
  const orMissing = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      if (!(error instanceof MissingState)) throw error
      // others may be missing too: they are fetched together
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
