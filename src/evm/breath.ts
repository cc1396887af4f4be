// Lets timers and sockets have their turn during a long run of the library's engine: its steps are all microtasks, and a
// loop with much gas would keep everything else waiting until its end.
import type { EVM } from '@ethereumjs/evm'
import type { MachineJob } from './machine.ts'

/** A run goes on for about this long before the others have their turn. */
const TURN_MS = 10

/** Jumps and calls between two looks at the clock; a thousand take the engine well below a millisecond. */
const LOOK_EVERY = 1_000

const JUMP = 0x56
const JUMPI = 0x57

/** The pauses of one engine, which has one run at a time. */
export interface Breath {
  /** Begins a run, which awaits `pause` now and then. */
  readonly begin: (pause: MachineJob['pause']) => void
  /**
   * Ends the run.
   * @throws what a pause threw where no operation could
   */
  readonly end: () => void
}

/**
 * Makes an engine's runs pause now and then. A run without end jumps or calls: these are where it may pause. What it
 * comes to does not depend on the pauses, as an engine has one run at a time, over an overlay of its own.
 */
export function breatheBetweenJumps(evm: EVM): Breath {
  const breath = new JumpBreath()
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
        if (breath.isDue()) await breath.draw()
        return opHandler(runState, common)
      },
    }
  }
  evm.events.on('beforeMessage', (_message, resolve) => {
    if (breath.isDue()) void breath.drawLater().then(resolve)
    else resolve?.()
  })
  return breath
}

class JumpBreath implements Breath {
  #pause: MachineJob['pause']
  #count = 0
  #turnBegan = 0
  /** What a pause threw that nobody could await. */
  #problem: { readonly error: unknown } | undefined

  begin(pause: MachineJob['pause']): void {
    this.#pause = pause
    this.#turnBegan = performance.now()
    this.#problem = undefined
  }

  end(): void {
    this.#pause = undefined
    if (this.#problem !== undefined) throw this.#problem.error
  }

  isDue(): boolean {
    this.#count += 1
    if (this.#count % LOOK_EVERY !== 0 || this.#pause === undefined) return false
    return performance.now() - this.#turnBegan > TURN_MS
  }

  async draw(): Promise<void> {
    if (this.#problem !== undefined) throw this.#problem.error
    await this.#pause?.()
    this.#turnBegan = performance.now()
  }

  /** Keeps what the pause throws until an operation, or the end of the run, can throw it. */
  async drawLater(): Promise<void> {
    try {
      await this.draw()
    } catch (error) {
      this.#problem = { error }
      this.#turnBegan = 0
    }
  }
}
