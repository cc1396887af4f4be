// What each test file checks: the worker's chain is its own, and returns to what the set-up left.
import { chain } from 'devchain/vitest'
import { expect } from 'vitest'
import { check } from '../check.cjs'

export async function ownChain() {
  expect(chain.url).toMatch(/\/[12]$/)
  expect(process.env.DEVCHAIN_CHAINS).toBeDefined()
  await check(chain.url)
  const revert = await chain.snapshot()
  await chain.request({ method: 'evm_mine' })
  await revert()
  await chain.reset()
  expect(await chain.request({ method: 'eth_blockNumber' })).toBe('0x1')
  expect(await chain.accounts()).toHaveLength(10)
}
