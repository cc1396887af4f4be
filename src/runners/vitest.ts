// `devchain/vitest`: as `globalSetup` it starts the chains; in tests it gives each worker its own.
import type { DevchainOptions } from '../devchain.ts'
import { type Prepare, startChains } from './startchains.ts'

export { chain, type WorkerChain } from './worker.ts'

/** A global set-up of Vitest, which returns its tear-down. */
type GlobalSetup = () => Promise<() => Promise<void>>

/**
 * A global set-up with options. It starts a devchain on a free port, unless DEVCHAIN_URL names one that runs: its own options
 * and set-up apply.
 * @param prepare runs once, for example to deploy contracts; every worker's chain begins with what it left
 */
export function setupWith(options: DevchainOptions, prepare?: Prepare): GlobalSetup {
  return () => startChains(options, prepare)
}

/** The global set-up without options. */
export const setup: GlobalSetup = setupWith({})
