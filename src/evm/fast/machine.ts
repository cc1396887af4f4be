// The interpreter in WebAssembly as a machine: lends its engines to jobs, refuels them, and lets others have their turn.
import { DevchainError } from '../../core/errors.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import type { Machine, MachineJob, MachineResult } from '../machine.ts'
import { Unready } from '../precompiles/precompile.ts'
import {
  END_OUT_OF_GAS,
  END_PRECOMPILE,
  END_RETURN,
  EXIT_DONE,
  EXIT_FRAME,
  EXIT_HOT,
  EXIT_PRECOMPILE,
  EXIT_YIELD,
  FUEL,
  HEAP_TOP,
  PRECOMPILE_ACCOUNT,
  PRECOMPILE_GAS,
  PRECOMPILE_INPUT,
  PRECOMPILE_LENGTH,
  ROOM_END,
} from './layout.ts'
import { PrecompileTables } from './precompiles.ts'
import { resultOf } from './results.ts'
import { Session } from './run.ts'

/** What compiles hot code, if anything does. */
export interface HotCode {
  /** Counts of a loop's head that make it hot. */
  readonly threshold: number
  /** A job of a fork begins. */
  readonly onJob: (session: Session, hardfork: Hardfork) => void
  /** A cell became hot. @returns the exit to go on with */
  readonly onHot: (session: Session) => number
  /** A code's place in memory is given up, with its cells. */
  readonly onClear: (session: Session, code: number) => void
}

/** Gas between two looks at the clock: hardly a millisecond, also of the slowest code for its gas. */
const QUANTUM = 300_000n

/** Gas that nobody uses up. */
const ENDLESS = 2n ** 61n

/** A run goes on for about this long before the others have their turn. */
const TURN_MS = 5

/** Engines kept: as many as ran at the same time, at most. */
const IDLE_LIMIT = 3

/** An engine whose last job took more of the heap than this, in bytes, is not kept: memory never shrinks. */
const KEPT_HEAP = 32 * 1024 * 1024

/** Nor one that a block needed to have so much room for the memory of frames, which may all have been written to. */
const KEPT_ROOM = 2 ** 29

/** A machine of interpreters. */
export function createFastMachine(hotCode?: HotCode): Machine {
  const machine = new FastMachine(hotCode)
  return { run: (job) => machine.run(job) }
}

class FastMachine {
  readonly #hotCode: HotCode | undefined
  readonly #precompiles = new PrecompileTables()
  readonly #idle: Session[] = []

  constructor(hotCode: HotCode | undefined) {
    this.#hotCode = hotCode
  }

  run(job: MachineJob): MachineResult | Promise<MachineResult> {
    const session = this.#take(job.memoryLimit)
    try {
      this.#hotCode?.onJob(session, job.block.hardfork)
      const fuel = job.pause === undefined ? ENDLESS : QUANTUM
      const exit = session.open(job, this.#hotCode?.threshold ?? 0, fuel)
      const result = this.#goOn(session, job, exit)
      if (result === undefined) return this.#goOnLater(session, job)
      this.#giveBack(session, job)
      return result
    } catch (error) {
      this.#giveUp(session, job, error)
      throw error
    }
  }

  /** Goes on from an exit. @returns undefined when others should have their turn first */
  #goOn(session: Session, job: MachineJob, first: number): MachineResult | undefined {
    const { core } = session
    const began = performance.now()
    let exit = first
    while (exit !== EXIT_DONE) {
      if (exit === EXIT_FRAME) exit = core.exports.run()
      else if (exit === EXIT_PRECOMPILE) exit = runPrecompile(session)
      else if (exit === EXIT_HOT) exit = this.#hotCode?.onHot(session) ?? EXIT_FRAME
      else if (exit === EXIT_YIELD) {
        // a precompile may have used more than there was
        session.gasUsed += QUANTUM - BigInt.asIntN(64, core.long(FUEL))
        core.setLong(FUEL, QUANTUM)
        if (performance.now() - began > TURN_MS) return undefined
        exit = core.exports.run()
      } else throw new Error(`the engine left with ${exit}`)
      core.refresh()
    }
    return resultOf(session, job)
  }

  async #goOnLater(session: Session, job: MachineJob): Promise<MachineResult> {
    try {
      for (;;) {
        await job.pause?.(session.gasUsed)
        const result = this.#goOn(session, job, EXIT_FRAME)
        if (result === undefined) continue
        this.#giveBack(session, job)
        return result
      }
    } catch (error) {
      this.#giveUp(session, job, error)
      throw error
    }
  }

  #take(memoryLimit: number): Session {
    const index = this.#idle.findLastIndex((session) => session.core.memoryLimit >= memoryLimit)
    const [session] = index === -1 ? [] : this.#idle.splice(index, 1)
    if (session !== undefined) return session
    const onClear = (code: number): void => this.#hotCode?.onClear(made, code)
    const made: Session = new Session(memoryLimit, this.#precompiles, ({ code }) => onClear(code))
    return made
  }

  #giveBack(session: Session, { limits }: MachineJob): void {
    const { core } = session
    session.close()
    const heap = core.number(HEAP_TOP) - core.number(ROOM_END)
    const isLarge = limits?.memory === 'gas' && core.memoryLimit > KEPT_ROOM
    if (heap < KEPT_HEAP && !isLarge && this.#idle.length < IDLE_LIMIT) this.#idle.push(session)
  }

  /** After an error from outside the engine is as good as before; after its own bugs it is not kept. */
  #giveUp(session: Session, job: MachineJob, error: unknown): void {
    if (error instanceof DevchainError || error instanceof Unready) this.#giveBack(session, job)
  }
}

/** Runs the precompile that the engine has come to. @returns the next exit */
function runPrecompile(session: Session): number {
  const { core } = session
  const place = core.number(PRECOMPILE_INPUT)
  // a view, which may be read only until the engine goes on
  const input = core.bytes.subarray(place, place + core.number(PRECOMPILE_LENGTH))
  const gas = core.long(PRECOMPILE_GAS)
  const code = session.precompileAt(core.number(PRECOMPILE_ACCOUNT))
  const cost = code.gas(input)
  if (cost > gas) return core.exports.endPrecompile(END_OUT_OF_GAS, 0n, 0)
  core.setLong(FUEL, core.long(FUEL) - cost)
  const output = code.run(input)
  if (output === undefined) return core.exports.endPrecompile(END_PRECOMPILE, 0n, 0)
  const target = core.exports.returnRoom(output.length)
  core.refresh()
  core.bytes.set(output, target)
  return core.exports.endPrecompile(END_RETURN, gas - cost, output.length)
}
