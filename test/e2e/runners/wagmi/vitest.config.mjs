import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['wagmi/*.test.mjs'], setupFiles: ['wagmi/setup.mjs'], maxWorkers: 2 },
})
