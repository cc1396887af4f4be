// Loaded by node in every process of a test run with chains (`devchain exec --chains`, devchain/jest): in a test worker, DEVCHAIN_URL and ETH_RPC_URL are the URL
// of the worker's own chain.
import { isWorkerVariable, workerNumber, workerUrl } from './workers.ts'

const { env } = process
const base = env.DEVCHAIN_CHAINS
// whoever set another URL means it
const names = ['DEVCHAIN_URL', 'ETH_RPC_URL'].filter((name) => base && (env[name] ?? base) === base)

function nameChain(): void {
  const url = workerUrl(base ?? '', workerNumber(env, process.pid))
  for (const name of names) env[name] = url
}

if (names.length > 0) {
  nameChain()
  // Vitest and Playwright number a worker after its start
  process.env = new Proxy(env, {
    set: (target, name: string, value: string) => {
      target[name] = value
      if (isWorkerVariable(name)) nameChain()
      return true
    },
  })
}
