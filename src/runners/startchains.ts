// Starts the chains of a test run, unless they run already.
import { fileURLToPath } from 'node:url'
import type { Devchain, DevchainOptions } from '../devchain.ts'
import { nodeOptionsWith } from './workers.ts'

const PRELOAD = fileURLToPath(new URL('./preload.cjs', import.meta.url))

/** Gets the default chain, and its URL. */
export type Prepare = (chain: {
  readonly url: string
  readonly request: Devchain['request']
}) => Promise<unknown>

/** @returns stops them */
export async function startChains(
  options: DevchainOptions,
  prepare: Prepare | undefined,
): Promise<() => Promise<void>> {
  const running = process.env.DEVCHAIN_URL
  if (running) {
    // it may be prepared already, by a pack or by --setup: another deployment would have other addresses
    if (prepare !== undefined) {
      const message = `the tests use the chain at ${running} (DEVCHAIN_URL): prepare it with devchain exec --setup or --from, as the set-up of the test runner does not run`
      process.stderr.write(`devchain: ${message}\n`)
    }
    return async () => undefined
  }
  const { createDevchain } = await import('../devchain.ts')
  const devchain = await createDevchain({ port: 0, ...options }, { folder: process.cwd() })
  const { url } = await devchain.listen()
  const { env } = process
  const { NODE_OPTIONS } = env
  env.DEVCHAIN_CHAINS = url
  // workers that are processes have the URL of their chain in DEVCHAIN_URL
  env.NODE_OPTIONS = nodeOptionsWith(PRELOAD, NODE_OPTIONS)
  const stop = async (): Promise<void> => {
    delete env.DEVCHAIN_CHAINS
    if (NODE_OPTIONS === undefined) delete env.NODE_OPTIONS
    else env.NODE_OPTIONS = NODE_OPTIONS
    await devchain.close()
  }
  try {
    if (prepare !== undefined) {
      await devchain.setUp(() => prepare({ url, request: devchain.request }))
    }
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}
