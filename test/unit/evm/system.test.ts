// System calls of a block: beacon roots, parent hashes, requests.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type Address,
  bigintFromBytes,
  bytesFromHex,
  concatBytes,
  type Hash,
  hashFromBytes,
  hexFromBytes,
  paddedBytes,
  ZERO_HASH,
} from '../../../src/core/hex.ts'
import type { BlockEnvironment } from '../../../src/evm/executor.ts'
import type { RunContext } from '../../../src/evm/machine.ts'
import { createExecutor } from '../../../src/evm/run/lazyexecutor.ts'
import { Tiers, tiersOf } from '../../../src/evm/run/tiers.ts'
import { depositsOf, hashRequests, systemCall } from '../../../src/evm/system.ts'
import { OPTIONS } from '../../../src/options/table.ts'
import { accessListOf } from '../../../src/protocol/blocks/accesslist.ts'
import { EMPTY_REQUESTS_HASH } from '../../../src/protocol/blocks/header.ts'
import {
  BEACON_ROOTS,
  CONSOLIDATION_REQUESTS,
  HISTORY_STORAGE,
  systemContracts,
  WITHDRAWAL_REQUESTS,
} from '../../../src/state/predeploys.ts'
import {
  accountAt,
  stateRoot,
  storageAt,
  type World,
  withAccount,
  withCode,
  withNonce,
  withSlots,
} from '../../../src/state/world.ts'
import { assemble, storing } from '../../support/evm/bytecode.ts'
import { ALICE, blockWith, funded, messageWith, transactionWith } from './stage.ts'

const executor = createExecutor()
const context: RunContext = {
  machines: new Tiers(tiersOf('auto'), console.error),
  memoryLimit: OPTIONS.memoryLimit.default,
  isClosed: () => false,
  onBug: console.error,
}
const parentHash = `0x${'11'.repeat(32)}` as Hash
const root = `0x${'22'.repeat(32)}` as Hash

const deployed: World = systemContracts('prague').reduce(
  (world, { address, code }) => withNonce(withCode(world, address, code), address, 1n),
  funded,
)

/** What a block without transactions accesses. */
async function listOf(world: World, block: BlockEnvironment, beaconRoot: Hash): Promise<unknown> {
  const job = { world, block, parentHash, parentBeaconBlockRoot: beaconRoot }
  const start = await executor.beginBlock(job)
  const end = await executor.endBlock({ world: start.world, block, logs: [] })
  return accessListOf([
    { index: 0n, accesses: start.accesses },
    { index: 1n, accesses: end.accesses },
  ])
}

test.each<[string, Hash, readonly [Address, bigint, bigint][]]>([
  ['a beacon root', root, []],
  ['no beacon root', ZERO_HASH, []],
  ['a root in place of another', root, [[BEACON_ROOTS.address, 7096n + 8191n, 5n]]],
  ['no root in place of one', ZERO_HASH, [[BEACON_ROOTS.address, 7096n + 8191n, 5n]]],
  ['the time that is there', ZERO_HASH, [[BEACON_ROOTS.address, 7096n, 1_700_000_000n]]],
  ['the hash that is there', root, [[HISTORY_STORAGE.address, 999n, BigInt(parentHash)]]],
])(
  'a block with %s has the same access list as by running the contracts',
  async (_, beaconRoot, slots) => {
    const block = blockWith({ hardfork: 'amsterdam' })
    expect(block.timestamp % 8191n).toBe(7096n)
    const contracts = systemContracts('amsterdam')
    const worldOf = (end: readonly number[]): World => {
      const world = contracts.reduce(
        (made, { address, code }) => withCode(made, address, Uint8Array.of(...code, ...end)),
        funded,
      )
      return slots.reduce((made, [address, slot, value]) => {
        const account = accountAt(made, address)!
        const storage = withSlots(account.storage, new Map([[slot, value]]))
        return withAccount(made, { ...account, storage })
      }, world)
    }
    // code that is not as deployed is run
    const run = await listOf(worldOf([0]), block, beaconRoot)
    expect(run).toHaveLength(contracts.length)
    expect(await listOf(worldOf([]), block, beaconRoot)).toEqual(run)
  },
)

