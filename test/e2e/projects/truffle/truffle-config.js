// As Truffle's users have it; only the compiler comes from the packages instead of the network.
const path = require('node:path')

const solc = path.dirname(require.resolve('solc/package.json'))

module.exports = {
  compilers: {
    solc: {
      version: path.join(solc, 'soljson.js'),
      settings: { evmVersion: 'prague', optimizer: { enabled: true }, viaIR: true },
    },
  },
}
