// As Hardhat 2's users have it; only the compiler comes from the packages instead of the network.
const path = require('node:path')
const { subtask } = require('hardhat/config')
const { TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD } = require('hardhat/builtin-tasks/task-names')

const solc = require('solc/package.json')

subtask(TASK_COMPILE_SOLIDITY_GET_SOLC_BUILD, async () => ({
  compilerPath: path.join(path.dirname(require.resolve('solc/package.json')), 'soljson.js'),
  isSolcJs: true,
  version: solc.version,
  longVersion: solc.version,
}))

const settings = {
  evmVersion: 'prague',
  outputSelection: { '*': { '*': ['storageLayout'] } },
}

module.exports = {
  solidity: {
    compilers: [{ version: solc.version, settings }],
    overrides: {
      'contracts/Curve.sol': {
        version: solc.version,
        settings: { ...settings, viaIR: true, optimizer: { enabled: true } },
      },
    },
  },
}
