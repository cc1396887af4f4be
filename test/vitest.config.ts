// How the suite runs: every *.test.ts under test/; the e2e project compiles its contracts first.
import { availableParallelism } from 'node:os'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

const config: ViteUserConfig = defineConfig({
  test: {
    // beside another load everything takes many times as long: these end what hangs, and measure nothing
    testTimeout: 120_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    unstubEnvs: true,
    expect: { poll: { timeout: 30_000, interval: 10 } },
    // one fewer than there are processors, as is usual, would leave a machine of two half idle
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**'],
          // files share the modules that their worker loaded: loading them anew took as long as the tests of most files
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/setup.ts'],
          isolate: false,
        },
      },
    ],
  },
})

export default config
