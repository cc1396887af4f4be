// The interpreter in WebAssembly as a machine. It lends its instances to jobs, gives them gas to go on with, and lets others
// have their turn.
import { DevchainError } from '../../core/errors.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import { type Machine, type MachineJob, type MachineResult, Unrepeatable } from '../machine.ts'
import { Unready } from '../precompiles/precompile.ts'
import { tellEvents } from './events.ts'
import { Interpreter } from './interpreter.ts'
import {
  END_OUT_OF_GAS,
  END_PRECOMPILE,
  END_RETURN,
  EXIT_DONE,
  EXIT_FRAME,
  EXIT_HOT,
  EXIT_PRECOMPILE,
  EXIT_YIELD,
  GAS_UNTIL_YIELD,
  HEAP_TOP,
  PRECOMPILE_ACCOUNT,
  PRECOMPILE_GAS,
  PRECOMPILE_INPUT,
  PRECOMPILE_LENGTH,
  ROOM_END,
} from './layout.ts'
import { PrecompileTables } from './precompiles.ts'
import { reachedBy } from './reached.ts'
import { resultOf, touchedBy } from './results.ts'

export interface HotCode {
  /** Counts of a loop's head that make it hot. */
  readonly threshold: number
  readonly onJob: (interpreter: Interpreter, hardfork: Hardfork) => void
  /** A cell became hot. @returns the exit to go on with */
  readonly onHot: (interpreter: Interpreter) => number
  /** A code's place in memory is given up, with its cells. */
  readonly onClear: (interpreter: Interpreter, code: number) => void
}

/** Gas between two looks at the clock: little time, also for the code that is slowest for its gas. */
const QUANTUM = 300_000n

/** The same where each operation is told of, and where memory is told with it. */
const TOLD_QUANTUM = 15_000n
const TOLD_MEMORY_QUANTUM = 5_000n

const ENDLESS = 2n ** 61n

const TURN_MS = 5

/** Instances kept: as many as ran at the same time, at most. */
const IDLE_LIMIT = 3

/** An instance whose last job took more of the heap than this, in bytes, is not kept: memory never shrinks. */
const KEPT_HEAP = 32 * 1024 * 1024

/** Nor one that a block needed to have so much room for the memory of frames, which may all have been written to. */
const KEPT_ROOM = 2 ** 29

export function createFastMachine(hotCode?: HotCode): Machine {
  const machine = new FastMachine(hotCode)
  return { run: (job) => machine.run(job) }
}

class FastMachine {
  readonly #hotCode: HotCode | undefined
  readonly #precompiles = new PrecompileTables()
  readonly #idle: Interpreter[] = []

  constructor(hotCode: HotCode | undefined) {
    this.#hotCode = hotCode
  }

  run(job: MachineJob): MachineResult | Promise<MachineResult> {
    const interpreter = this.#take(job.memoryLimit)
    try {
      this.#hotCode?.onJob(interpreter, job.block.hardfork)
      const budget = job.pause === undefined ? ENDLESS : quantumOf(job)
      const exit = interpreter.open(job, this.#hotCode?.threshold ?? 0, budget)
      const result = this.#goOn(interpreter, job, exit)
      if ('next' in result) return this.#goOnLater(interpreter, job, result)
      this.#giveBack(interpreter, job)
      return result
    } catch (error) {
      throw this.#giveUp(interpreter, job, error)
    }
  }

  /** Goes on from an exit until the end, or until others should have their turn. */
  #goOn(interpreter: Interpreter, job: MachineJob, first: number): MachineResult | Waiting {
    const { instance } = interpreter
    const began = performance.now()
    let exit = first
    while (exit !== EXIT_DONE) {
      if (exit === EXIT_FRAME) exit = instance.exports.run()
      else if (exit === EXIT_PRECOMPILE) {
        const after = precompiled(interpreter, job)
        if (typeof after !== 'number') return after
        exit = after
      } else if (exit === EXIT_HOT) exit = this.#hotCode?.onHot(interpreter) ?? EXIT_FRAME
      else if (exit === EXIT_YIELD) {
        // a precompile may use more than there is
        interpreter.gasUsed += quantumOf(job) - BigInt.asIntN(64, instance.long(GAS_UNTIL_YIELD))
        instance.setLong(GAS_UNTIL_YIELD, quantumOf(job))
        interpreter.tellEvents()
        if (performance.now() - began > TURN_MS) return { next: EXIT_FRAME }
        exit = instance.exports.run()
      } else throw new Error(`the instance left with ${exit}`)
      instance.refresh()
    }
    interpreter.tellEvents()
    job.tracer?.onTouched?.(touchedBy(interpreter))
    job.tracer?.onReached?.([...interpreter.reached, ...reachedBy(interpreter)])
    return resultOf(interpreter, job)
  }

