// Which chain a test worker has: the one with the worker's number.

/** Variables by which test runners number their workers, and what to add so that the first number is 1. */
const NUMBERED: readonly (readonly [variable: string, add: number])[] = [
  ['VITEST_POOL_ID', 0],
  ['JEST_WORKER_ID', 0],
  ['MOCHA_WORKER_ID', 1],
  ['TEST_PARALLEL_INDEX', 1],
]

export function isWorkerVariable(name: string): boolean {
  return NUMBERED.some(([variable]) => variable === name)
}

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
