import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: process.env.SETUP ?? [],
    include: ['vitest/*.test.mjs'],
    maxWorkers: 2,
    pool: process.env.POOL ?? 'forks',
  },
})
