// eth_getProof, receipt nodes and raw data, as a light client would check them: with another library, against headers.
import { createMPT, verifyMPTWithMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keccak256, keccakHash } from '../../../src/core/crypto/crypto.ts'
import {
  bytesFromBigint,
  bytesFromHex,
  type Hex,
  hexFromBytes,
  paddedBytes,
} from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { EMPTY_TRIE_ROOT } from '../../../src/protocol/blocks/orderedtrie.ts'
import { countTurns } from '../../support/waiting/turns.ts'

interface Proof {
  readonly address: Hex
  readonly balance: Hex
  readonly nonce: Hex
  readonly codeHash: Hex
  readonly storageHash: Hex
  readonly accountProof: readonly Hex[]
  readonly storageProof: readonly {
    readonly key: Hex
    readonly value: Hex
    readonly proof: readonly Hex[]
  }[]
}

let devchain: Devchain
let sender: string
/** Stores its first calldata word in the slot that the second names. */
let store: string

const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
  devchain.request({ method, params }) as Promise<T>

beforeAll(async () => {
  devchain = await createDevchain({ clock: 'frozen' })
  sender = (await ask<string[]>('eth_accounts'))[0] ?? ''
  // runtime: SSTORE(calldata[32], calldata[0])
  const runtime = '6000356020355500'
  const init = `67${runtime}60005260086018f3`
  const hash = await ask('eth_sendTransaction', { from: sender, data: `0x${init}`, gas: '0x30000' })
  store = (await ask<{ contractAddress: string }>('eth_getTransactionReceipt', hash))
    .contractAddress
})
afterAll(() => devchain.close())

const put = (slot: bigint, value: bigint): Promise<string> =>
  ask('eth_sendTransaction', {
    from: sender,
    to: store,
    data: hexFromBytes(Uint8Array.of(...paddedBytes(value, 32), ...paddedBytes(slot, 32))),
  })

async function proven(
  root: Hex,
  key: Uint8Array,
  nodes: readonly Hex[],
): Promise<Uint8Array | null> {
  return verifyMPTWithMerkleProof(
    await createMPT(),
    bytesFromHex(root),
    keccak256(key),
    nodes.map(bytesFromHex),
  )
}

async function check(proof: Proof, stateRoot: Hex): Promise<void> {
  const leaf = await proven(stateRoot, bytesFromHex(proof.address), proof.accountProof)
  const fields = [BigInt(proof.nonce), BigInt(proof.balance)].map(bytesFromBigint)
  const expected = RLP.encode([
    ...fields,
    bytesFromHex(proof.storageHash),
    bytesFromHex(proof.codeHash),
  ])
  if (leaf === null) expect(BigInt(proof.balance) + BigInt(proof.nonce)).toBe(0n)
  else expect(hexFromBytes(leaf)).toBe(hexFromBytes(expected))
  for (const { key, value, proof: nodes } of proof.storageProof) {
    // the library reads no root of an empty trie, whose hash proves it
    const isEmpty = keccakHash(bytesFromHex(nodes[0] ?? '0x')) === EMPTY_TRIE_ROOT
    if (isEmpty) expect([proof.storageHash, nodes]).toEqual([EMPTY_TRIE_ROOT, ['0x80']])
    const stored = isEmpty
      ? null
      : await proven(proof.storageHash, paddedBytes(BigInt(key), 32), nodes)
    const word = stored === null ? 0n : BigInt(hexFromBytes(RLP.decode(stored) as Uint8Array))
    expect(word).toBe(BigInt(value))
  }
}

describe('eth_getProof', () => {
  test('matches the state root of any kept block, for set, unset and cleared slots', async () => {
    const expected = new Map<bigint, bigint>()
    const slot = fc.bigInt(0n, 60n)
    const writes = fc.sample(fc.tuple(slot, fc.bigInt(0n, 3n)), { seed: 7, numRuns: 40 })
    for (const [key, value] of writes) {
      await put(key, value)
      expected.set(key, value)
    }
    const head = Number(await ask<string>('eth_blockNumber'))
    for (let number = 0; number <= head; number += 5) {
      const block = `0x${number.toString(16)}`
      const { stateRoot } = await ask<{ stateRoot: Hex }>('eth_getBlockByNumber', block, false)
      const keys = [...Array(61).keys()].map((key) => `0x${key.toString(16)}`)
      await check(await ask<Proof>('eth_getProof', store, keys, block), stateRoot)
      await check(await ask<Proof>('eth_getProof', sender, ['0x0'], block), stateRoot)
      const nobody = `0x${number.toString(16).padStart(40, 'd')}`
      await check(await ask<Proof>('eth_getProof', nobody, [], block), stateRoot)
    }
    const { storageProof } = await ask<Proof>(
      'eth_getProof',
      store,
      [...expected.keys()].map(Number),
      'latest',
    )
    expect(storageProof.map(({ value }) => BigInt(value))).toEqual([...expected.values()])
  })
})

test('eth_getProof proves the maximum of slots, with turns for others, and refuses more', async () => {
  const keys = Array.from({ length: 1_025 }, (_, slot) => slot)
  const prove = (count: number): Promise<Proof> =>
    ask<Proof>('eth_getProof', store, keys.slice(0, count), 'latest')
  using others = countTurns()
  const { storageProof } = await prove(1_024)
  expect(storageProof).toHaveLength(1_024)
  expect(others.count()).toBeGreaterThan(0)
  await expect(prove(1_025)).rejects.toMatchObject({
    code: -32005,
    message: 'storageKeys: expected at most 1024, got 1025',
  })
})

describe('raw data', () => {
  test('of a header hashes to its block', async () => {
    for (const block of ['earliest', 'latest', '0x3']) {
      const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', block, false)
      const raw = await ask<Hex>('ext_getRawBlockHeaderByNumber', block)
      expect(keccakHash(bytesFromHex(raw))).toBe(hash)
      expect(await ask('ext_getRawBlockHeaderByHash', hash)).toBe(raw)
      expect(await ask('debug_getRawHeader', block)).toBe(raw)
      const parts = RLP.decode(bytesFromHex(await ask<Hex>('debug_getRawBlock', block)))
      expect(hexFromBytes(RLP.encode(parts[0] as never))).toBe(raw)
    }
  })

  test('of receipts leads from the leaf to the receipts root of a large block', async () => {
    await ask('evm_stopMining')
    const hashes = await Promise.all(Array.from({ length: 20 }, (_, i) => put(BigInt(i), 9n)))
    await ask('evm_mine')
    await ask('evm_startMining')
    const { hash, receiptsRoot, transactions } = await ask<{
      hash: Hex
      receiptsRoot: Hex
      transactions: string[]
    }>('eth_getBlockByNumber', 'latest', false)
    expect(transactions).toHaveLength(20)
    for (const [index, transaction] of transactions.entries()) {
      expect(hashes).toContain(transaction)
      const nodes = await ask<Hex[]>('ext_getTransactionReceiptNodesByHash', hash, transaction)
      const value = await verifyMPTWithMerkleProof(
        await createMPT(),
        bytesFromHex(receiptsRoot),
        RLP.encode(index),
        nodes.map(bytesFromHex).reverse(),
      )
      expect(value && hexFromBytes(value)).toBe(
        await ask('ext_getRawTransactionReceiptByHash', transaction),
      )
    }
  })
})
