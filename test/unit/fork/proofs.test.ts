// A fork with proofs: local blocks have the state roots that the network would have, and proofs and witnesses of them.
import { createMPT, verifyMerkleProof } from '@ethereumjs/mpt'
import { describe, expect, test } from 'vitest'
import { keccak256 } from '../../../src/core/crypto/crypto.ts'
import { bytesFromHex, hexFromBytes, paddedBytes } from '../../../src/core/hex.ts'
import { decodeRlp } from '../../../src/core/rlp.ts'
import type { DevchainOptions } from '../../../src/devchain.ts'
import { namesWith } from '../../../src/fork/prefixes.ts'
import { slotKey } from '../../../src/state/keys.ts'
import {
  type Asked,
  deployKeeper,
  type Fork,
  forkOf,
  sendOn,
  setting,
  startUpstream,
  type Upstream,
  word,
} from '../../support/fork/upstream.ts'

interface Block {
  readonly number: string
  readonly timestamp: string
  readonly stateRoot: string
}

interface Proof {
  readonly storageHash: string
  readonly accountProof: readonly string[]
  readonly storageProof: readonly { readonly value: string; readonly proof: readonly string[] }[]
}

/** A fork that has nothing of its own, so that it is what the network is. */
function provenForkOf(upstream: Upstream, options: DevchainOptions = {}): Promise<Fork> {
  return forkOf(upstream, { forkProofs: true, chainId: 'remote', accounts: 0, ...options })
}

const newest = (ask: Upstream['ask']): Promise<Block> =>
  ask('eth_getBlockByNumber', 'latest', false) as Promise<Block>

/** Mines the same transaction on the network and on the fork, at the same time, and gives both blocks. */
async function onBoth(
  upstream: Upstream,
  fork: Fork,
  request: Readonly<Record<string, unknown>>,
): Promise<readonly [Block, Block]> {
  const receipt = await sendOn(upstream.ask, request)
  const theirs = await newest(upstream.ask)
  const raw = await upstream.ask('eth_getRawTransactionByHash', receipt.transactionHash)
  await fork.ask('evm_setNextBlockTimestamp', theirs.timestamp)
  await fork.ask('eth_sendRawTransaction', raw)
  return [theirs, await newest(fork.ask)]
}

/** Slots whose hashes have their first eight nibbles in common. */
function twins(): readonly [bigint, bigint] {
  const seen = new Map<string, bigint>()
  for (let slot = 0n; ; slot++) {
    const prefix = hexFromBytes(slotKey(slot)).slice(0, 10)
    const other = seen.get(prefix)
    if (other !== undefined) return [other, slot]
    seen.set(prefix, slot)
  }
}

const isProof = ({ method }: Asked): boolean => method === 'eth_getProof'

