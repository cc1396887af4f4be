import { chain } from 'devchain/vitest'
import { expect, test } from 'vitest'
import { check } from '../check.mjs'

test('has a chain of its own', async () => {
  expect(chain.url).toMatch(/\/[1-3]$/)
  expect(process.env.DEVCHAIN_CHAINS).toBeDefined()
  await check(chain.url)
  const revert = await chain.snapshot()
  await chain.request({ method: 'evm_mine' })
  await revert()
  await chain.reset()
  expect(await chain.request({ method: 'eth_blockNumber' })).toBe('0x1')
  expect(await chain.accounts()).toHaveLength(10)
})
