// Resolves block references on the present chain.
import { type MaybePromise, whenThere } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import {
  blockByNumber,
  blockNotFound,
  headOf,
  isCanonical,
  recordToRead,
} from '../ledger/blocktree.ts'
import { knownBlock } from '../ledger/leftblocks.ts'
import { withWorldReady } from '../ledger/packing/keptrecord.ts'
import { type BlockReference, numberOfTag } from '../ledger/references.ts'
import type { Chain } from './chain.ts'

/** A promise only for a pending block, whose build is cancelled unless others wait for it. */
export function findRecord(
  chain: Chain,
  reference: BlockReference,
  cancellation?: Cancellation,
): MaybePromise<BlockRecord | undefined> {
  const { tree } = chain.state
  const named = namedRecord(chain, reference, cancellation)
  return whenThere(named, (record) => record && recordToRead(tree, record))
}

function namedRecord(
  chain: Chain,
  reference: BlockReference,
  cancellation?: Cancellation,
): MaybePromise<BlockRecord | undefined> {
  const { tree } = chain.state
  switch (reference.kind) {
    case 'number':
      return blockByNumber(tree, reference.number)
    case 'hash': {
      const record = knownBlock(chain.state, reference.hash)
      const isRefused =
        record !== undefined && reference.requireCanonical && !isCanonical(tree, record)
      return isRefused ? undefined : record
    }
    case 'tag':
      if (reference.tag === 'pending') return chain.pending(cancellation)
      // most calls ask for it
      if (reference.tag === 'latest') return headOf(tree)
      return blockByNumber(tree, numberOfTag(chain.state, reference.tag))
  }
}

/** @throws {DevchainError} `NOT_FOUND` for an unknown block, or one that must be canonical and is not */
export async function recordAt(
  chain: Chain,
  reference: BlockReference,
  cancellation?: Cancellation,
): Promise<BlockRecord> {
  return readBlock(chain, reference, (record) => record, cancellation)
}

/** Calls `read` synchronously unless the block has to be built. Throws or rejects as `recordAt`. */
export function readBlock<T>(
  chain: Chain,
  reference: BlockReference,
  read: (record: BlockRecord) => MaybePromise<T>,
  cancellation?: Cancellation,
): MaybePromise<T> {
  const found = findRecord(chain, reference, cancellation)
  return whenThere(found, (record) => read(record ?? notFound(chain, reference)))
}

/** A record whose world is to be read: of an old block it is made in turns. Throws as `recordAt`. */
export async function stateAt(
  chain: Chain,
  reference: BlockReference,
  cancellation?: Cancellation,
): Promise<BlockRecord> {
  return readState(chain, reference, (record) => record, cancellation)
}

/** Calls `read` synchronously unless the block has to be built, or its world to be made. Throws or rejects as `recordAt`. */
export function readState<T>(
  chain: Chain,
  reference: BlockReference,
  read: (record: BlockRecord) => T,
  cancellation?: Cancellation,
): MaybePromise<T> {
  const ready = (record: BlockRecord): MaybePromise<T> => whenThere(withWorldReady(record), read)
  return readBlock(chain, reference, ready, cancellation)
}

function notFound({ state }: Chain, reference: BlockReference): never {
  const { tree } = state
  if (reference.kind === 'tag') throw blockNotFound(tree, `block ${reference.tag}`)
  if (reference.kind === 'number') {
    const { number } = reference
    throw blockNotFound(tree, `block 0x${number.toString(16)}`, { number })
  }
  const { hash } = reference
  if (knownBlock(state, hash) === undefined) throw blockNotFound(tree, `block ${hash}`, { hash })
  throw blockNotFound(tree, `block ${hash}`, { branch: hash }, 'is not canonical')
}
