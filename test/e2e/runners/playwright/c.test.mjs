import { expect, test } from '@playwright/test'
import { check } from '../check.cjs'

test('has a chain of its own', async () => {
  expect(process.env.DEVCHAIN_URL).toMatch(/\/[12]$/)
  await check(process.env.DEVCHAIN_URL)
})
