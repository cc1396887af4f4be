// Blobs sent by client libraries over a real socket, signed by keys of their own.
import { JsonRpcProvider, Wallet } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, type Hex, http } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { concatBytes, hexFromBytes } from '../../src/core/hex.ts'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import { blobHash } from '../../src/protocol/transactions/sidecar.ts'
import { blobOf, kzg, sidecarOf } from '../support/evm/blobs.ts'

const MNEMONIC = 'test test test test test test test test test test test junk'
const SEEDS = [2, 3]
const BLOBS = SEEDS.map((seed) => hexFromBytes(blobOf(seed)))
const HASHES = sidecarOf(0, SEEDS).commitments.map(blobHash)
const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'

let devchain: Devchain
let url: string

beforeAll(async () => {
  devchain = await createDevchain({ port: 0, baseFee: '1gwei' })
  url = (await devchain.listen()).url
})
afterAll(async () => {
  await devchain.close()
})

const blobsOf = (hash: string): Promise<unknown> =>
  devchain.request({ method: 'anvil_getBlobsByTransactionHash', params: [hash] })

describe('viem', () => {
  test('fills in, signs and sends blobs, and reads their cost', async () => {
    const chain = defineChain({
      id: 33,
      name: 'devchain',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
    })
    const common = { chain, transport: http(url) }
    const account = mnemonicToAccount(MNEMONIC)
    const wallet = createWalletClient({ ...common, account })
    const client = createPublicClient(common)
    const maxFeePerBlobGas = 2n * (await client.getBlobBaseFee())
    const hash = await wallet.sendTransaction({ blobs: BLOBS, kzg, maxFeePerBlobGas, to: TO })
    expect(await client.waitForTransactionReceipt({ hash })).toMatchObject({
      status: 'success',
      type: 'eip4844',
      blobGasUsed: 262_144n,
      blobGasPrice: 1n,
    })
    expect(await client.getTransaction({ hash })).toMatchObject({
      type: 'eip4844',
      maxFeePerBlobGas: 2n,
      blobVersionedHashes: HASHES,
    })
    expect(await client.getBlock()).toMatchObject({ blobGasUsed: 262_144n, excessBlobGas: 0n })
    expect(await blobsOf(hash)).toEqual(BLOBS)
  })
})

describe('ethers', () => {
  let provider: JsonRpcProvider
  let wallet: Wallet

  beforeAll(() => {
    provider = new JsonRpcProvider(url, undefined, { pollingInterval: 20, cacheTimeout: -1 })
    const key = mnemonicToAccount(MNEMONIC, { addressIndex: 1 }).getHdKey().privateKey as Uint8Array
    wallet = new Wallet(hexFromBytes(key), provider)
  })
  afterAll(() => {
    provider.destroy()
  })

  test('sends blobs with the proofs that its KZG library makes', async () => {
    const request = { type: 3, to: TO, maxFeePerBlobGas: 5n, blobs: BLOBS, kzg }
    const receipt = await (await wallet.sendTransaction(request)).wait()
    expect(receipt).toMatchObject({ status: 1, blobGasUsed: 262_144n, blobGasPrice: 1n })
    expect(await blobsOf(receipt?.hash as string)).toEqual(BLOBS)
  })

  test('sends blobs with proofs of their cells', async () => {
    const blobs = SEEDS.map((seed) => {
      const { commitments, proofs } = sidecarOf(1, [seed])
      return {
        data: hexFromBytes(blobOf(seed)),
        commitment: hexFromBytes(commitments[0] as Uint8Array),
        proof: hexFromBytes(concatBytes(...proofs)),
      }
    })
    const request = { type: 3, to: TO, maxFeePerBlobGas: 5n, blobs, blobWrapperVersion: 1 }
    const response = await wallet.sendTransaction(request)
    expect((await response.wait())?.status).toBe(1)
    const sent = await provider.getTransaction(response.hash)
    expect(sent?.blobVersionedHashes).toEqual(HASHES)
    expect(await blobsOf(response.hash)).toEqual(BLOBS satisfies Hex[])
  })
})
