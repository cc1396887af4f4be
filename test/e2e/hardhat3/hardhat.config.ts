// A project as Hardhat 3's users have it; only the compiler comes from the packages instead of the network.
import { fileURLToPath } from 'node:url'
import hardhatEthers from '@nomicfoundation/hardhat-ethers'
import hardhatChaiMatchers from '@nomicfoundation/hardhat-ethers-chai-matchers'
import hardhatMocha from '@nomicfoundation/hardhat-mocha'
import hardhatNetworkHelpers from '@nomicfoundation/hardhat-network-helpers'
import { defineConfig } from 'hardhat/config'

export default defineConfig({
  plugins: [hardhatEthers, hardhatChaiMatchers, hardhatMocha, hardhatNetworkHelpers],
  solidity: {
    version: '0.8.37',
    path: fileURLToPath(import.meta.resolve('solc/soljson.js')),
    settings: { evmVersion: 'prague' },
  },
  networks: {
    localhost: { type: 'http', url: process.env.DEVCHAIN_URL ?? 'http://127.0.0.1:8545' },
  },
})
