// How the micro-benchmarks measure: processor time of many runs, the fastest round of several.

/** One line of the benchmark. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: 'µs' | 'ms' | 'bytes' | '/s' | '%' | '%'
}

/** Rounds of which the fastest counts: what else the machine does only adds to the others. */
const ROUNDS = 7

/** Runs of one round. */
const REPEATS = 200

/** Microseconds of one `run`. */
export async function eachOf(run: (index: number) => unknown): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const time = await timed(async () => {
      for (let index = 0; index < REPEATS; index++) await run(round * REPEATS + index)
    })
    times.push((1000 * time) / REPEATS)
  }
  return Math.min(...times)
}

/** Milliseconds of a processor: others that use it meanwhile do not count. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
