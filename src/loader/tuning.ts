// How V8 is set for a process that lives for a test run: thousands of calls, not billions.

/**
 * Has V8 optimize functions sooner: after some hundred calls, where it waits for 3,000. As all functions of a request
 * are due at the same call then, and eight of them can wait for the compiler, most are refused at first: V8 asks again
 * after `invocation-count-for-osr` calls, hundreds by default. Less is inlined, so that each is compiled sooner.
 */
const SOONER: readonly string[] = [
  '--invocation-count-for-osr=50',
  '--minimum-invocations-after-ic-update=100',
  '--max-inlined-bytecode-size-cumulative=200',
]

/**
 * What differs by the version of V8: from 12 on it counts calls, from 13 on there is a compiler between the first and the
 * optimizing one, whose code takes memory and is soon replaced. Where memory after many sends is over its bound (150 MB),
 * the space for new objects stays as small as it is after the start.
 */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  11: [...SOONER, '--interrupt-budget=4000'],
  12: [...SOONER, '--invocation-count-for-turbofan=200'],
  13: [
    ...SOONER,
    '--no-maglev',
    '--invocation-count-for-turbofan=300',
    '--semi-space-growth-factor=1',
  ],
}

/** To be called once the start is over: node's own modules have bytecode for the usual flags alone. */
export function tuneV8(): void {
  const flags = FLAGS[process.versions.v8.split('.', 1)[0] ?? '']
  if (flags === undefined) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of flags) setFlagsFromString(flag)
}
