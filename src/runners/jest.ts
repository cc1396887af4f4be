// `devchain/jest`: `globalSetup` and `globalTeardown` of Jest. In tests, DEVCHAIN_URL is the URL of the worker's chain.
import type { DevchainOptions } from '../devchain.ts'
import { type Prepare, startChains } from './startchains.ts'

let stop: (() => Promise<void>) | undefined

/** A global set-up with options; see `setup` of devchain/vitest. */
export function setup(options: DevchainOptions = {}, prepare?: Prepare): () => Promise<void> {
  return async () => {
    stop = await startChains(options, prepare)
    // with --runInBand this process is the worker
    await import('./preload.ts')
  }
}

export async function teardown(): Promise<void> {
  await stop?.()
}

const setupWithDefaults: () => Promise<void> = setup()

export default setupWithDefaults
