// A project as Hardhat 2's users have it; only the compiler comes from the packages instead of the network.
const path = require('node:path')
const { subtask } = require('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names')
require('@nomicfoundation/hardhat-ethers')
require('@nomicfoundation/hardhat-chai-matchers')

const solc = require('solc/package.json')

subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({
  compilerPath: path.join(path.dirname(require.resolve('solc/package.json')), 'soljson.js'),
  isSolcJs: true,
  version: solc.version,
  longVersion: solc.version,
}))

module.exports = {
  solidity: { version: solc.version, settings: { evmVersion: 'prague' } },
  networks: { localhost: { url: process.env.DEVCHAIN_URL ?? 'http://127.0.0.1:8545' } },
}
