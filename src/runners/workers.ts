// Which chain a test worker has: the one with the worker's number.

/** Variables by which test runners number their workers, and what to add so that the first number is 1. */
const NUMBERED: readonly (readonly [variable: string, add: number])[] = [
  ['VITEST_POOL_ID', 0],
  ['JEST_WORKER_ID', 0],
  ['MOCHA_WORKER_ID', 1],
  ['TEST_PARALLEL_INDEX', 1],
]

type Variables = Readonly<Record<string, string | undefined>>

/**
 * The number of this worker; undefined outside workers. `node --test` runs each file in a process of its own and does not
 * number them, so the process id does.
 */
export function workerNumber(environment: Variables, pid: number): number | undefined {
  for (const [variable, add] of NUMBERED) {
    const number = Number(environment[variable] || undefined)
    if (Number.isInteger(number)) return number + add
  }
  return environment.NODE_TEST_CONTEXT?.startsWith('child') ? pid : undefined
}

/** `NODE_OPTIONS` that load a file (runners/preload.ts) in every node process that starts with them. */
export function nodeOptionsWith(preload: string, given: string | undefined): string {
  // node reads backslashes within quotes as escapes
  return `${given ?? ''} --require "${preload.replaceAll('\\', '\\\\')}"`.trim()
}

/** The URL of the worker's chain, by that of the default chain. */
export function workerUrl(url: string, number: number | undefined): string {
  const base = url.replace(/\/$/, '')
  return number === undefined ? base : `${base}/${number}`
}

/**
 * In a test worker of a run with chains, `DEVCHAIN_URL` and `ETH_RPC_URL` become the URL of the worker's own chain.
 * @returns gives the variables back what they were
 */
export function followWorker(): () => void {
  const { env } = process
  const base = env.DEVCHAIN_CHAINS
  const before = Object.entries({ DEVCHAIN_URL: env.DEVCHAIN_URL, ETH_RPC_URL: env.ETH_RPC_URL })
  // whoever set another URL means it
  const own = base ? before.filter(([, url]) => (url ?? base) === base) : []
  if (own.length === 0) return () => undefined
  const nameChain = (): void => {
    const url = workerUrl(base ?? '', workerNumber(env, process.pid))
    for (const [name] of own) env[name] = url
  }
  nameChain()
  // Vitest, Jest and Playwright number a worker after its start
  process.env = new Proxy(env, {
    set: (target, name: string, value: string) => {
      target[name] = value
      if (NUMBERED.some(([variable]) => variable === name)) nameChain()
      return true
    },
  })
  return () => {
    process.env = env
    for (const [name, url] of own) {
      if (url === undefined) delete env[name]
      else env[name] = url
    }
  }
}
