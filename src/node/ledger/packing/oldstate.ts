// Reads parts of the state after a block from the newest change to them: the world of an old block need not be made.

import type { Address } from '../../../core/hex.ts'
import { balanceAt, codeAt, nonceAt, storageAt } from '../../../state/world.ts'
import type { BlockRecord } from '../blockrecord.ts'
import { KeptRecord } from './keptrecord.ts'
import { accountSetBy, codeSetBy, slotSetBy } from './worldchanges.ts'

/** All throw `NOT_FOUND` where the state is not known. */
export function balanceAfter(record: BlockRecord, address: Address): bigint {
  return KeptRecord.newest(
    record,
    (changes) => accountSetBy(changes, address)?.balance,
    (world) => balanceAt(world, address),
  )
}

export function nonceAfter(record: BlockRecord, address: Address): bigint {
  return KeptRecord.newest(
    record,
    (changes) => accountSetBy(changes, address)?.nonce,
    (world) => nonceAt(world, address),
  )
}

/** Do not modify. */
export function codeAfter(record: BlockRecord, address: Address): Uint8Array {
  return KeptRecord.newest(
    record,
    (changes) => codeSetBy(changes, address),
    (world) => codeAt(world, address),
  )
}

export function slotAfter(record: BlockRecord, address: Address, slot: bigint): bigint {
  return KeptRecord.newest(
    record,
    (changes) => slotSetBy(changes, address, slot),
    (world) => storageAt(world, address, slot),
  )
}
