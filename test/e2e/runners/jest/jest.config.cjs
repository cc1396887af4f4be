const { SETUP } = process.env

module.exports = {
  testMatch: ['**/jest/*.test.cjs'],
  rootDir: '..',
  maxWorkers: 2,
  ...(SETUP && { globalSetup: SETUP, globalTeardown: 'devchain/jest/teardown' }),
}
