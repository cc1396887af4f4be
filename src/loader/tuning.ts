// How V8 is set for a process that lives for a test run: thousands of calls, not billions.

/**
 * Has V8 optimize functions sooner. Node 20 to 23 have no compiler between the first and the optimizing one, which waits for
 * 3,000 calls of a function (node 22) or as much of its code. Later versions have one, and gain nothing. V8 has other names
 * for it since version 12. Where memory after many sends is over its bound (150 MB), the space for new objects stays as
 * small as it is after the start. Set once that is over: node's own modules have bytecode for the usual flags alone.
 */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  11: [
    '--interrupt-budget=4000',
    '--max-inlined-bytecode-size-cumulative=100',
    '--semi-space-growth-factor=1',
  ],
  12: ['--invocation-count-for-turbofan=400'],
  13: ['--semi-space-growth-factor=1'],
}

/** Sets the flags for the version of V8 that runs. */
export function tuneV8(): void {
  const flags = FLAGS[process.versions.v8.split('.', 1)[0] ?? '']
  if (flags === undefined) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of flags) setFlagsFromString(flag)
}
