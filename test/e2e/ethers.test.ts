// What users of ethers 6 do, over a real socket, against contracts compiled in this run.
import {
  Contract,
  ContractFactory,
  HDNodeWallet,
  JsonRpcProvider,
  type JsonRpcSigner,
  verifyMessage,
  verifyTypedData,
  WebSocketProvider,
} from 'ethers'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createDevchain, type Devchain } from '../../src/devchain.ts'
import type { Contract as Artifact } from '../support/solidity/contracts.ts'
import { eventually } from '../support/waiting/eventually.ts'

const MNEMONIC = 'test test test test test test test test test test test junk'
const contracts = inject('contracts')

let devchain: Devchain
let provider: JsonRpcProvider
let signer: JsonRpcSigner
let url: string

beforeAll(async () => {
  devchain = await createDevchain({ port: 0 })
  url = (await devchain.listen()).url
  provider = new JsonRpcProvider(url, undefined, { pollingInterval: 20, cacheTimeout: -1 })
  signer = await provider.getSigner(0)
})
afterAll(async () => {
  provider.destroy()
  await devchain.close()
})

async function deploy(name: string, ...args: unknown[]): Promise<Contract> {
  const { abi, bytecode } = contracts[name] as Artifact
  const factory = new ContractFactory(abi as never, bytecode, signer)
  const deployed = await factory.deploy(...args, { gasLimit: 5_000_000 })
  await deployed.waitForDeployment()
  return new Contract(await deployed.getAddress(), abi as never, signer)
}

describe('ethers', () => {
  test('transfers an ERC-20, and queryFilter finds the event', async () => {
    const token = await deploy('Token', 1_000n)
    const to = (await provider.getSigner(1)).address
    const sent = await token.getFunction('transfer')(to, 25n)
    const receipt = await sent.wait()
    expect(receipt.status).toBe(1)
    expect(await token.getFunction('balanceOf')(to)).toBe(25n)
    const events = await token.queryFilter('Transfer', receipt.blockNumber)
    expect(events).toHaveLength(1)
  })

  test('reads the owner of a minted ERC-721', async () => {
    const collectible = await deploy('Collectible')
    await (await collectible.getFunction('mint')(signer.address)).wait()
    expect(await collectible.getFunction('ownerOf')(1)).toBe(signer.address)
  })

  test('runs a proxy’s implementation on the proxy’s state', async () => {
    const counter = await deploy('Counter')
    const data = counter.interface.encodeFunctionData('initialize', [3])
    const proxy = await deploy('CounterProxy', await counter.getAddress(), data)
    const behind = counter.attach(await proxy.getAddress()) as Contract
    await (await behind.getFunction('increment')()).wait()
    expect(await behind.getFunction('count')()).toBe(4n)
  })

  test('decodes a reason, a panic and a custom error with its arguments', async () => {
    const vault = await deploy('Vault', 0)
    await expect(vault.getFunction('deposit').staticCall('')).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      reason: 'nothing sent',
    })
    await expect(vault.getFunction('divide')(1, 0)).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
      revert: { name: 'Panic' },
    })
    await expect(vault.getFunction('withdraw').staticCall(5)).rejects.toMatchObject({
      revert: { name: 'NotEnough', args: [signer.address, 5n, 0n] },
    })
    await expect(vault.getFunction('withdraw').estimateGas(5)).rejects.toMatchObject({
      code: 'CALL_EXCEPTION',
    })
  })

  test('rejects wait() for a failed transaction, with the receipt', async () => {
    const vault = await deploy('Vault', 0)
    const sent = await vault.getFunction('withdraw')(5, { gasLimit: 100_000 })
    await expect(sent.wait()).rejects.toMatchObject({ receipt: { status: 0 } })
  })
})

describe('an ethers wallet', () => {
  test('signs, sends and waits', async () => {
    const wallet = HDNodeWallet.fromPhrase(MNEMONIC, undefined, "m/44'/60'/0'/0/4").connect(
      provider,
    )
    const before = await provider.getBalance('0x00000000000000000000000000000000000000aa')
    const sent = await wallet.sendTransaction({
      to: '0x00000000000000000000000000000000000000aa',
      value: 7n,
    })
    const receipt = await sent.wait()
    expect(receipt?.from).toBe(wallet.address)
    expect(await provider.getBalance('0x00000000000000000000000000000000000000aa')).toBe(
      before + 7n,
    )
  })

  test('verifies what the node signs', async () => {
    expect(verifyMessage('hello', await signer.signMessage('hello'))).toBe(signer.address)
    const domain = { name: 'devchain', chainId: 33 }
    const types = { Mail: [{ name: 'text', type: 'string' }] }
    const signature = await signer.signTypedData(domain, types, { text: 'hi' })
    expect(verifyTypedData(domain, types, { text: 'hi' }, signature)).toBe(signer.address)
  })
})

describe('an ethers provider', () => {
  test('finds a snapshot restored after every revert', async () => {
    const token = await deploy('Token', 1_000n)
    const to = (await provider.getSigner(2)).address
    const id = await provider.send('evm_snapshot', [])
    for (let round = 0; round < 3; round++) {
      await (await token.getFunction('transfer')(to, 5n)).wait()
      expect(await token.getFunction('balanceOf')(to)).toBe(5n)
      expect(await provider.send('evm_revert', [id])).toBe(true)
      expect(await token.getFunction('balanceOf')(to)).toBe(0n)
    }
  })

  test('sees increased time in the next block', async () => {
    const before = (await provider.getBlock('latest'))?.timestamp ?? 0
    await provider.send('evm_increaseTime', [3600])
    await provider.send('evm_mine', [])
    const after = (await provider.getBlock('latest'))?.timestamp ?? 0
    expect(after - before).toBeGreaterThanOrEqual(3600)
  })

  test('completes 500 parallel sends from one account', async () => {
    const sender = await provider.getSigner(6)
    const first = await sender.getNonce()
    const hashes = await Promise.all(
      Array.from({ length: 500 }, () =>
        sender.sendUncheckedTransaction({ to: signer.address, value: 1n, gasLimit: 21_000 }),
      ),
    )
    const receipts = await Promise.all(hashes.map((hash) => provider.getTransactionReceipt(hash)))
    expect(receipts.filter((receipt) => receipt?.status === 1)).toHaveLength(500)
    expect(await sender.getNonce()).toBe(first + 500)
  })

  test('over WebSocket gets blocks and events', async () => {
    const socket = new WebSocketProvider(url.replace('http', 'ws'))
    const token = (await deploy('Token', 1_000n)).connect(signer) as Contract
    const heard: string[] = []
    await socket.on('block', () => heard.push('block'))
    const listening = new Contract(await token.getAddress(), token.interface, socket)
    await listening.on('Transfer', () => heard.push('Transfer'))
    await eventually(async () => {
      await (await token.getFunction('transfer')(signer.address, 1n)).wait()
      return heard.includes('block') && heard.includes('Transfer')
    })
    await socket.destroy()
  })
})
