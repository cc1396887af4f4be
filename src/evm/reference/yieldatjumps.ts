// Lets long runs of the library's EVM yield: its steps are microtasks and would block timers and sockets until the end.
import type { EVM } from '@ethereumjs/evm'
import { yielder } from '../../core/yield.ts'
import type { MachineJob } from '../machine.ts'
import { OP } from '../opcodes.ts'

const TURN_MS = 10

/** Jumps and calls between two checks of the clock. */
const LOOK_EVERY = 1_000

/** Every endless run contains one of these. */
const PLACES = [
  ...[OP.JUMP, OP.JUMPI, OP.CREATE, OP.CREATE2],
  ...[OP.CALL, OP.CALLCODE, OP.DELEGATECALL, OP.STATICCALL],
]

interface Yielding {
  /** Awaited by later runs now and then; undefined: they do not yield. */
  pause: MachineJob['pause']
}

/** Yields at jumps and calls. Safe, as a VM runs one job at a time over its own overlay. */
export function yieldAtJumps(evm: EVM): Yielding {
  const yielding: Yielding = { pause: undefined }
  const yieldIfDue = yielder(TURN_MS, async () => yielding.pause?.())
  let count = 0
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
        count += 1
        if (count % LOOK_EVERY === 0) await yieldIfDue()
        return opHandler(runState, common)
      },
    }
  }
  return yielding
}
