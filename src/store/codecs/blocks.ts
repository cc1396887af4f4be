// Blocks of a chain: records, which read their parts when they are asked for them, and the tree.
import type { Hash } from '../../core/hex.ts'
import { lazy, memoize } from '../../core/lrucache.ts'
import type { Signers } from '../../evm/executor.ts'
import {
  type BlockRecord,
  type ExecutedTransaction,
  noWorldOf,
} from '../../node/ledger/blockrecord.ts'
import type { BlockTree, TransactionPlace } from '../../node/ledger/blocktree.ts'
import {
  type Blocks,
  CanonicalChain,
  type Span,
  type Tail,
} from '../../node/ledger/canonicalchain.ts'
import type { BlockParts } from '../../node/ledger/packing/blockbytes.ts'
import { HashIndex } from '../../node/ledger/packing/hashindex.ts'
import { KeptRecord } from '../../node/ledger/packing/keptrecord.ts'
import { worldAfter } from '../../node/ledger/packing/worldchanges.ts'
import { RunRecord } from '../../node/mining/runrecords.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import type { World } from '../../state/world.ts'
import { CorruptStore } from '../bytes.ts'
import {
  type Codec,
  type Input,
  listOf,
  type Objects,
  objectOf,
  optional,
  shared,
} from '../objects.ts'
import { mapOf, persistentListOf } from './collections.ts'
import { readParts, writeParts } from './parts.ts'
import { plainly } from './plain.ts'
import { runOf } from './runs.ts'
import { address, hash } from './single.ts'
import { world } from './worlds.ts'

const OWN = 0
const IN_RUN = 1

const IS_STATELESS = 1
const IS_LOADED = 2
/** The world stands there as what the block changed in that of its parent. */
const IS_CHANGED = 4

/** Every so many blocks the trie is written, so that a world is made from at most as many changes. */
const TRIE_STEP = 32

/** Bytes of changes in place of a trie: a start reads those of up to `TRIE_STEP` blocks. */
const MOST_CHANGED = 4096

interface Changed {
  readonly parent: BlockRecord
  readonly bytes: Uint8Array
}

type Body = Pick<
  BlockRecord,
  'totalDifficulty' | 'isStateless' | 'isLoaded' | 'prevRandao' | 'signers'
> & {
  readonly parts: () => BlockParts
  readonly world: () => World
  readonly changed?: Changed | undefined
  /** A block of a run, which is written as its place there. */
  readonly inRun?: BlockRecord
}

/** Holds only where its parts are, and what somebody else holds too. */
class StoredRecord implements BlockRecord {
  readonly #body: () => Body

  constructor(store: Objects, position: number) {
    this.#body = lazy(() => bodyOf(store.open(position)))
  }

  get inRun(): BlockRecord | undefined {
    return this.#body().inRun
  }

  get changed(): Changed | undefined {
    return this.#body().changed
  }

  get block(): Block {
    return this.#body().parts().block
  }

  get executed(): readonly ExecutedTransaction[] {
    return this.#body().parts().executed
  }

  get world(): World {
    return this.#body().world()
  }

  get isStateless(): boolean {
    return this.#body().isStateless === true
  }

  get isLoaded(): boolean {
    return this.#body().isLoaded === true
  }

  get totalDifficulty(): bigint {
    return this.#body().totalDifficulty
  }

  get prevRandao(): Hash | undefined {
    return this.#body().prevRandao
  }

  get signers(): Signers | undefined {
    return this.#body().signers
  }
}

const worldObject = shared(world)
const prevRandao = optional(hash)

export const signers: Codec<Signers> = mapOf(plainly(), address)
const optionalSigners = optional(signers)

const body: Codec<BlockRecord> = {
  write(given, to) {
    const value = (given instanceof StoredRecord ? given.inRun : undefined) ?? given
    if (value instanceof RunRecord) {
      to.byte(IN_RUN)
      run.write(value.run, to)
      to.count(value.index)
      return
    }
    const { block, executed, totalDifficulty, isStateless = false, isLoaded = false } = value
    to.byte(OWN)
    const changed = changedBy(value)
    const flags = (isStateless ? IS_STATELESS : 0) | (isLoaded ? IS_LOADED : 0)
    to.byte(changed === undefined ? flags : flags | IS_CHANGED)
    // the block stays the same when its world is edited
    const origin = value instanceof KeptRecord ? value.origin : block
    to.refer(to.positionOf(origin, partsOf({ block, executed })))
    if (changed !== undefined) {
      record.write(changed.parent, to)
      to.bytes(changed.bytes)
    } else if (!isStateless) worldObject.write(value.world, to)
    to.integer(totalDifficulty)
    prevRandao.write(value.prevRandao, to)
    optionalSigners.write(value.signers, to)
  },
  read: never,
}

