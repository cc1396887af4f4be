// As Hardhat 3's users have it; only the compiler comes from the packages instead of the network.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'hardhat/config'

const compiler = {
  version: '0.8.37',
  path: fileURLToPath(import.meta.resolve('solc/soljson.js')),
}

const settings = { evmVersion: 'prague', optimizer: { enabled: true, runs: 1_000 } }

export default defineConfig({
  solidity: {
    compilers: [{ ...compiler, settings }],
    overrides: {
      'contracts/Curve.sol': { ...compiler, settings: { ...settings, viaIR: true } },
    },
    npmFilesToBuild: [
      '@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol',
      '@openzeppelin/contracts/proxy/beacon/BeaconProxy.sol',
      '@openzeppelin/contracts/proxy/beacon/UpgradeableBeacon.sol',
    ],
  },
})
