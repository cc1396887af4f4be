// Beside another test file, in parallel mode: a worker has a chain of its own.
import { expect } from 'chai'
import { network } from 'hardhat'

const { networkConfig } = await network.getOrCreate()

it('has the URL of its chain', async function () {
  if (process.env.MOCHA_WORKER_ID === undefined || networkConfig.type !== 'http') this.skip()
  expect(await networkConfig.url.getUrl()).to.match(/\/[12]$/)
})
