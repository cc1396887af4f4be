// Blocks as clients see them: their hash follows from the members that are answered, on every fork, and so do the
// hash of each transaction and the root of all of them.
import { createMPT } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { describe, expect, it } from 'vitest'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { HARDFORKS, isAtLeast } from '../../../src/protocol/forks.ts'

type Members = Readonly<Record<string, string | undefined>>
type JsonBlock = Members & { readonly [list in 'transactions' | 'uncles']: never }

/** Header members in the order in which they are hashed, the later ones as far as they are there. */
const HASHED = [
  'parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom',
  'difficulty number gasLimit gasUsed timestamp extraData mixHash nonce',
  'baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash',
  'blockAccessListHash slotNumber',
]
  .join(' ')
  .split(' ')

const INTEGERS = new Set(
  'difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas slotNumber'.split(
    ' ',
  ),
)

/** Members that each fork adds to the block. */
const ADDED = [
  ['london', ['baseFeePerGas']],
  ['shanghai', ['withdrawalsRoot', 'withdrawals']],
  ['cancun', ['blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot']],
  ['prague', ['requestsHash']],
  ['amsterdam', ['blockAccessListHash', 'slotNumber']],
] as const

const FROM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
/** Init code that emits a log with one topic (PUSH1 0x2a, PUSH1 0, PUSH1 0, LOG1) and deploys nothing. */
const LOGGING_CODE = '0x602a60006000a100'

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
}

function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function integerBytes(quantity: string): Uint8Array {
  const digits = BigInt(quantity).toString(16)
  if (digits === '0') return new Uint8Array(0)
  return bytesOf(`0x${digits.length % 2 === 0 ? '' : '0'}${digits}`)
}

function hashOfHeader(block: Members): string {
  const items = HASHED.filter((name) => block[name] !== undefined).map((name) => {
    const value = block[name] ?? ''
    return INTEGERS.has(name) ? integerBytes(value) : bytesOf(value)
  })
  return hexOf(keccak_256(RLP.encode(items)))
}

async function blockAt(devchain: Devchain, block: string, full = false): Promise<JsonBlock> {
  const params = [block, full]
  return (await devchain.request({ method: 'eth_getBlockByNumber', params })) as JsonBlock
}

/** Two transactions in one block: a transfer and a creation that emits a log. */
async function mineTwo(devchain: Devchain): Promise<void> {
  await devchain.request({ method: 'evm_stopMining' })
  for (const transaction of [
    { from: FROM, to: FROM, value: '0x1' },
    { from: FROM, data: LOGGING_CODE },
  ]) {
    await devchain.request({ method: 'eth_sendTransaction', params: [transaction] })
  }
  await devchain.request({ method: 'evm_mine' })
}

describe.each(HARDFORKS)('a block of %s', (hardfork) => {
  it('has the hash of its fields, like the genesis block', async () => {
    await using devchain = await createDevchain({ hardfork, clock: 'frozen' })
    await mineTwo(devchain)
    for (const number of ['0x0', '0x1']) {
      const block = await blockAt(devchain, number)
      expect(hashOfHeader(block)).toBe(block.hash)
    }
    expect((await blockAt(devchain, '0x1')).parentHash).toBe((await blockAt(devchain, '0x0')).hash)
  })

  it('has the fields of its fork and no later ones', async () => {
    await using devchain = await createDevchain({ hardfork, clock: 'frozen' })
    await mineTwo(devchain)
    const block = await blockAt(devchain, 'latest')
    for (const [fork, members] of ADDED) {
      for (const member of members) expect(member in block).toBe(isAtLeast(hardfork, fork))
    }
  })

  it('has the root of its transactions, whose hashes match their encodings', async () => {
    await using devchain = await createDevchain({ hardfork, clock: 'frozen' })
    await mineTwo(devchain)
    const block = await blockAt(devchain, 'latest')
    const hashes = block.transactions as readonly string[]
    expect(hashes).toHaveLength(2)
    const trie = await createMPT()
    for (const [index, hash] of hashes.entries()) {
      const params = [hash]
      const raw = bytesOf(
        (await devchain.request({ method: 'eth_getRawTransactionByHash', params })) as string,
      )
      expect(hexOf(keccak_256(raw))).toBe(hash)
      await trie.put(RLP.encode(index), raw)
    }
    expect(hexOf(trie.root())).toBe(block.transactionsRoot)
  })

  it('has receipts with a status from byzantium on, and with a root before', async () => {
    await using devchain = await createDevchain({ hardfork, clock: 'frozen' })
    await mineTwo(devchain)
    const receipts = (await devchain.request({
      method: 'eth_getBlockReceipts',
      params: ['latest'],
    })) as readonly Members[]
    for (const receipt of receipts) {
      const isNew = isAtLeast(hardfork, 'byzantium')
      expect('status' in receipt).toBe(isNew)
      expect('root' in receipt).toBe(!isNew)
    }
    const { gasUsed } = await blockAt(devchain, 'latest')
    const sumOf = (name: string): number =>
      receipts.reduce((sum, receipt) => sum + Number(receipt[name]), 0)
    // from amsterdam on a block counts the larger dimension, and receipts both
    const counted = Math.max(sumOf('executionGasUsed'), sumOf('stateGasUsed'))
    if (isAtLeast(hardfork, 'amsterdam')) expect(Number(gasUsed)).toBe(counted)
    else expect(receipts.at(-1)?.cumulativeGasUsed).toBe(gasUsed)
  })
})
