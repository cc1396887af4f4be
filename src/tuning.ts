// How V8 is set for a process that lives for a test run: thousands of calls, not billions.

/**
 * Has V8 of Node 20 optimize what ran for so many bytes of its code, here a seventeenth of the usual, and take less into
 * what it optimizes. The first thousands of calls are half as fast again (eth_call 19,800 to 40,000 a second over the
 * first 4,000, estimates 15,500 to 20,000, sends by a third, evm_mine 6,400 to 9,300 over the first 1,200), as the threads
 * that optimize leave the processors to others sooner; warm calls take a twentieth longer. Later ones have a compiler
 * between, and gain nothing. Set before the start, the same costs it 8 ms: node's own modules have bytecode for the usual
 * flags alone.
 */
export function tuneV8(): void {
  if (!process.versions.v8.startsWith('11.')) return
  const { setFlagsFromString } = process.getBuiltinModule('node:v8')
  setFlagsFromString('--interrupt-budget=4000')
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=100')
}
