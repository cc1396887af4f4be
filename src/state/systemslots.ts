// What the system contracts keep of recent blocks, written without running them (EIP-4788, EIP-2935).
import { type Address, equalBytes, type Hash } from '../core/hex.ts'
import { type Hardfork, isAtLeast } from '../protocol/forks.ts'
import { addressKey, slotKey } from './keys.ts'
import {
  BEACON_ROOTS,
  CONSOLIDATION_REQUESTS,
  HISTORY_STORAGE,
  type Predeploy,
  WITHDRAWAL_REQUESTS,
} from './predeploys.ts'
import type { TrieChange } from './trie.ts'
import { type Account, accountAt, type StorageSlot, type World, withAccounts } from './world.ts'

/** Slots of both rings: of block hashes, by number, and of timestamps, with the beacon roots in as many slots behind. */
export const RING = 8191n

/** Where the contract of EIP-2935 keeps the hash of the block before `number`. */
export function historySlot(number: bigint): bigint {
  return (number - 1n) % RING
}

/** Where the contract of EIP-4788 keeps a timestamp; the beacon root is `RING` slots behind. */
export function beaconSlot(timestamp: bigint): bigint {
  return timestamp % RING
}

/** True when the contract runs the code that it has on the main network. */
export function isAsDeployed(world: World, { address, code }: Predeploy): boolean {
  const account = accountAt(world, address)
  return account !== undefined && (account.code === code || equalBytes(account.code, code))
}

/** True when calling the contract changes nothing and answers nothing: nothing is there, or a queue that was never used. */
export function isIdleQueue(world: World, queue: Predeploy): boolean {
  const account = accountAt(world, queue.address)
  if (account === undefined || account.code.length === 0) return true
  return account.storage.isEmpty && isAsDeployed(world, queue)
}

/** True when no system contract makes requests at the end of an empty block. */
export function hasNoRequests(world: World, hardfork: Hardfork): boolean {
  if (!isAtLeast(hardfork, 'prague')) return true
  return isIdleQueue(world, WITHDRAWAL_REQUESTS) && isIdleQueue(world, CONSOLIDATION_REQUESTS)
}

/** What the system contracts get at the beginning of a block; undefined where the fork has no such contract. */
export interface SystemInput {
  readonly timestamp: bigint
  readonly beaconRoot: Hash | undefined
  readonly number: bigint
  readonly parentHash: Hash | undefined
}

/**
 * The world after the contracts were called with these values, as their own code would leave it, without running it. Both
 * have the main network's code.
 */
export function withSystemWrites(world: World, input: SystemInput): World {
  const { timestamp, beaconRoot, number, parentHash } = input
  const changed: TrieChange<Account>[] = []
  if (beaconRoot !== undefined) {
    const slot = beaconSlot(timestamp)
    const slots = [slotChange(slot, timestamp), slotChange(slot + RING, BigInt(beaconRoot))]
    changed.push(written(world, BEACON_ROOTS.address, slots))
  }
  if (parentHash !== undefined) {
    const slots = [slotChange(historySlot(number), BigInt(parentHash))]
    changed.push(written(world, HISTORY_STORAGE.address, slots))
  }
  return withAccounts(world, changed)
}

function written(
  world: World,
  address: Address,
  slots: readonly TrieChange<StorageSlot>[],
): TrieChange<Account> {
  const account = accountAt(world, address)
  if (account === undefined) throw new Error(`no system contract at ${address}`)
  const storage = account.storage.withChanges(slots)
  return { key: addressKey(address), value: { ...account, storage } }
}

/** A slot is set to its value, without a look at what it was: a hash and a time are always others. */
export function slotChange(slot: bigint, value: bigint): TrieChange<StorageSlot> {
  return { key: slotKey(slot), value: value === 0n ? undefined : { slot, value }, name: slot }
}
