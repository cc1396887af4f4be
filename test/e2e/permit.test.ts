// What tests do about holders whose keys they do not have: a token's permit passes with a signature that anybody made.
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  type PublicClient,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  type WalletClient,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import type { EvmChoice } from '../../src/evm/executor.ts'

const { abi, bytecode } = inject('contracts').PermitToken!
const token = { abi: abi as Abi }

/** Somebody whose key is not known here. */
const HOLDER: Hex = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const VALUE = 1_000n
const DEADLINE = 2n ** 64n

const anybody = privateKeyToAccount(`0x${'42'.repeat(32)}`)

describe.each<EvmChoice>(['reference', 'interpreter', 'auto'])('with --evm %s', (evm) => {
  let devchain: Devchain
  let reader: PublicClient
  let wallet: WalletClient
  let spender: Hex
  let address: Hex
  let signature: Hex
  let id: unknown

  beforeAll(async () => {
    devchain = await createDevchain({ evm, port: 0, compat: 'anvil' })
    const transport = http((await devchain.listen()).url)
    reader = createPublicClient({ transport })
    wallet = createWalletClient({ transport })
    spender = (await wallet.getAddresses())[0]!
    const common = { account: spender, chain: null, gas: 5_000_000n }
    const hash = await wallet.deployContract({ ...token, ...common, bytecode })
    address = (await reader.getTransactionReceipt({ hash })).contractAddress!
    signature = await signedBy()
  })
  afterAll(() => devchain.close())
  beforeEach(async () => {
    if (id !== undefined) await devchain.request({ method: 'evm_revert', params: [id] })
    id = await devchain.request({ method: 'evm_snapshot' })
  })

  const signedBy = (): Promise<Hex> =>
    anybody.signTypedData({
      domain: { name: 'Permit Token', version: '1', chainId: 33, verifyingContract: address },
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      message: { owner: HOLDER, spender, value: VALUE, nonce: 0n, deadline: DEADLINE },
    })

  const permit = async (): Promise<string> => {
    const { r, s, v } = parseSignature(signature)
    const { request } = await reader.simulateContract({
      ...token,
      address,
      account: spender,
      functionName: 'permit',
      args: [HOLDER, spender, VALUE, DEADLINE, v, r, s],
    })
    const hash = await wallet.writeContract({ ...request, chain: null, gas: 500_000n })
    return (await reader.getTransactionReceipt({ hash })).status
  }

  const allowance = (): Promise<unknown> =>
    reader.readContract({
      ...token,
      address,
      functionName: 'allowance',
      args: [HOLDER, spender],
    })

  const impersonate = (...params: unknown[]): Promise<unknown> =>
    devchain.request({ method: 'anvil_impersonateSignature', params })

  test('a permit of another signer fails', async () => {
    await expect(permit()).rejects.toThrow('ERC2612InvalidSigner')
    expect(await allowance()).toBe(0n)
  })

  test('a permit works once its signature counts as the holder’s', async () => {
    await impersonate(signature, HOLDER)
    expect(await permit()).toBe('success')
    expect(await allowance()).toBe(VALUE)
  })

  test('a compact signature in anvil’s list works as well', async () => {
    const compact = serializeCompactSignature(
      signatureToCompactSignature(parseSignature(signature)),
    )
    await impersonate([compact, HOLDER])
    expect(await permit()).toBe('success')
    expect(await allowance()).toBe(VALUE)
  })
})
