// Headers, roots, receipts and blooms agree with the libraries that other nodes use.
import { createBlockHeader } from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import { createMPT, verifyMPTWithMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { Bloom, encodeReceipt as theirEncoding } from '@ethereumjs/vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesFromHex, hexFromBytes, parseAddress, parseHash } from '../../../../src/core/hex.ts'
import { encodeBlock, sealBlock } from '../../../../src/protocol/blocks/block.ts'
import { bloomOf, mergeBlooms } from '../../../../src/protocol/blocks/bloom.ts'
import {
  EMPTY_REQUESTS_HASH,
  EMPTY_UNCLES_HASH,
  encodeHeader,
  type Header,
  hashHeader,
  unclesHash,
} from '../../../../src/protocol/blocks/header.ts'
import {
  EMPTY_TRIE_ROOT,
  OrderedTrie,
  orderedTrieProof,
  orderedTrieRoot,
} from '../../../../src/protocol/blocks/orderedtrie.ts'
import {
  encodeReceipt,
  type Receipt,
  receiptsRoot,
} from '../../../../src/protocol/blocks/receipt.ts'
import { HARDFORKS, type Hardfork, isAtLeast } from '../../../../src/protocol/forks.ts'
import {
  signTransaction,
  type TransactionType,
} from '../../../../src/protocol/transactions/transaction.ts'

const seeded = { seed: 20261121, numRuns: 40 }

const topic = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => parseHash(hexFromBytes(bytes)))
const log = fc.record({
  address: fc
    .uint8Array({ minLength: 20, maxLength: 20, size: 'max' })
    .map((bytes) => parseAddress(hexFromBytes(bytes))),
  topics: fc.array(topic, { maxLength: 4 }),
  data: fc.uint8Array({ maxLength: 10 }),
})

function headerAt(fork: Hardfork): Header {
  const from = <T>(first: Hardfork, value: T): T | undefined =>
    isAtLeast(fork, first) ? value : undefined
  return {
    parentHash: parseHash(`0x${'11'.repeat(32)}`),
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: parseAddress(`0x${'22'.repeat(20)}`),
    stateRoot: parseHash(`0x${'33'.repeat(32)}`),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: isAtLeast(fork, 'paris') ? 0n : 17n,
    number: 50_000_000n,
    gasLimit: 30_000_000n,
    gasUsed: 21_000n,
    timestamp: 1_800_000_000n,
    extraData: Uint8Array.of(1, 2, 3),
    mixHash: parseHash(`0x${'44'.repeat(32)}`),
    nonce: new Uint8Array(8),
    baseFeePerGas: from('london', 7n),
    withdrawalsRoot: from('shanghai', EMPTY_TRIE_ROOT),
    blobGasUsed: from('cancun', 0n),
    excessBlobGas: from('cancun', 131_072n),
    parentBeaconBlockRoot: from('cancun', parseHash(`0x${'55'.repeat(32)}`)),
    requestsHash: from('prague', EMPTY_REQUESTS_HASH),
    blockAccessListHash: from('amsterdam', parseHash(`0x${'66'.repeat(32)}`)),
    slotNumber: from('amsterdam', 77n),
  }
}

describe('a block', () => {
  test.each(HARDFORKS)(
    'has for a header of %s the hash that @ethereumjs/block computes',
    (fork) => {
      const header = headerAt(fork)
      const common = new Common({
        chain: Mainnet,
        hardfork: (fork === 'frontier' ? 'chainstart' : fork) as never,
      })
      const theirs = createBlockHeader(
        {
          ...header,
          uncleHash: header.sha3Uncles,
          coinbase: header.miner,
          transactionsTrie: header.transactionsRoot,
          receiptTrie: header.receiptsRoot,
        } as never,
        { common, skipConsensusFormatValidation: true },
      )
      expect(hashHeader(header)).toBe(hexFromBytes(theirs.hash()))
    },
  )

  test('has the size of its RLP, with withdrawals from shanghai on', () => {
    const size = (fork: Hardfork): number => sealBlock(headerAt(fork), []).size
    expect(size('shanghai') - size('paris')).toBe(33 + 1)
    expect(sealBlock(headerAt('london'), [], [headerAt('london')]).size).toBeGreaterThan(
      2 * size('london') - 10,
    )
  })

  test('holds legacy transactions as lists and all others as bytes in its RLP', () => {
    const signed = [0, 1, 2].map((type) =>
      signTransaction(
        {
          type: type as TransactionType,
          chainId: 33n,
          nonce: 0n,
          gasLimit: 21_000n,
          maxFeePerGas: 7n,
          maxPriorityFeePerGas: 7n,
          to: null,
          value: 0n,
          data: new Uint8Array(100),
          accessList: [],
          authorizationList: [],
        },
        new Uint8Array(32).fill(1),
      ),
    )
    const header = headerAt('prague')
    const uncles = [headerAt('london'), headerAt('berlin')]
    const [first, ...typed] = signed.map(({ raw }) => raw)
    const encoded = encodeBlock({ header, transactions: signed, uncles, withdrawals: [] })
    expect(RLP.decode(encoded)).toEqual([
      RLP.decode(encodeHeader(header)),
      [RLP.decode(first), ...typed],
      uncles.map((uncle) => RLP.decode(encodeHeader(uncle))),
      [],
    ])
    expect(sealBlock(header, signed, uncles).size).toBe(encoded.length)
  })

  test('without uncles has the well-known hash of no uncles', () => {
    expect(unclesHash([])).toBe(EMPTY_UNCLES_HASH)
    expect(unclesHash([headerAt('frontier')])).not.toBe(EMPTY_UNCLES_HASH)
  })
})