describe('a fork with --fork-proofs', () => {
  test('says that state roots are valid, and without it that they are not', async () => {
    await using upstream = await startUpstream()
    await using proven = await provenForkOf(upstream)
    await using plain = await provenForkOf(upstream, { forkProofs: false })
    expect(await proven.ask('devchain_forkInfo')).toMatchObject({ stateRootsHold: true })
    expect(await plain.ask('devchain_forkInfo')).toMatchObject({ stateRootsHold: false })
  })

  test('has the network’s state root while slots are set and cleared, each in a block', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await provenForkOf(upstream)
    for (const [slot, value] of [
      [3, 0],
      [70, 5],
      [4, 0],
      [5, 6],
      [70, 0],
      [0, 0],
      [1, 0],
      [2, 0],
    ] as const) {
      const request = { to: keeper, data: setting(slot, value) }
      const [theirs, ours] = await onBoth(upstream, fork, request)
      expect([slot, ours.stateRoot]).toEqual([slot, theirs.stateRoot])
    }
    expect(await fork.ask('devchain_forkInfo')).toMatchObject({ stateRootsHold: true })
  })

  test('fetches a key beside a cleared slot where its branch collapses, in few rounds', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await provenForkOf(upstream)
    const before = upstream.requests.length
    await upstream.ask('evm_setAutomine', false)
    const [from] = (await upstream.ask('eth_accounts')) as string[]
    const hashes: unknown[] = []
    for (let slot = 0; slot < 30; slot++) {
      const request = { from, to: keeper, data: setting(slot, 0), gas: '0x20000' }
      hashes.push(await upstream.ask('eth_sendTransaction', request))
    }
    await upstream.ask('evm_mine')
    const theirs = await newest(upstream.ask)
    await fork.ask('evm_setAutomine', false)
    for (const hash of hashes) {
      const raw = await upstream.ask('eth_getRawTransactionByHash', hash)
      await fork.ask('eth_sendRawTransaction', raw)
    }
    await fork.ask('evm_mine', Number(theirs.timestamp))
    expect((await newest(fork.ask)).stateRoot).toBe(theirs.stateRoot)
    const asked = upstream.requests.slice(before).flat().filter(isProof)
    const slots = new Set(asked.flatMap(({ params }) => params[1] as string[]))
    // 30 that were cleared, and some that nobody named
    expect(slots.size).toBeGreaterThan(30)
    expect(upstream.requests.length - before).toBeLessThan(60)
  })

  test('proves accounts and slots of its own blocks', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await provenForkOf(upstream)
    await onBoth(upstream, fork, { to: keeper, data: setting(0, 9) })
    const slots = ['0x0', '0x1', '0x3e7']
    for (const address of [keeper, `0x${'77'.repeat(20)}`]) {
      const proof = (await fork.ask('eth_getProof', address, slots, 'latest')) as Proof
      expect(proof).toEqual(await upstream.ask('eth_getProof', address, slots, 'latest'))
    }
    const { stateRoot } = await newest(fork.ask)
    const proof = (await fork.ask('eth_getProof', keeper, slots, 'latest')) as Proof
    const trie = await createMPT({ root: bytesFromHex(stateRoot), useKeyHashing: true })
    const leaf = await verifyMerkleProof(
      keccak256(bytesFromHex(keeper)),
      proof.accountProof.map(bytesFromHex),
    )
    expect(hexFromBytes(trie.root())).toBe(
      hexFromBytes(keccak256(bytesFromHex(proof.accountProof[0] ?? '0x'))),
    )
    expect(hexFromBytes((decodeRlp(leaf ?? new Uint8Array()) as Uint8Array[])[2]!)).toBe(
      proof.storageHash,
    )
    expect(proof.storageProof.map(({ value }) => value)).toEqual(['0x9', '0x65', '0x0'])
  })

  test('has the same witnesses for its own blocks as the network', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await provenForkOf(upstream)
    for (const slot of [3, 4, 5, 6]) {
      await onBoth(upstream, fork, { to: keeper, data: setting(slot, 0) })
      const ours = (await fork.ask('debug_executionWitness', 'latest')) as Record<string, string[]>
      const theirs = (await upstream.ask('debug_executionWitness', 'latest')) as typeof ours
      expect(new Set(ours.state)).toEqual(new Set(theirs.state))
      expect(ours.codes).toEqual(theirs.codes)
      expect(ours.keys).toEqual(theirs.keys)
    }
  })

  test('has roots and proofs of added accounts from its first block on', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await provenForkOf(upstream, { accounts: 3, balance: '7' })
    await sendOn(fork.ask, { to: keeper, data: setting(0, 9) })
    const [, second] = (await fork.ask('eth_accounts')) as string[]
    const { stateRoot } = await newest(fork.ask)
    const proof = (await fork.ask('eth_getProof', second, [], 'latest')) as Proof
    expect(hexFromBytes(keccak256(bytesFromHex(proof.accountProof[0] ?? '0x')))).toBe(stateRoot)
    const leaf = await verifyMerkleProof(
      keccak256(bytesFromHex(second ?? '0x')),
      proof.accountProof.map(bytesFromHex),
    )
    const [nonce, balance] = decodeRlp(leaf ?? new Uint8Array()) as Uint8Array[]
    expect(hexFromBytes(nonce!)).toBe('0x')
    expect(BigInt(hexFromBytes(balance!))).toBe(7n * 10n ** 18n)
  })

  test('has the roots of edited state, after snapshots and reverts too', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    await using fork = await provenForkOf(upstream)
    const edit = async ({ ask }: Pick<Fork, 'ask'>): Promise<void> => {
      await ask('anvil_setStorageAt', keeper, `0x${word(2)}`, `0x${word(0)}`)
      await ask('anvil_setStorageAt', keeper, `0x${word(500)}`, `0x${word(4)}`)
      await ask('anvil_setBalance', `0x${'44'.repeat(20)}`, '0x44')
      await ask('anvil_setNonce', `0x${'45'.repeat(20)}`, '0x45')
      await ask('anvil_setCode', `0x${'46'.repeat(20)}`, '0x6001')
    }
    const snapshot = await fork.ask('evm_snapshot')
    await sendOn(upstream.ask, { to: keeper, value: '0x0', data: setting(0, 1) })
    await fork.ask('anvil_setStorageAt', keeper, `0x${word(7)}`, `0x${word(7)}`)
    await fork.ask('evm_mine')
    await fork.ask('evm_revert', snapshot)
    await using other = await provenForkOf(upstream, { fork: `${upstream.url}@2` })
    await using whole = await startUpstream()
    expect(await deployKeeper(whole)).toBe(keeper)
    for (const each of [fork, other, whole]) {
      await edit(each)
      const { timestamp } = (await each.ask('eth_getBlockByNumber', '0x2', false)) as Block
      await each.ask('evm_mine', Number(timestamp) + 12)
    }
    const [one, two, three] = await Promise.all([fork, other, whole].map(({ ask }) => newest(ask)))
    expect([one?.number, one?.stateRoot]).toEqual([three?.number, three?.stateRoot])
    expect(two?.stateRoot).toBe(three?.stateRoot)
  })

  test('warns of a node that no key leads to, and goes on with the known roots', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    const [one, other] = twins()
    await sendOn(upstream.ask, { to: keeper, data: setting(one, 1n << 200n) })
    await sendOn(upstream.ask, { to: keeper, data: setting(other, 2n << 200n) })
    await using fork = await provenForkOf(upstream)
    const [theirs, ours] = await onBoth(upstream, fork, { to: keeper, data: setting(one, 0) })
    expect(ours.stateRoot).not.toBe(theirs.stateRoot)
    expect(await fork.ask('devchain_forkInfo')).toMatchObject({ stateRootsHold: false })
    await expect(fork.ask('eth_getProof', keeper, [], 'latest')).rejects.toThrow(
      /there are no proofs over this state, .*: no key was found whose proof has the trie node at [0-9a-f]{9,} of the storage of 0x[0-9a-f]{40}/,
    )
    await using known = await provenForkOf(upstream, { fork: `${upstream.url}@4` })
    await known.ask('eth_getStorageAt', keeper, `0x${word(other)}`)
    const raw = await upstream.ask('eth_getRawTransactionByBlockNumberAndIndex', 'latest', '0x0')
    await known.ask('evm_setNextBlockTimestamp', theirs.timestamp)
    await known.ask('eth_sendRawTransaction', raw)
    expect((await newest(known.ask)).stateRoot).toBe(theirs.stateRoot)
  })

  test('is refused in the network’s words if it gives no proofs', async () => {
    await using upstream = await startUpstream()
    const keeper = await deployKeeper(upstream)
    upstream.faults.unknown.add('eth_getProof')
    await using fork = await provenForkOf(upstream)
    await expect(fork.ask('eth_getBalance', keeper)).rejects.toThrow(
      /refuses eth_getProof: the method eth_getProof does not exist/,
    )
  })
})

describe('namesWith', () => {
  test.each([20, 32] as const)(
    'finds keys of %d bytes by the start of their hash, the same each time',
    async (length) => {
      const prefixes = ['', '0', 'f', '7a', 'abc', '0001']
      const names = await namesWith(prefixes, length)
      for (const prefix of prefixes) {
        const name = names.get(prefix)
        expect(name).toBeDefined()
        const hash = hexFromBytes(keccak256(paddedBytes(name ?? 0n, length)))
        expect(hash.slice(2, 2 + prefix.length)).toBe(prefix)
      }
      expect(await namesWith(prefixes, length)).toEqual(names)
    },
  )

  test('warns once of a long search, with what it still looks for', async () => {
    const reported: (readonly string[])[] = []
    const onLong = (left: readonly string[]): unknown => reported.push(left)
    await namesWith(['9', '53c1b'], 20, onLong, 0)
    expect(reported).toEqual([['53c1b']])
    await namesWith(['53c1b', 'e'], 20, onLong, 0)
    expect(reported).toHaveLength(1)
  })

  test('skips a search that would take too long', async () => {
    expect((await namesWith(['1234567'], 32)).size).toBe(0)
  })
})
