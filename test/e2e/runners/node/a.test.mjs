import assert from 'node:assert'
import test from 'node:test'
import { chain } from 'devchain/worker'
import { check } from '../check.cjs'

test('has a chain of its own', async () => {
  assert.equal(chain.url, process.env.DEVCHAIN_URL)
  assert.match(chain.url, /\/\d+$/)
  await check(chain.url)
})
