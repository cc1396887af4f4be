// Lets timers and sockets have their turn during a long run of the library's EVM: its steps are all microtasks, and a
// loop with much gas would keep everything else waiting until its end.
import type { EVM } from '@ethereumjs/evm'
import { type YieldIfDue, yielder } from '../../core/yield.ts'
import type { MachineJob } from '../machine.ts'
import { OP } from '../opcodes.ts'

const TURN_MS = 10

/** Jumps and calls between two looks at the clock. */
const LOOK_EVERY = 1_000

/** No run is endless without one of them. */
const PLACES = [
  ...[OP.JUMP, OP.JUMPI, OP.CREATE, OP.CREATE2],
  ...[OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL],
]

interface Yielding {
  /** What the runs from now on await now and then; undefined: they do not yield. */
  pause: MachineJob['pause']
}

/**
 * Makes a VM's runs yield now and then, at jumps and calls. What a run comes to does not depend on it, as a VM has one run
 * at a time, over an overlay of its own.
 */
export function yieldAtJumps(evm: EVM): Yielding {
  const yielding = new JumpYielding()
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
        const due = yielding.yieldIfDue()
        if (due !== undefined) await due
        return opHandler(runState, common)
      },
    }
  }
  return yielding
}

class JumpYielding implements Yielding {
  #yieldIfDue: YieldIfDue | undefined
  #count = 0

  set pause(pause: MachineJob['pause']) {
    this.#yieldIfDue = pause && yielder(TURN_MS, () => pause())
  }

  yieldIfDue(): Promise<void> | undefined {
    this.#count += 1
    return this.#count % LOOK_EVERY === 0 ? this.#yieldIfDue?.() : undefined
  }
}
