// What is worked on, and parent blocks as they come over the wire.
import { createBlockHeader } from '@ethereumjs/block'
import { Common, Mainnet } from '@ethereumjs/common'
import { Ethash } from '@ethereumjs/ethash'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DevchainError } from '../../../../src/core/errors.ts'
import { type Hash, hexFromBytes, parseBytes } from '../../../../src/core/hex.ts'
import { encodeHeader } from '../../../../src/protocol/blocks/header.ts'
import {
  decodeParentBlock,
  decodeParentTransaction,
  displayedHash,
  doubleSha256,
  heightInCoinbase,
  proofOfBlock,
  requireMerkleRoot,
  requireWork,
  workInCoinbase,
} from '../../../../src/protocol/work/parentchain.ts'
import { sealHash, seedHash, targetOf } from '../../../../src/protocol/work/sealing.ts'
import { makeParentBlock } from '../../../support/chain/parentblocks.ts'
import { recordOf, word } from '../../node/records.ts'

describe('proof-of-work', () => {
  test('is computed for the header without its proof, as by @ethereumjs/ethash', () => {
    const common = new Common({ chain: Mainnet, hardfork: 'london' })
    const header = {
      ...recordOf(14_000_000n, word(1)).block.header,
      withdrawalsRoot: undefined,
      blobGasUsed: undefined,
      excessBlobGas: undefined,
      parentBeaconBlockRoot: undefined,
      requestsHash: undefined,
    }
    const fields = {
      ...header,
      uncleHash: header.sha3Uncles,
      coinbase: header.miner,
      transactionsTrie: header.transactionsRoot,
      receiptTrie: header.receiptsRoot,
      mixHash: parseBytes(header.mixHash),
    }
    const same = createBlockHeader(fields as never, { common, skipConsensusFormatValidation: true })
    expect(hexFromBytes(same.serialize())).toBe(hexFromBytes(encodeHeader(header)))
    // the package leaves the last two fields out, and knew no base fee when it did: the fields before are the same
    const legacy = { ...header, baseFeePerGas: undefined }
    const raw = same.raw().slice(0, 15)
    expect(sealHash(legacy)).toBe(hexFromBytes(new Ethash().headerHash(raw)))
    expect(sealHash({ ...legacy, nonce: new Uint8Array(8).fill(7), mixHash: word(9) })).toBe(
      sealHash(legacy),
    )
    expect(sealHash(header)).not.toBe(sealHash(legacy))
  })

  test.each([
    [0n, 2n ** 256n - 1n],
    [1n, 2n ** 256n - 1n],
    [2n, 2n ** 255n],
    [3n, (2n ** 256n - 1n) / 3n],
    [2n ** 255n, 2n],
  ])('of difficulty %i has the target 2^256 divided by it', (difficulty, target) => {
    expect(targetOf(difficulty)).toBe(target)
  })

  test('has a new seed every 30,000 blocks: the hash of the previous seed', () => {
    expect(seedHash(29_999n)).toBe(word(0))
    expect(seedHash(30_000n)).toBe(
      '0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563',
    )
    expect(seedHash(89_999n)).toBe(
      '0x510e4e770828ddbf7f7b00ab00a9f6adaf81c0dc9cc85f1f8249c256942d61d9',
    )
  })
})

/** The first block that there was of the first parent chain. */
const FIRST_BLOCK =
  '0x0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000'

describe('a parent block', () => {
  test('of the real chain decodes, has its known hash, and proves its coinbase', () => {
    const block = decodeParentBlock(parseBytes(FIRST_BLOCK))
    expect(displayedHash(doubleSha256(block.header))).toBe(
      '0x000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
    )
    expect(block.ids.map(displayedHash)).toEqual([
      '0x4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
    ])
    requireMerkleRoot(proofOfBlock(block))
    requireWork(block.header, 2n ** 224n)
    expect(() => requireWork(block.header, 2n ** 208n)).toThrow('above the target')
  })

  test('of any size proves its coinbase', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.boolean(), (transactions, hasWitness) => {
        const made = makeParentBlock({ work: word(5), transactions, hasWitness })
        const block = decodeParentBlock(parseBytes(`0x${made.block}`))
        expect(block.ids.map((id) => displayedHash(id).slice(2))).toEqual(made.ids)
        requireMerkleRoot(proofOfBlock(block))
        expect(workInCoinbase(block.coinbase, 'DEVBLOCK:')).toBe(word(5))
        expect(hexFromBytes(decodeParentTransaction(parseBytes(`0x${made.coinbase}`)))).toBe(
          hexFromBytes(block.coinbase),
        )
      }),
      { seed: 20_261_208, numRuns: 60 },
    )
  })

  test('that was cut or changed anywhere is refused, or is another block', () => {
    const bytes = parseBytes(`0x${makeParentBlock({ work: word(5), transactions: 3 }).block}`)
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.boolean(), (at, value, isCut) => {
        const changed = isCut ? bytes.slice(0, at) : bytes.with(at, value)
        try {
          const block = decodeParentBlock(changed)
          expect(isCut).toBe(false)
          expect(block.header).toHaveLength(80)
        } catch (error) {
          expect(error).toBeInstanceOf(DevchainError)
          expect((error as DevchainError).word).toBe('INVALID_PARAMS')
        }
      }),
      { seed: 20_261_209, numRuns: 500 },
    )
  })

  /** A coinbase whose script begins with these bytes. */
  const withScript = (...script: number[]): Uint8Array =>
    Uint8Array.of(2, 0, 0, 0, 1, ...Array<number>(36).fill(0), script.length, ...script)
  test.each<[number | undefined, Uint8Array]>([
    [812_345, withScript(3, 0x39, 0x65, 0x0c, 0)],
    [0, withScript(0)],
    [1, withScript(0x51)],
    [16, withScript(0x60)],
    [17, withScript(1, 17)],
    [undefined, withScript()],
    [undefined, withScript(3, 1, 2)],
    [undefined, withScript(0x61)],
    [undefined, withScript(7, 1, 2, 3, 4, 5, 6, 7)],
  ])('has its height %s at the start of its coinbase', (height, coinbase) => {
    expect(heightInCoinbase(coinbase)).toBe(height)
  })

  test('with a coinbase as short as an inner node of the tree is refused', () => {
    const tagged = new TextEncoder().encode('TAG:')
    const coinbase = Uint8Array.of(...tagged, ...new Uint8Array(60))
    expect(() => workInCoinbase(coinbase, 'TAG:')).toThrow('has 64 bytes: expected more than 64')
    expect(workInCoinbase(Uint8Array.of(...coinbase, 0), 'TAG:')).toBe(word(0) as Hash)
  })
})