describe('the start of a block', () => {
  test('passes on the beacon root, which the contract returns by timestamp', async () => {
    const block = blockWith()
    const job = { world: deployed, block, parentHash, parentBeaconBlockRoot: root }
    const { world } = await executor.beginBlock(job)
    const data = paddedBytes(block.timestamp, 32)
    const message = messageWith({ to: BEACON_ROOTS.address, data })
    const { output } = await executor.call({ world, block, message })
    expect(hexFromBytes(output)).toBe(root)
  })

  test('passes on the parent hash, which the contract returns by number', async () => {
    const block = blockWith()
    const job = { world: deployed, block, parentHash, parentBeaconBlockRoot: root }
    const { world } = await executor.beginBlock(job)
    const data = paddedBytes(block.number - 1n, 32)
    const message = messageWith({ to: HISTORY_STORAGE.address, data })
    const { output } = await executor.call({ world, block, message })
    expect(hexFromBytes(output)).toBe(parentHash)
  })

  test('writes the same slots as running the contracts', async () => {
    const block = blockWith({ number: 20_000n })
    const job = { world: deployed, block, parentHash, parentBeaconBlockRoot: root }
    const call = (world: World, address: Address, data: Hash) =>
      systemCall(context, world, block, address, bytesFromHex(data))
    const first = await call(deployed, BEACON_ROOTS.address, root)
    const second = await call(first.world, HISTORY_STORAGE.address, parentHash)
    expect(stateRoot(second.world)).not.toBe(stateRoot(deployed))
    expect(stateRoot((await executor.beginBlock(job)).world)).toBe(stateRoot(second.world))
  })

  test('runs another contract at the address', async () => {
    const code = assemble('0 CALLDATALOAD 7 SSTORE CALLER 8 SSTORE')
    const world = withCode(deployed, HISTORY_STORAGE.address, code)
    const job = { world, block: blockWith(), parentHash, parentBeaconBlockRoot: root }
    const { world: after } = await executor.beginBlock(job)
    expect(storageAt(after, HISTORY_STORAGE.address, 7n)).toBe(BigInt(parentHash))
    const system = '0xfffffffffffffffffffffffffffffffffffffffe' as Address
    expect(storageAt(after, HISTORY_STORAGE.address, 8n)).toBe(BigInt(system))
    expect(accountAt(after, system)).toBeUndefined()
  })

  test('does nothing where the contracts are not deployed', async () => {
    const job = { world: funded, block: blockWith(), parentHash, parentBeaconBlockRoot: root }
    expect((await executor.beginBlock(job)).world).toBe(funded)
  })

  test('does nothing before the fork that introduced it', async () => {
    const at = (hardfork: 'shanghai' | 'cancun') => ({
      world: deployed,
      block: blockWith({ hardfork }),
      parentHash,
      parentBeaconBlockRoot: hardfork === 'cancun' ? root : undefined,
    })
    expect((await executor.beginBlock(at('shanghai'))).world).toBe(deployed)
    const { world: cancun } = await executor.beginBlock(at('cancun'))
    expect(accountAt(cancun, HISTORY_STORAGE.address)?.storage.isEmpty).toBe(true)
    expect(accountAt(cancun, BEACON_ROOTS.address)?.storage.isEmpty).toBe(false)
  })
})

