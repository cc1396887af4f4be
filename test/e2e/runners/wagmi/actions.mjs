// What each test file does, so that a chain that was not restarted is noticed by the next.
import {
  connect,
  disconnect,
  estimateGas,
  getBalance,
  getBlockNumber,
  getTransactionCount,
  sendTransaction,
  signMessage,
  switchChain,
  verifyMessage,
  waitForTransactionReceipt,
  watchBlockNumber,
} from '@wagmi/core'
import { parseEther } from 'viem'
import { expect, test } from 'vitest'
import { accounts, chains, config, testClients } from './chains.mjs'

const to = '0xd2135CfB216b74109775236E36d4b433F1DF507B'

export function defineTests() {
  test.each([0, 1])('sends a transaction, mines it, and sees it, on chain %d', async (which) => {
    const connector = config.connectors[0]
    const { id: chainId } = chains[which]
    const client = testClients[which]
    const forked = await getBlockNumber(config, { chainId, cacheTime: 0 })
    expect(forked).toBe(BigInt(process.env.FORKED))
    expect(await getBalance(config, { address: to, chainId })).toMatchObject({ value: 0n })
    await connect(config, { connector })
    if (config.state.chainId !== chainId) await switchChain(config, { chainId })
    const seen = []
    const unwatch = watchBlockNumber(config, {
      chainId,
      onBlockNumber: (number) => seen.push(number),
    })
    await client.setBalance({ address: accounts[0], value: parseEther('10') })
    const value = parseEther('0.5')
    expect(await estimateGas(config, { chainId, to, value })).toBe(21_000n)
    const hash = await sendTransaction(config, { chainId, to, value })
    await expect(
      sendTransaction(config, { chainId, to, value: parseEther('99999') }),
    ).rejects.toThrow(/exceeds the balance of the account/)
    expect(await getTransactionCount(config, { address: accounts[0], chainId })).toBe(0)
    await client.mine({ blocks: 1 })
    const receipt = await waitForTransactionReceipt(config, { chainId, hash })
    expect(receipt).toMatchObject({ status: 'success', blockNumber: forked + 1n, chainId })
    expect((await getBalance(config, { address: to, chainId })).value).toBe(value)
    await expect.poll(() => seen.at(-1)).toBe(forked + 1n)
    unwatch()
    const message = 'hello'
    const signature = await signMessage(config, { message })
    expect(await verifyMessage(config, { address: accounts[0], chainId, message, signature })).toBe(
      true,
    )
    await disconnect(config, { connector })
  })
}
