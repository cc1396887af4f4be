// V8 settings for a process that lives for a test run: thousands of calls, not billions.

/** Less inlining: compiling takes half the time, before a chain is there and later. */
const INLINING = '--max-inlined-bytecode-size-cumulative=200'

/**
 * Makes V8 optimize functions after some hundred calls instead of 3,000. The functions of a request become hot at the same
 * call, and only eight fit the compiler's queue, so V8 refuses most at first and retries after
 * `invocation-count-for-osr` calls, hundreds by default.
 */
const SOONER: readonly string[] = [
  '--invocation-count-for-osr=50',
  '--minimum-invocations-after-ic-update=100',
]

/**
 * By version of V8: from 12 it counts calls; from 13 it has a middle compiler, whose code takes memory and is soon
 * replaced. Where memory after many sends exceeds its bound (150 MB), the space for new objects stays as small as after
 * the start.
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

/**
 * Call it after the start: node's own modules have bytecode only for the usual flags. What is done once before the first
 * client connects, such as reading a large genesis, is not worth being optimized soon. The flags come before the parts
 * that a request loads: bytecode has the flags of when it is made.
 * @param beforeFlags keeps the bytecode that was made under the flags until then
 */
export function tuneV8(beforeFlags: () => void): void {
  beforeFlags()
  process.getBuiltinModule('node:v8').setFlagsFromString(INLINING)
  const tune = (): void => {
    unsubscribe(CONNECTION, tune)
    beforeFlags()
    tuneForRequests()
  }
  const { subscribe, unsubscribe } = process.getBuiltinModule('node:diagnostics_channel')
  subscribe(CONNECTION, tune)
  if (process.getActiveResourcesInfo().includes('TCPSocketWrap')) tune()
}

/** Node's channel for each connection that a server accepts. */
const CONNECTION = 'net.server.socket'

/** In a thread, which has no server. */
export function tuneThread(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(INLINING)
  tuneForRequests()
}

function tuneForRequests(): void {
  const flags = FLAGS[process.versions.v8.split('.', 1)[0] ?? '']
  if (flags === undefined) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  for (const flag of flags) setFlagsFromString(flag)
  boundGrowth()
}

/** Bytes of objects from which on V8 may not let the heap grow by more than a third before it collects. */
const LARGE_HEAP = 128 * 1024 * 1024

const LOOK_MS = 1_000

/** By default V8 lets it double and more: a long chain, of which old blocks become garbage, took twice the memory. */
function boundGrowth(): void {
  const { getHeapStatistics, setFlagsFromString } = process.getBuiltinModule('node:v8')
  const timer = setInterval(() => {
    if (getHeapStatistics().used_heap_size < LARGE_HEAP) return
    setFlagsFromString('--heap-growing-percent=33')
    clearInterval(timer)
  }, LOOK_MS)
  timer.unref()
}