describe('the root of an ordered trie', () => {
  test('equals that of @ethereumjs/mpt for any items', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 80 }), { maxLength: 300, size: 'max' }),
        async (items) => {
          const trie = await createMPT()
          for (const [i, item] of items.entries()) await trie.put(RLP.encode(i), item)
          expect(orderedTrieRoot(items)).toBe(hexFromBytes(trie.root()))
        },
      ),
      seeded,
    )
  })
})

describe('a growing ordered trie', () => {
  test('has the root over its items after each', () => {
    const trie = new OrderedTrie()
    const items: Uint8Array[] = []
    expect(trie.root).toBe(orderedTrieRoot(items))
    for (let i = 0; i < 300; i++) {
      const item = new Uint8Array(1 + (i % 50)).fill(i + 1)
      items.push(item)
      trie.push(item)
      expect(trie.root).toBe(orderedTrieRoot(items))
    }
  })
})

describe('the proof of an ordered trie', () => {
  test('proves every item to @ethereumjs/mpt', async () => {
    for (const count of [1, 2, 16, 17, 128, 129, 300]) {
      const items = Array.from({ length: count }, (_, i) =>
        new Uint8Array(1 + (i % 50)).fill(i + 1),
      )
      const root = bytesFromHex(orderedTrieRoot(items))
      for (const index of [0, 1, count >> 1, count - 1]) {
        if (index >= count) continue
        const proof = orderedTrieProof(items, index)
        const value = await verifyMPTWithMerkleProof(
          await createMPT(),
          root,
          RLP.encode(index),
          proof,
        )
        expect(value).toEqual(items[index])
      }
    }
  })
})

describe('a bloom filter', () => {
  test('equals that of @ethereumjs/vm', () => {
    fc.assert(
      fc.property(fc.array(log, { maxLength: 20, size: 'max' }), (logs) => {
        const theirs = new Bloom()
        for (const { address, topics } of logs) {
          for (const text of [address, ...topics]) theirs.add(bytesFromHex(text))
        }
        expect(bloomOf(logs)).toEqual(theirs.bitvector)
        expect(mergeBlooms(logs.map((one) => bloomOf([one])))).toEqual(theirs.bitvector)
      }),
      seeded,
    )
  })

  test('that is empty contains nothing', () => {
    expect(bloomOf([])).toEqual(new Bloom().bitvector)
  })
})

describe('a receipt', () => {
  const receipt = fc.record<Receipt>({
    type: fc.constantFrom<TransactionType>(0, 1, 2, 3, 4),
    status: fc.boolean(),
    root: fc.constant(undefined),
    cumulativeGasUsed: fc.bigInt(0n, 2n ** 64n - 1n),
    gasUsed: fc.constant(0n),
    effectiveGasPrice: fc.constant(0n),
    logsBloom: fc.uint8Array({ minLength: 256, maxLength: 256, size: 'max' }),
    logs: fc.array(log, { maxLength: 5 }),
    contractAddress: fc.constant(null),
  })
  const root = fc.option(topic, { nil: undefined })

  test('has the encoding of @ethereumjs/vm, with a status, or with a root before byzantium', () => {
    fc.assert(
      fc.property(receipt, root, (status, before) => {
        // only legacy transactions are older than byzantium
        const ours = status.type === 0 ? { ...status, root: before } : status
        const outcome =
          ours.root === undefined
            ? { status: (ours.status ? 1 : 0) as 0 | 1 }
            : { stateRoot: bytesFromHex(ours.root) }
        const theirs = {
          ...outcome,
          // their own zero is a byte, which no node encodes
          cumulativeBlockGasUsed: ours.cumulativeGasUsed + 1n,
          bitvector: ours.logsBloom,
          logs: ours.logs.map(
            ({ address, topics, data }): [Uint8Array, Uint8Array[], Uint8Array] => [
              bytesFromHex(address),
              topics.map((text) => bytesFromHex(text)),
              data,
            ],
          ),
        }
        const encoded = encodeReceipt({ ...ours, cumulativeGasUsed: ours.cumulativeGasUsed + 1n })
        expect(hexFromBytes(encoded)).toBe(hexFromBytes(theirEncoding(theirs, ours.type)))
      }),
      seeded,
    )
  })

  test('has its place in a root over the encodings in order', () => {
    fc.assert(
      fc.property(fc.array(receipt, { maxLength: 5 }), (receipts) => {
        expect(receiptsRoot(receipts)).toBe(orderedTrieRoot(receipts.map(encodeReceipt)))
      }),
      seeded,
    )
  })
})
