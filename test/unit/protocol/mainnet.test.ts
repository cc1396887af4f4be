// What the main network holds: its blocks, transactions and receipts have here the hashes that they have there.
import { describe, expect, test } from 'vitest'
import { bytesFromHex, EMPTY_BYTES, parseAddress, parseHash } from '../../../src/core/hex.ts'
import { sealBlock } from '../../../src/protocol/blocks/block.ts'
import { EMPTY_BLOOM } from '../../../src/protocol/blocks/bloom.ts'
import {
  EMPTY_UNCLES_HASH,
  type Header,
  hashHeader,
  transactionsRoot,
} from '../../../src/protocol/blocks/header.ts'
import { EMPTY_TRIE_ROOT } from '../../../src/protocol/blocks/orderedtrie.ts'
import { type Receipt, receiptsRoot } from '../../../src/protocol/blocks/receipt.ts'
import { nextBaseFee } from '../../../src/protocol/fees.ts'
import {
  encodeTransaction,
  type Transaction,
} from '../../../src/protocol/transactions/transaction.ts'
import { decodeTransaction } from '../../../src/protocol/transactions/transactiondecoding.ts'

const ZERO = parseHash(`0x${'00'.repeat(32)}`)

const genesis: Header = {
  parentHash: ZERO,
  sha3Uncles: EMPTY_UNCLES_HASH,
  miner: parseAddress(`0x${'00'.repeat(20)}`),
  stateRoot: parseHash('0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544'),
  transactionsRoot: EMPTY_TRIE_ROOT,
  receiptsRoot: EMPTY_TRIE_ROOT,
  logsBloom: EMPTY_BLOOM,
  difficulty: 0x400000000n,
  number: 0n,
  gasLimit: 5_000n,
  gasUsed: 0n,
  timestamp: 0n,
  extraData: bytesFromHex('0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa'),
  mixHash: ZERO,
  nonce: bytesFromHex('0x0000000000000042'),
  baseFeePerGas: undefined,
  withdrawalsRoot: undefined,
  blobGasUsed: undefined,
  excessBlobGas: undefined,
  parentBeaconBlockRoot: undefined,
  requestsHash: undefined,
}

const first: Header = {
  ...genesis,
  parentHash: parseHash('0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3'),
  miner: parseAddress('0x05a56e2d52c817161883f50c441c3228cfe54d9f'),
  stateRoot: parseHash('0xd67e4d450343046425ae4271474353857ab860dbc0a1dde64b41b5cd3a532bf3'),
  difficulty: 0x3ff800000n,
  number: 1n,
  timestamp: 0x55ba4224n,
  extraData: bytesFromHex('0x476574682f76312e302e302f6c696e75782f676f312e342e32'),
  mixHash: parseHash('0x969b900de27b6ac6a67742365dd65f55a0526c41fd18e1b16f1a1215c2e66f59'),
  nonce: bytesFromHex('0x539bd4979fef1ec4'),
}

/** The first block with a base fee. */
const london: Header = {
  ...genesis,
  parentHash: parseHash('0x3de6bb3849a138e6ab0b83a3a00dc7433f1e83f7fd488e4bba78f2fe2631a633'),
  miner: parseAddress('0x7777788200b672a42421017f65ede4fc759564c8'),
  stateRoot: parseHash('0x41cf6e8e60fd087d2b00360dc29e5bfb21959bce1f4c242fd1ad7c4da968eb87'),
  transactionsRoot: parseHash('0xdfcb68d3a3c41096f4a77569db7956e0a0e750fad185948e54789ea0e51779cb'),
  receiptsRoot: parseHash('0x8a8865cd785e2e9dfce7da83aca010b10b9af2abbd367114b236f149534c821d'),
  logsBloom: bytesFromHex(
    '0x24e74ad77d9a2b27bdb8f6d6f7f1cffdd8cfb47fdebd433f011f7dfcfbb7db638fadd5ff66ed134ede2879ce61149797fbcdf7b74f6b7de153ec61bdaffeeb7b59c3ed771a2fe9eaed8ac70e335e63ff2bfe239eaff8f94ca642fdf7ee5537965be99a440f53d2ce057dbf9932be9a7b9a82ffdffe4eeee1a66c4cfb99fe4540fbff936f97dde9f6bfd9f8cefda2fc174d23dfdb7d6f7dfef5f754fe6a7eec92efdbff779b5feff3beafebd7fd6e973afebe4f5d86f3aafb1f73bf1e1d0cdd796d89827edeffe8fb6ae6d7bf639ec5f5ff4c32f31f6b525b676c7cdf5e5c75bfd5b7bd1928b6f43aac7fa0f6336576e5f7b7dfb9e8ebbe6f6efe2f9dfe8b3f56',
  ),
  difficulty: 0x1b81c1fe05b218n,
  number: 12_965_000n,
  gasLimit: 30_029_122n,
  gasUsed: 30_025_257n,
  timestamp: 0x610bdaa6n,
  extraData: new TextEncoder().encode('https://www.kryptex.org'),
  mixHash: parseHash('0x9620b46a81a4795cf4449d48e3270419f58b09293a5421205f88179b563f815a'),
  nonce: bytesFromHex('0xb223da049adf2216'),
  baseFeePerGas: 1_000_000_000n,
}

describe('hashHeader matches mainnet for', () => {
  test.each([
    ['the genesis block', genesis, first.parentHash],
    ['block 1', first, '0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6'],
    [
      'the first of london',
      london,
      '0x9b83c12c69edb74f6c8dd5d052765c1adf940e320bd1291696e6fa07829eee71',
    ],
  ])('%s', (_, header, hash) => {
    expect(hashHeader(header)).toBe(hash)
  })

  test('block 12,965,001, and nextBaseFee gives its base fee from the first block of london', () => {
    const { gasUsed, gasLimit } = london
    expect(nextBaseFee({ baseFee: 1_000_000_000n, gasUsed, gasLimit })).toBe(0x430da58en)
  })
})

