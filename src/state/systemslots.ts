// Writes the slots of the block system contracts without running them (EIP-4788, EIP-2935).
import { type Address, equalBytes, type Hash, ZERO_HASH } from '../core/hex.ts'
import { memoizeByIdentity } from '../core/lrucache.ts'
import {
  type AccountAccess,
  accessListOf,
  type BlockAccessList,
  NO_SLOTS,
  type SlotWrite,
} from '../protocol/blocks/accesslist.ts'
import type { Hardfork } from '../protocol/forks.ts'
import { addressKey, slotKey } from './keys.ts'
import { BEACON_ROOTS, HISTORY_STORAGE, type Predeploy, queuesOf } from './predeploys.ts'
import type { TrieChange } from './trie.ts'
import {
  type Account,
  accountAt,
  codeAt,
  type StorageSlot,
  slotValue,
  type World,
  withAccounts,
} from './world.ts'

/** The length of both rings. Beacon roots are `RING` slots behind their timestamps. */
export const RING = 8191n

/** The slot in EIP-2935 for the hash of the block before `number`. */
export function historySlot(number: bigint): bigint {
  return (number - 1n) % RING
}

/** The slot in EIP-4788 for a timestamp; the beacon root is `RING` slots behind. */
export function beaconSlot(timestamp: bigint): bigint {
  return timestamp % RING
}

export function isAsDeployed(world: World, { address, code }: Predeploy): boolean {
  const account = accountAt(world, address)
  return account !== undefined && equalBytes(account.code, code)
}

/** In which the queues of requests keep their excess, count, head and tail. */
export const QUEUE_SLOTS: readonly bigint[] = [0n, 1n, 2n, 3n]

/** True if a call would change and return nothing: a queue never used. */
export function isIdleQueue({ code, storage }: Account, queue: Predeploy): boolean {
  return storage.isEmpty && equalBytes(code, queue.code)
}

export function hasNoRequests(world: World, hardfork: Hardfork): boolean {
  return queuesOf(hardfork).every((queue) => {
    const account = accountAt(world, queue.address)
    return account === undefined || account.code.length === 0 || isIdleQueue(account, queue)
  })
}

export interface SystemInput {
  readonly timestamp: bigint
  readonly beaconRoot: Hash | undefined
  readonly number: bigint
  readonly parentHash: Hash | undefined
}

type SlotWrites = Pick<AccountAccess, 'address' | 'writes'>

/** What the contracts' own code would write. Both must have mainnet's. */
export function systemWrites(input: SystemInput): readonly SlotWrites[] {
  const { timestamp, beaconRoot, number, parentHash } = input
  const all: SlotWrites[] = []
  if (beaconRoot !== undefined) {
    const slot = beaconSlot(timestamp)
    const writes = [[slot, timestamp] as const, [slot + RING, BigInt(beaconRoot)] as const]
    all.push({ address: BEACON_ROOTS.address, writes })
  }
  if (parentHash !== undefined) {
    const writes = [[historySlot(number), BigInt(parentHash)] as const]
    all.push({ address: HISTORY_STORAGE.address, writes })
  }
  return all
}

export function accessOf(
  address: Address,
  reads: readonly bigint[] = NO_SLOTS,
  writes: readonly SlotWrite[] = NO_SLOTS,
): AccountAccess {
  return { address, reads, writes, balance: undefined, nonce: undefined, code: undefined }
}

const slotOf = ([slot]: SlotWrite): bigint => slot

/** What a call of an idle queue reads. */
export const accessOfQueue: (queue: Predeploy) => AccountAccess = memoizeByIdentity(({ address }) =>
  accessOf(address, QUEUE_SLOTS),
)

/** Queues with code, whose calls an empty block lists. */
export function listedQueues(world: World, hardfork: Hardfork): readonly Predeploy[] {
  return queuesOf(hardfork).filter(({ address }) => codeAt(world, address).length > 0)
}

/** The access list of a block that only writes to both rings, without a beacon root before or after it (EIP-7928). */
export function emptyAccessList(
  queues: readonly Predeploy[],
  block: Pick<SystemInput, 'number' | 'timestamp' | 'parentHash'>,
): BlockAccessList {
  const begin = systemWrites({ ...block, beaconRoot: ZERO_HASH }).map(({ address, writes }) =>
    accessOf(
      address,
      writes.map(slotOf),
      writes.filter(([, value]) => value !== 0n),
    ),
  )
  return accessListOf([
    { index: 0n, accesses: begin },
    { index: 1n, accesses: queues.map(accessOfQueue) },
  ])
}

/** @param accesses what the calls access is added to it (EIP-7928): all slots are read, those that change are written */
export function withSystemWrites(
  world: World,
  all: readonly SlotWrites[],
  accesses: AccountAccess[] | undefined,
): World {
  const changed = all.map(({ address, writes }) => {
    const account = accountAt(world, address)
    if (account === undefined) throw new Error(`no system contract at ${address}`)
    const { storage } = account
    let changes = writes
    if (accesses !== undefined) {
      changes = writes.filter(([slot, value]) => slotValue(storage, slot) !== value)
      accesses.push(accessOf(address, writes.map(slotOf), changes))
    }
    const value = { ...account, storage: storage.withChanges(changes.map(slotChange)) }
    return { key: addressKey(address), value }
  })
  return withAccounts(world, changed)
}

/** Skips comparing with the old value: hashes and times always differ. */
function slotChange([slot, value]: SlotWrite): TrieChange<StorageSlot> {
  return { key: slotKey(slot), value: value === 0n ? undefined : { slot, value }, name: slot }
}