  async #goOnLater(
    interpreter: Interpreter,
    job: MachineJob,
    first: Waiting,
  ): Promise<MachineResult> {
    let result: MachineResult | Waiting = first
    try {
      while ('next' in result) {
        await (result.ready ?? job.pause?.(interpreter.gasUsed))
        result = this.#goOn(interpreter, job, result.next)
      }
      this.#giveBack(interpreter, job)
      return result
    } catch (error) {
      throw this.#giveUp(interpreter, job, error)
    }
  }

  #take(memoryLimit: number): Interpreter {
    const index = this.#idle.findLastIndex(
      (interpreter) => interpreter.instance.memoryLimit >= memoryLimit,
    )
    const [interpreter] = index === -1 ? [] : this.#idle.splice(index, 1)
    if (interpreter !== undefined) return interpreter
    const onClear = (code: number): void => this.#hotCode?.onClear(made, code)
    const made: Interpreter = new Interpreter(
      memoryLimit,
      this.#precompiles,
      ({ code }) => onClear(code),
      tellEvents,
    )
    return made
  }

  #giveBack(interpreter: Interpreter, { limits }: MachineJob): void {
    const { instance } = interpreter
    interpreter.close()
    const heap = instance.number(HEAP_TOP) - instance.number(ROOM_END)
    const isLarge = limits?.memory === 'gas' && instance.memoryLimit > KEPT_ROOM
    if (heap < KEPT_HEAP && !isLarge && this.#idle.length < IDLE_LIMIT) this.#idle.push(interpreter)
  }

  /**
   * After an error from outside the instance is as good as before; after its own bugs it is not kept.
   * @returns what is to be thrown
   */
  #giveUp(interpreter: Interpreter, job: MachineJob, error: unknown): unknown {
    const isOwn = !OUTER.some((kind) => error instanceof kind)
    if (!isOwn) this.#giveBack(interpreter, job)
    return isOwn && interpreter.hasTold ? new Unrepeatable(error) : error
  }
}

function quantumOf({ tracer }: MachineJob): bigint {
  if (tracer?.onStep === undefined) return QUANTUM
  return tracer.stepParts?.memory === true ? TOLD_MEMORY_QUANTUM : TOLD_QUANTUM
}

/** What comes out of a run that is no bug of the instance. */
const OUTER = [DevchainError, Unready, Unrepeatable]

interface Waiting {
  /** The exit to go on from. */
  readonly next: number
  /** For this; undefined: for others to have their turn. */
  readonly ready?: Promise<unknown>
}

/** Runs a precompile. One whose library is loading is waited for where the run may not begin anew. @returns the next exit */
function precompiled(interpreter: Interpreter, { tracer }: MachineJob): number | Waiting {
  try {
    return runPrecompile(interpreter)
  } catch (error) {
    if (!(error instanceof Unready) || tracer === undefined) throw error
    return { next: EXIT_PRECOMPILE, ready: error.ready }
  }
}

function runPrecompile(interpreter: Interpreter): number {
  const { instance } = interpreter
  const place = instance.number(PRECOMPILE_INPUT)
  // a view, which may be read only until the instance goes on
  const input = instance.bytes.subarray(place, place + instance.number(PRECOMPILE_LENGTH))
  const gas = instance.long(PRECOMPILE_GAS)
  const code = interpreter.precompileAt(instance.number(PRECOMPILE_ACCOUNT))
  const cost = code.gas(input)
  if (cost > gas) return instance.exports.endPrecompile(END_OUT_OF_GAS, 0n, 0)
  instance.setLong(GAS_UNTIL_YIELD, instance.long(GAS_UNTIL_YIELD) - cost)
  const output = code.run(input)
  if (output === undefined) return instance.exports.endPrecompile(END_PRECOMPILE, 0n, 0)
  const target = instance.exports.returnRoom(output.length)
  instance.refresh()
  instance.bytes.set(output, target)
  return instance.exports.endPrecompile(END_RETURN, gas - cost, output.length)
}
