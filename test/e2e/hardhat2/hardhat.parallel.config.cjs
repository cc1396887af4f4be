// The same project with its tests in parallel, each worker on a chain of its own.
const { chain } = require('devchain/worker')
const config = require('./hardhat.config.cjs')

module.exports = { ...config, networks: { localhost: { url: chain.url } } }
