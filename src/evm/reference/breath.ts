// Lets timers and sockets have their turn during a long run of the library's EVM: its steps are all microtasks, and a
// loop with much gas would keep everything else waiting until its end.
import type { EVM } from '@ethereumjs/evm'
import type { MachineJob } from '../machine.ts'
import { OP } from '../opcodes.ts'

/** A run goes on for about this long before the others have their turn. */
const TURN_MS = 10

/** Jumps and calls between two looks at the clock. */
const LOOK_EVERY = 1_000

/** No run is endless without one of them. */
const PLACES = [
  ...[OP.JUMP, OP.JUMPI, OP.CREATE, OP.CREATE2],
  ...[OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL],
]

/** The pauses of one VM, which has one run at a time. */
interface Breath {
  /** What the runs from now on await now and then; undefined: no pauses. */
  pause: MachineJob['pause']
}

/**
 * Makes a VM's runs pause now and then, at jumps and calls. What a run comes to does not depend on its pauses, as a
 * VM has one run at a time, over an overlay of its own.
 */
export function breatheAtJumps(evm: EVM): Breath {
  const breath = new JumpBreath()
  // biome-ignore lint/complexity/useLiteralKeys: it is protected, and the library has no other door for this
  const operations = evm['_opcodeMap']
  for (const opcode of PLACES) {
    const entry = operations[opcode]
    if (entry === undefined) continue
    const { opHandler } = entry
    operations[opcode] = {
      ...entry,
      opcodeInfo: { ...entry.opcodeInfo, isAsync: true },
      opHandler: async (runState, common) => {
        if (breath.isDue()) await breath.draw()
        return opHandler(runState, common)
      },
    }
  }
  return breath
}

class JumpBreath implements Breath {
  #pause: MachineJob['pause']
  #count = 0
  #turnBegan = 0

  set pause(pause: MachineJob['pause']) {
    this.#pause = pause
    this.#turnBegan = performance.now()
  }

  isDue(): boolean {
    this.#count += 1
    if (this.#count % LOOK_EVERY !== 0 || this.#pause === undefined) return false
    return performance.now() - this.#turnBegan > TURN_MS
  }

  async draw(): Promise<void> {
    await this.#pause?.()
    this.#turnBegan = performance.now()
  }
}