type Known = Omit<Transaction, 'raw'>

/** The first transaction of all, in block 46,147: before replay protection. */
const earliest: Known = {
  type: 0,
  chainId: undefined,
  nonce: 0n,
  gasLimit: 21_000n,
  maxFeePerGas: 50_000_000_000_000n,
  maxPriorityFeePerGas: 50_000_000_000_000n,
  to: parseAddress('0x5df9b87991262f6ba471f09758cde1c0fc1de734'),
  value: 31_337n,
  data: EMPTY_BYTES,
  accessList: [],
  authorizationList: [],
  v: 28n,
  r: 0x88ff6cf0fefd94db46111149ae4bfc179e9b94721fffd821d38d16464b3f71d0n,
  s: 0x45e0aff800961cfce805daef7016b9b675c137a6a41a548f7b60a3484c06a33an,
  from: parseAddress('0xa1e4380a3b1f749673e270229993ee55f35663b4'),
  hash: parseHash('0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060'),
}

/** The first of block 12,965,000, for 1559 gwei. */
const replayProtected: Known = {
  ...earliest,
  chainId: 1n,
  nonce: 3_292n,
  maxFeePerGas: 1_559_000_000_000n,
  maxPriorityFeePerGas: 1_559_000_000_000n,
  to: parseAddress('0x46499275b5c4d67dfa46b92d89aada3158ea392e'),
  value: 0n,
  v: 38n,
  r: 0xcfaab0b753c1d71f695029e5b5da2f2f619370f5f224a42e1c19dcdcb9e814dan,
  s: 0x606961e8b1dce9439df856ef1d1243f81f45938bac647568253260473efe7cc1n,
  from: parseAddress('0x46499275b5c4d67dfa46b92d89aada3158ea392e'),
  hash: parseHash('0x2ecd08e86079f08cfc27c326aa01b1c8d62f288d5961118056bac7da315f94d9'),
}

const dynamicFee: Known = {
  ...earliest,
  type: 2,
  chainId: 1n,
  nonce: 0x42n,
  gasLimit: 44_386n,
  maxFeePerGas: 20_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  to: parseAddress('0x6069a6c32cf691f5982febae4faf8a6f3ab2f0f6'),
  value: 0n,
  data: bytesFromHex(
    `0xa22cb4650000000000000000000000005eee75727d804a2b13038928d36f8b188945a57a${'00'.repeat(32)}`,
  ),
  v: 0n,
  r: 0x840cfc572845f5786e702984c2a582528cad4b49b2a10b9db1be7fca90058565n,
  s: 0x25e7109ceb98168d95b09b18bbf6b685130e0562f233877d492b94eee0c5b6d1n,
  from: parseAddress('0xdd6b8b3dc6b7ad97db52f08a275ff4483e024cea'),
  hash: parseHash('0x0ec0b6a2df4d87424e5f6ad2a654e27aaeb7dac20ae9e8385cc09087ad532ee0'),
}

describe('a mainnet transaction', () => {
  test.each([
    ['the first', earliest],
    ['replay-protected', replayProtected],
    ['paid by a dynamic fee', dynamicFee],
  ])('that is %s decodes from its encoding', (_, known) => {
    const raw = encodeTransaction(known)
    expect(decodeTransaction(raw)).toEqual({ ...known, raw })
  })

  test('that is the first makes up its whole block', () => {
    const transaction = { ...earliest, raw: encodeTransaction(earliest) }
    const receipt: Receipt = {
      type: 0,
      status: true,
      root: parseHash('0x96a8e009d2b88b1483e6941e6812e32263b05683fac202abc622a3e31aed1957'),
      cumulativeGasUsed: 21_000n,
      gasUsed: 21_000n,
      effectiveGasPrice: earliest.maxFeePerGas,
      logsBloom: EMPTY_BLOOM,
      logs: [],
      contractAddress: null,
    }
    const header: Header = {
      ...genesis,
      parentHash: parseHash('0x5a41d0e66b4120775176c09fcf39e7c0520517a13d2b57b18d33d342df038bfc'),
      miner: parseAddress('0xe6a7a1d47ff21b6321162aea7c6cb457d5476bca'),
      stateRoot: parseHash('0x0e0df2706b0a4fb8bd08c9246d472abbe850af446405d9eba1db41db18b4a169'),
      transactionsRoot: transactionsRoot([transaction]),
      receiptsRoot: receiptsRoot([receipt]),
      difficulty: 0x153886c1bbdn,
      number: 46_147n,
      gasLimit: 0x520bn,
      gasUsed: 21_000n,
      timestamp: 0x55c42659n,
      extraData: new TextEncoder().encode('ethpool.org'),
      mixHash: parseHash('0xb48c515a9dde8d346c3337ea520aa995a4738bb595495506125449c1149d6cf4'),
      nonce: bytesFromHex('0xba4f8ecd18aab215'),
    }
    const block = sealBlock(header, [transaction])
    expect(header.transactionsRoot).toBe(
      '0x4513310fcb9f6f616972a3b948dc5d547f280849a87ebb5af0191f98b87be598',
    )
    expect(header.receiptsRoot).toBe(
      '0xfe2bf2a941abf41d72637e5b91750332a30283efd40c424dc522b77e6f0ed8c4',
    )
    expect(block.hash).toBe('0x4e3a3754410177e6937ef1f84bba68ea139e8d1a2258c5f85db9f1cd715a1bdd')
    expect(block.size).toBe(634)
  })
})
