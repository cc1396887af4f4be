// Beside another test file, in parallel mode: a worker has a chain of its own.
const { expect } = require('chai')
const { network } = require('hardhat')

it('has the URL of its chain', async function () {
  if (process.env.MOCHA_WORKER_ID === undefined) this.skip()
  expect(network.config.url).to.match(/\/[12]$/)
})
