test('has a chain of its own', async () => {
  const { check } = await import('../check.mjs').catch(() => require('../check.cjs'))
  expect(process.env.DEVCHAIN_URL).toMatch(/\/[1-3]$/)
  await check(process.env.DEVCHAIN_URL)
})
