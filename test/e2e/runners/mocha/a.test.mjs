import assert from 'node:assert'
import { check } from '../check.cjs'

it('has a chain of its own', async () => {
  assert.match(process.env.DEVCHAIN_URL, /\/[12]$/)
  await check(process.env.DEVCHAIN_URL)
})
