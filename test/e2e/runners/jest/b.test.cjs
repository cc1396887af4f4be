const { check } = require('../check.cjs')

test('has a chain of its own', async () => {
  expect(process.env.DEVCHAIN_URL).toMatch(/\/[1-3]$/)
  await check(process.env.DEVCHAIN_URL)
})
