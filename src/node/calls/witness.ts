// The witness of a block: the trie nodes, codes and headers needed to run it without the rest of the state.
import { type Address, bytesFromHex, paddedBytes } from '../../core/hex.ts'
import { getOrMake } from '../../core/lrucache.ts'
import { yielder } from '../../core/yield.ts'
import type { Touched } from '../../evm/executor.ts'
import { encodeHeader } from '../../protocol/blocks/header.ts'
import { addressKey, slotKey } from '../../state/keys.ts'
import {
  BEACON_ROOTS,
  HISTORY_STORAGE,
  SYSTEM_ADDRESS,
  systemContracts,
} from '../../state/predeploys.ts'
import { beaconSlot, historySlot, QUEUE_SLOTS, RING } from '../../state/systemslots.ts'
import type { Trie } from '../../state/trie.ts'
import { accountAt, emptyStorage, type World } from '../../state/world.ts'
import type { Chain } from '../chain/chain.ts'
import type { BlockRecord } from '../ledger/blockrecord.ts'
import { blockByNumber } from '../ledger/blocktree.ts'
import { knownBlock } from '../ledger/leftblocks.ts'
import { withWorldReady } from '../ledger/packing/keptrecord.ts'
import { parentToRunOn } from './replay.ts'

export interface Witness {
  /** RLP of nodes of the state trie before the block, and of storage tries. */
  readonly state: readonly Uint8Array[]
  /** Of accounts that were read, as before the block. */
  readonly codes: readonly Uint8Array[]
  /** Addresses of 20 bytes, each followed by its slots of 32 bytes. */
  readonly keys: readonly Uint8Array[]
  /** RLP of the headers before the block, as far back as BLOCKHASH looked: the parent is the last. */
  readonly headers: readonly Uint8Array[]
}

export interface Sight {
  readonly touched: Touched
  /** Number of the oldest block whose hash was read, if any. */
  readonly oldest: bigint | undefined
}

/** Includes what the system calls and rewards of the block touch. */
export async function witnessOf(
  { state }: Chain,
  record: BlockRecord,
  sight: Sight,
): Promise<Witness> {
  const parent = parentToRunOn(state, record)
  await withWorldReady(parent)
  await withWorldReady(record)
  const touched = withSystem(record, parent.world, state.config.hardforkAt, sight.touched)
  const codes = new Set<Uint8Array>()
  for (const address of touched.keys()) {
    const code = accountAt(parent.world, address)?.code
    if (code !== undefined && code.length > 0) codes.add(code)
  }
  return {
    state: await nodesOf(parent.world, record.world, touched),
    codes: [...codes],
    keys: [...touched].flatMap(([address, slots]) => [
      bytesFromHex(address),
      ...[...slots].map((slot) => paddedBytes(slot, 32)),
    ]),
    headers: headersBefore(state, parent, sight.oldest),
  }
}

function withSystem(
  { block: { header, uncles, withdrawals } }: BlockRecord,
  before: World,
  hardforkAt: Chain['state']['config']['hardforkAt'],
  touched: Touched,
): ReadonlyMap<Address, ReadonlySet<bigint>> {
  const { number, timestamp } = header
  const all = new Map<Address, Set<bigint>>()
  const touch = (address: Address, slots: Iterable<bigint> = []): void => {
    const known = getOrMake(all, address, () => new Set())
    for (const slot of slots) known.add(slot)
  }
  for (const [address, slots] of touched) touch(address, slots)
  for (const { miner } of [header, ...uncles]) touch(miner)
  for (const { address } of withdrawals) touch(address)
  for (const contract of systemContracts(hardforkAt(number, timestamp))) {
    const { address } = contract
    touch(address)
    // their caller, which libraries read and make for a while
    touch(SYSTEM_ADDRESS)
    const storage = accountAt(before, address)?.storage ?? emptyStorage
    if (contract === BEACON_ROOTS) {
      touch(address, [beaconSlot(timestamp), beaconSlot(timestamp) + RING])
    } else if (contract === HISTORY_STORAGE) touch(address, [historySlot(number)])
    else {
      touch(address, QUEUE_SLOTS)
      for (const { slot } of storage.values()) touch(address, [slot])
    }
  }
  return all
}

async function nodesOf(
  before: World,
  after: World,
  touched: ReadonlyMap<Address, Iterable<bigint>>,
): Promise<Uint8Array[]> {
  const nodes = new Map<string, Uint8Array>()
  /** Adds the nodes needed to find a key, and to delete it if it is gone after. */
  const add = <V>(old: Trie<V>, now: Trie<V>, key: Uint8Array, name: Address | bigint): void => {
    const isGone = old.get(key, name) !== undefined && now.get(key, name) === undefined
    const beside = isGone ? now.nodeBeside(key) : undefined
    const found = [...old.proof(key, name), ...(beside === undefined ? [] : old.proofOf(beside))]
    for (const node of found) nodes.set(Buffer.from(node).toString('latin1'), node)
  }
  const yieldIfDue = yielder()
  for (const [address, slots] of touched) {
    await yieldIfDue()
    add(before.accounts, after.accounts, addressKey(address), address)
    const account = accountAt(before, address)
    if (account === undefined) continue
    const storage = accountAt(after, address)?.storage ?? emptyStorage
    for (const slot of slots) {
      add(account.storage, storage, slotKey(slot), slot)
      await yieldIfDue()
    }
  }
  return [...nodes.values()]
}

function headersBefore(
  state: Chain['state'],
  parent: BlockRecord,
  oldest: bigint | undefined,
): Uint8Array[] {
  const headers = [encodeHeader(parent.block.header)]
  let { header } = parent.block
  while (oldest !== undefined && header.number > oldest) {
    const before = header.number - 1n
    const next = knownBlock(state, header.parentHash) ?? blockByNumber(state.tree, before)
    if (next === undefined) break
    header = next.block.header
    headers.unshift(encodeHeader(header))
  }
  return headers
}
