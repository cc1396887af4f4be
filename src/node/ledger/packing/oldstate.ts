// Reads parts of the state after a block from the newest change to them: mostly, the world of an old block need not be made.
import type { Address } from '../../../core/hex.ts'
import { type MaybePromise, whenThere } from '../../../core/promises.ts'
import { balanceAt, codeAt, nonceAt, storageAt, type World } from '../../../state/world.ts'
import type { BlockRecord } from '../blockrecord.ts'
import { KeptRecord, withWorldReady } from './keptrecord.ts'
import { accountSetBy, codeSetBy, slotSetBy, type WorldChanges } from './worldchanges.ts'

/** Blocks whose changes are looked through, some 2 µs each. Behind them the world is made, and stays for the next read. */
export const LOOKED_THROUGH = 256

/** All throw `NOT_FOUND` where the state is not known. */
export function balanceAfter(record: BlockRecord, address: Address): MaybePromise<bigint> {
  return read(
    record,
    (changes) => accountSetBy(changes, address)?.balance,
    (world) => balanceAt(world, address),
  )
}

export function nonceAfter(record: BlockRecord, address: Address): MaybePromise<bigint> {
  return read(
    record,
    (changes) => accountSetBy(changes, address)?.nonce,
    (world) => nonceAt(world, address),
  )
}

/** Do not modify. */
export function codeAfter(record: BlockRecord, address: Address): MaybePromise<Uint8Array> {
  return read(
    record,
    (changes) => codeSetBy(changes, address),
    (world) => codeAt(world, address),
  )
}

export function slotAfter(
  record: BlockRecord,
  address: Address,
  slot: bigint,
): MaybePromise<bigint> {
  return read(
    record,
    (changes) => slotSetBy(changes, address, slot),
    (world) => storageAt(world, address, slot),
  )
}

/** Never makes a world, however many blocks have to be looked through. */
export function hasCodeAfter(record: BlockRecord, address: Address): boolean {
  const inChanges = (changes: WorldChanges): Uint8Array | undefined => codeSetBy(changes, address)
  const inWorld = (world: World): Uint8Array => codeAt(world, address)
  return KeptRecord.newest(record, inChanges, inWorld, Number.POSITIVE_INFINITY)!.length > 0
}

function read<T>(
  record: BlockRecord,
  inChanges: (changes: WorldChanges) => T | undefined,
  inWorld: (world: World) => T,
): MaybePromise<T> {
  const found = KeptRecord.newest(record, inChanges, inWorld, LOOKED_THROUGH)
  if (found !== undefined) return found
  return whenThere(withWorldReady(record), ({ world }) => inWorld(world))
}
