// The same project with its tests in parallel, each worker on a chain of its own.
import { chain } from 'devchain/worker'
import { defineConfig } from 'hardhat/config'
import config from './hardhat.config.ts'

export default defineConfig({
  ...config,
  test: { mocha: { parallel: true, jobs: 2 } },
  networks: { localhost: { type: 'http', url: chain.url } },
})
