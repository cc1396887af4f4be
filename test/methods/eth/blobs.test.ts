// Blob transactions through the methods: what clients send, and what they get back later.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  bytesFromHex,
  type Hash,
  type Hex,
  hexFromBytes,
  parseAddress,
} from '../../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../../src/devchain.ts'
import { blobHash, decodeSent, encodeSent } from '../../../src/protocol/transactions/sidecar.ts'
import {
  signTransaction,
  type Transaction,
} from '../../../src/protocol/transactions/transaction.ts'
import { sidecarOf } from '../../support/evm/blobs.ts'

/** The key of the first account. */
const KEY = bytesFromHex('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const ALICE = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const BOB = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

const SIDECARS = [sidecarOf(0, [1, 3]), sidecarOf(1, [1, 3])]
const [plain] = SIDECARS as [(typeof SIDECARS)[0]]
const HASHES = plain.commitments.map(blobHash)
const BLOBS = plain.blobs.map(hexFromBytes)

let devchain: Devchain

const ask = <T>(method: string, ...params: unknown[]): Promise<T> =>
  devchain.request({ method, params }) as Promise<T>

beforeAll(async () => {
  devchain = await createDevchain({ clock: 'frozen' })
})
afterAll(async () => {
  await devchain.close()
})

/** Without its blobs, as blocks hold it. */
function signed(nonce: bigint, versionedHashes: readonly Hash[]): Transaction {
  const unsigned = {
    type: 3,
    chainId: 33n,
    nonce,
    gasLimit: 21_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    to: parseAddress(BOB),
    value: 0n,
    data: new Uint8Array(),
    accessList: [],
    authorizationList: [],
    blobs: { maxFeePerBlobGas: 9n, versionedHashes },
  } as const
  return signTransaction(unsigned, KEY)
}

describe('a raw blob transaction', () => {
  const canonical = signed(0n, HASHES)
  const { hash } = canonical

  test('is mined before its receipt, which has its blob gas', async () => {
    const raw = hexFromBytes(encodeSent(canonical, SIDECARS[1]!))
    const receipt = await ask('eth_sendRawTransactionSync', raw)
    expect(receipt).toMatchObject({
      transactionHash: hash,
      status: '0x1',
      type: '0x3',
      blobGasUsed: '0x40000',
      blobGasPrice: '0x1',
    })
    expect(await ask('eth_getTransactionReceipt', hash)).toEqual(receipt)
  })

  test('is returned with its hashes, and without its blobs', async () => {
    expect(await ask('eth_getTransactionByHash', hash)).toMatchObject({
      type: '0x3',
      maxFeePerBlobGas: '0x9',
      blobVersionedHashes: HASHES,
    })
    expect(await ask('eth_getRawTransactionByHash', hash)).toBe(hexFromBytes(canonical.raw))
  })

  test('counts in its block and in eth_feeHistory', async () => {
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({
      transactions: [hash],
      blobGasUsed: '0x40000',
      excessBlobGas: '0x0',
    })
    expect(await ask('eth_feeHistory', '0x1', 'latest', [])).toMatchObject({
      baseFeePerBlobGas: ['0x1', '0x1'],
      blobGasUsedRatio: [2 / 21],
    })
    expect(await ask('eth_blobBaseFee')).toBe('0x1')
  })

  test('has blobs that are found by its hash and by theirs', async () => {
    expect(await ask('anvil_getBlobsByTransactionHash', hash)).toEqual(BLOBS)
    expect(await ask('anvil_getBlobByHash', HASHES[1])).toBe(BLOBS[1])
  })

  test('can be traced before it is sent, in either form', async () => {
    const { raw } = signTransaction({ ...canonical, nonce: 1n }, KEY)
    const sent = encodeSent(decodeSent(raw).transaction, SIDECARS[0]!)
    const answers = await Promise.all(
      [raw, sent].map((each) => ask('trace_rawTransaction', hexFromBytes(each), ['trace'])),
    )
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]).toMatchObject({ trace: [{ type: 'call' }] })
  })
})

test('a bundle may have as many blobs as a block', async () => {
  const versionedHashes = Array.from({ length: 6 }, () => HASHES[0]!)
  const txs = [0n, 1n, 2n, 3n].map((nonce) => hexFromBytes(signed(nonce, versionedHashes).raw))
  const bundle = { blockNumber: '0x1', stateBlockNumber: '0x0' }
  const { results } = await ask<{ results: unknown[] }>('eth_callBundle', {
    ...bundle,
    txs: txs.slice(0, 3),
  })
  expect(results).toHaveLength(3)
  await expect(ask('eth_callBundle', { ...bundle, txs })).rejects.toMatchObject({
    code: -32003,
    message: expect.stringMatching(
      /^block blob gas limit reached: expected at most 393216 blob gas/,
    ) as string,
  })
})

describe('a blob transaction that the node signs', () => {
  test.each(SIDECARS)(
    'accepts blobs, commitments and proofs of version $version',
    async (sidecar) => {
      const hash = await ask('eth_sendTransaction', {
        from: ALICE,
        to: BOB,
        maxFeePerBlobGas: '0x5',
        ...inHex(sidecar),
      })
      expect(await ask('eth_getTransactionByHash', hash)).toMatchObject({
        type: '0x3',
        maxFeePerBlobGas: '0x5',
        blobVersionedHashes: HASHES,
        blockNumber: expect.stringMatching(/^0x/) as string,
      })
      expect(await ask('anvil_getBlobsByTransactionHash', hash)).toEqual(BLOBS)
    },
  )

  test('accepts cell proofs under their own name', async () => {
    const { blobs, commitments, proofs } = inHex(SIDECARS[1]!)
    const request = { from: ALICE, to: BOB, blobs, commitments }
    const hash = await ask('eth_sendTransaction', { ...request, cellProofs: proofs })
    expect(await ask('anvil_getBlobsByTransactionHash', hash)).toEqual(BLOBS)
    await expect(
      ask('eth_sendTransaction', { ...request, proofs, cellProofs: proofs }),
    ).rejects.toMatchObject({ message: expect.stringMatching(/proofs and cellProofs/) as string })
  })

  test('is signed together with its blobs', async () => {
    const [, sidecar] = SIDECARS as [unknown, (typeof SIDECARS)[0]]
    const request = { from: ALICE, to: BOB, ...inHex(sidecar), blobVersionedHashes: HASHES }
    const raw = await ask<Hex>('eth_signTransaction', request)
    expect(decodeSent(bytesFromHex(raw)).sidecar).toEqual(sidecar)
  })

  test('is refused if hashes and commitments differ', async () => {
    const request = { from: ALICE, to: BOB, ...inHex(plain) }
    const blobVersionedHashes = [...HASHES].reverse()
    await expect(
      ask('eth_sendTransaction', { ...request, blobVersionedHashes }),
    ).rejects.toMatchObject({
      code: -32003,
      message: expect.stringMatching(/^blob 0: its commitment has the hash 0x01/) as string,
    })
  })
})

function inHex({ blobs, commitments, proofs }: typeof plain) {
  return {
    blobs: blobs.map(hexFromBytes),
    commitments: commitments.map(hexFromBytes),
    proofs: proofs.map(hexFromBytes),
  }
}