describe('the end of a block', () => {
  test('has the hash of no requests where nobody made any', async () => {
    const end = await executor.endBlock({ world: deployed, block: blockWith(), logs: [] })
    expect(end.fields.requestsHash).toBe(EMPTY_REQUESTS_HASH)
    expect(end.world).toBe(deployed)
  })

  test('gives an unused queue the same result as running its contract', async () => {
    for (const { address } of [WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS]) {
      const ran = await systemCall(context, deployed, blockWith(), address, new Uint8Array())
      expect(ran.output.length).toBe(0)
      expect(stateRoot(ran.world)).toBe(stateRoot(deployed))
    }
  })

  test('has no requests before prague', async () => {
    const block = blockWith({ hardfork: 'cancun' })
    const end = await executor.endBlock({ world: deployed, block, logs: [] })
    expect(end.fields.requestsHash).toBeUndefined()
  })

  test('removes a withdrawal request from its queue', async () => {
    const block = blockWith()
    // the queue opens with the first block: until then its fee is out of reach
    const start = { world: deployed, block, logs: [] }
    const opened = await executor.endBlock(start)
    const key = new Uint8Array(48).fill(9)
    const amount = new Uint8Array(8).fill(1)
    const sent = await executor.transact({
      world: opened.world,
      block,
      transaction: transactionWith({
        to: WITHDRAWAL_REQUESTS.address,
        data: concatBytes(key, amount),
        value: 1n,
        gasLimit: 1_000_000n,
      }),
    })
    expect(sent.failure).toBeUndefined()
    const end = await executor.endBlock({ world: sent.world, block, logs: sent.logs })
    // the contract answers the amount in little-endian order
    const request = concatBytes(bytesFromHex(ALICE), key, amount.slice().reverse())
    expect(end.fields.requestsHash).toBe(hashRequests([new Uint8Array(), request]))
    expect(end.fields.requestsHash).not.toBe(EMPTY_REQUESTS_HASH)
    const next = await executor.endBlock({ world: end.world, block, logs: [] })
    expect(next.fields.requestsHash).toBe(EMPTY_REQUESTS_HASH)
  })

  test('treats a failing contract as one without requests', async () => {
    const world = withCode(deployed, WITHDRAWAL_REQUESTS.address, assemble('0 0 REVERT'))
    const end = await executor.endBlock({ world, block: blockWith(), logs: [] })
    const failure = `the call of the system contract at ${WITHDRAWAL_REQUESTS.address} failed`
    expect(end).toEqual({
      world,
      fields: { requestsHash: EMPTY_REQUESTS_HASH },
      requests: [],
      failure,
      accesses: [],
    })
  })

  test('takes what another contract at the address returns', async () => {
    const answer = Uint8Array.of(1, 2, 3)
    const code = assemble(`${storing(answer)} 3 0 RETURN`)
    const world = withCode(deployed, CONSOLIDATION_REQUESTS.address, code)
    const end = await executor.endBlock({ world, block: blockWith(), logs: [] })
    const inner = createHash('sha256')
      .update(Uint8Array.of(2, 1, 2, 3))
      .digest()
    expect(end.fields.requestsHash).toBe(hashFromBytes(createHash('sha256').update(inner).digest()))
  })
})

describe('a deposit', () => {
  const parts = [48, 32, 8, 96, 8].map((length, i) => new Uint8Array(length).fill(i + 1))
  const padded = (bytes: Uint8Array): Uint8Array =>
    concatBytes(
      paddedBytes(BigInt(bytes.length), 32),
      bytes,
      new Uint8Array((32 - (bytes.length % 32)) % 32),
    )
  const offsets = [160, 256, 320, 384, 512].map((offset) => paddedBytes(BigInt(offset), 32))
  const data = concatBytes(...offsets, ...parts.map(padded))
  const log = {
    address: '0x00000000219ab540356cbb839cbe05303d7705fa' as Address,
    topics: ['0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5' as Hash],
    data,
  }

  test('is read from the logs of the deposit contract', () => {
    expect(depositsOf([log, log])).toEqual(concatBytes(...parts, ...parts))
  })

  test('is not read from other contracts, topics or layouts', () => {
    expect(depositsOf([{ ...log, address: ALICE }]).length).toBe(0)
    expect(depositsOf([{ ...log, topics: [root] }]).length).toBe(0)
    expect(depositsOf([{ ...log, data: data.subarray(1) }]).length).toBe(0)
    const shifted = data.slice()
    shifted[31] = 161
    expect(bigintFromBytes(shifted.subarray(0, 32))).toBe(161n)
    expect(depositsOf([{ ...log, data: shifted }]).length).toBe(0)
  })

  test('is part of the hash of the requests', async () => {
    const end = await executor.endBlock({ world: deployed, block: blockWith(), logs: [log] })
    expect(end.fields.requestsHash).toBe(hashRequests([concatBytes(...parts)]))
  })
})