/** Undefined where the trie is to be written: some blocks, and those with new code, which stays apart from its block. */
function changedBy(value: BlockRecord): Changed | undefined {
  if (value instanceof StoredRecord) return value.changed
  if (!(value instanceof KeptRecord) || Number(value.block.header.number) % TRIE_STEP === 0) {
    return undefined
  }
  const { parent, changes } = value
  const isSingle =
    parent instanceof KeptRecord || (parent instanceof StoredRecord && parent.inRun === undefined)
  if (!isSingle || changes === undefined || changes.codes !== undefined) return undefined
  const bytes = changes.read()
  return bytes.length > MOST_CHANGED ? undefined : { parent, bytes }
}

const worldOf = memoize(
  64,
  ({ parent, bytes }: Changed): World =>
    worldAfter(parent.world, [{ read: () => bytes, codes: undefined }]),
)

function partsOf(value: BlockParts): Codec<object> {
  return { write: (_, to) => writeParts(value, to), read: never }
}

function never(): never {
  throw new Error('read by its record')
}

function bodyOf(from: Input): Body {
  const kind = from.byte()
  if (kind === IN_RUN) return bodyInRun(from)
  if (kind !== OWN) throw new CorruptStore(`unknown kind of block record ${kind}`)
  const flags = from.byte()
  const { store } = from
  const partsAt = from.position()
  const partsHere = (): BlockParts =>
    store.at(partsAt, () => {
      const made = readParts(() => store.open(partsAt))
      store.remember(made.block, partsAt)
      return made
    })
  const isStateless = (flags & IS_STATELESS) !== 0
  const isChanged = (flags & IS_CHANGED) !== 0
  const changed = isChanged ? { parent: record.read(from), bytes: from.bytes() } : undefined
  const worldAt = isStateless || isChanged ? 0 : from.position()
  return {
    parts: partsHere,
    world: () => {
      if (isStateless) throw noWorldOf(partsHere().block)
      return changed === undefined ? store.read(worldAt, world) : worldOf(changed)
    },
    changed,
    isStateless,
    isLoaded: (flags & IS_LOADED) !== 0,
    totalDifficulty: from.integer(),
    prevRandao: prevRandao.read(from),
    signers: optionalSigners.read(from),
  }
}

function bodyInRun(from: Input): Body {
  const inRun = run.read(from).recordAt(from.count())
  const { totalDifficulty } = inRun
  return { parts: () => inRun, world: () => inRun.world, totalDifficulty, inRun }
}

export const record: Codec<BlockRecord> = {
  write: (value, to) => to.reference(value, body),
  read: (from) => from.object((store, position) => new StoredRecord(store, position)),
}

const run = runOf(record)

const span = objectOf<Span>({ run, start: plainly(), end: plainly(), single: plainly() })

const blocks = objectOf<Blocks>({
  single: persistentListOf(record),
  spans: persistentListOf(span),
})

const tail = optional(objectOf<Tail>({ run, start: plainly(), head: record }))

const canonical: Codec<CanonicalChain> = {
  write(chain, to) {
    to.count(chain.length)
    blocks.write(chain.older, to)
    tail.write(chain.tail, to)
  },
  read: (from) => new CanonicalChain(from.count(), blocks.read(from), tail.read(from)),
}

const place = objectOf<TransactionPlace>({ record, index: plainly() })

const entries: Codec<Float64Array> = {
  write: ({ buffer, byteOffset, byteLength }, to) =>
    to.bytes(new Uint8Array(buffer, byteOffset, byteLength)),
  read(from) {
    const { buffer, byteOffset, length } = from.bytes()
    return new Float64Array(buffer, byteOffset, length / 8)
  },
}
const entryLists = listOf(shared(entries))

const hashIndex: Codec<HashIndex> = {
  write: ({ parts: lists }, to) => entryLists.write(lists, to),
  read: (from) => new HashIndex(entryLists.read(from)),
}

export const tree: Codec<BlockTree> = objectOf<BlockTree>({
  canonical: shared(canonical),
  byHash: mapOf(hash, record),
  places: mapOf(hash, place),
  old: hashIndex,
  oldEnd: plainly(),
  side: shared(objectOf<BlockTree['side']>({ records: listOf(record), highest: plainly() })),
  network: optional(objectOf<NonNullable<BlockTree['network']>>({ run, number: plainly() })),
  abandoned: plainly(),
})
