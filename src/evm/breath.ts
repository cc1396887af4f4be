// Lets timers and sockets have their turn during a long run: the engine's steps are all microtasks, and a loop with much
// gas would keep everything else waiting until its end.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EVM } from '@ethereumjs/evm'

/** A run goes on for about this long before the others have their turn. */
const TURN_MS = 10

/** Jumps and calls between two looks at the clock; a thousand take the engine well below a millisecond. */
const LOOK_EVERY = 1_000

const JUMP = 0x56
const JUMPI = 0x57

/**
 * Makes an engine's runs pause now and then. A run without end jumps or calls: these are where it may pause. What it
 * comes to does not depend on the pauses, as an engine has one run at a time, over an overlay of its own.
 */
export function breatheBetweenJumps(evm: EVM): void {
  let count = 0
  let turnBegan = performance.now()
  const isDue = (): boolean => {
    count += 1
    return count % LOOK_EVERY === 0 && performance.now() - turnBegan > TURN_MS
  }
  const pause = async (): Promise<void> => {
    await nextTurn()
    turnBegan = performance.now()
  }
  // biome-ignore lint/complexity/useLiteralKeys: it is protected, and the library has no other door for this
  const operations = evm['_opcodeMap']
  for (const opcode of [JUMP, JUMPI]) {
    const entry = operations[opcode]
    if (entry === undefined) throw new Error(`the engine knows no operation ${opcode}`)
    const { opHandler } = entry
    operations[opcode] = {
      ...entry,
      opcodeInfo: { ...entry.opcodeInfo, isAsync: true },
      opHandler: async (runState, common) => {
        if (isDue()) await pause()
        return opHandler(runState, common)
      },
    }
  }
  evm.events.on('beforeMessage', (_message, resolve) => {
    if (isDue()) void pause().then(resolve)
    else resolve?.()
  })
}
