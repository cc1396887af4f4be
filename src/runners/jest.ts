// `devchain/jest`: `globalSetup` and `globalTeardown` of Jest. In tests, DEVCHAIN_URL is the URL of the worker's chain.
// The build makes modules of them whose default exports Jest calls.
import type { DevchainOptions } from '../devchain.ts'
import { type Prepare, startChains } from './startchains.ts'
import { followWorker } from './workers.ts'

const running: (() => void | Promise<void>)[] = []

/** A global set-up with options; see `setupWith` of devchain/vitest. */
export function setupWith(options: DevchainOptions, prepare?: Prepare): () => Promise<void> {
  return async () => {
    const stop = await startChains(options, prepare)
    // with --runInBand this process is the worker
    running.push(followWorker(), stop)
  }
}

/** The global set-up without options. */
export const setup: () => Promise<void> = setupWith({})

/** The global tear-down. */
export async function teardown(): Promise<void> {
  for (const stop of running.splice(0)) await stop()
}
