// The WebAssembly interpreter as a machine: lends instances to jobs, refills their gas budget, and yields.
import { DevchainError } from '../../core/errors.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { type Machine, type MachineJob, type MachineResult, Unrepeatable } from '../machine.ts'
import { Unready } from '../precompiles/precompile.ts'
import { reportEvents } from './events.ts'
import { Interpreter } from './interpreter.ts'
import * as layout from './layout.ts'
import { reachedBy } from './reached.ts'
import { resultOf, touchedBy } from './results.ts'

export interface HotCode {
  readonly threshold: number
  readonly onJob: (interpreter: Interpreter, hardfork: Hardfork) => void
  /** @returns the exit to continue with */
  readonly onHot: (interpreter: Interpreter, job: MachineJob) => number
  readonly onClear: (interpreter: Interpreter) => void
}

/** Gas between two checks of the clock: short, even for the code that is slowest per gas. Reports of operations check it too. */
const QUANTUM = 300_000n

const ENDLESS = 2n ** 61n

const TURN_MS = 5

const IDLE_LIMIT = 3

/** Instances with a larger heap, in bytes, are dropped: WebAssembly memory never shrinks. */
const KEPT_HEAP = 32 * 1024 * 1024

/** So are instances with more room for memories. */
const KEPT_ROOM = 2 ** 29

export class FastMachine implements Machine {
  readonly #hotCode: HotCode | undefined
  readonly #idle: Interpreter[] = []

  constructor(hotCode?: HotCode) {
    this.#hotCode = hotCode
  }

  run(job: MachineJob): MachineResult | Promise<MachineResult> {
    const interpreter = this.#take(job.memoryLimit)
    try {
      this.#hotCode?.onJob(interpreter, job.block.hardfork)
      const budget = job.pause === undefined ? ENDLESS : QUANTUM
      const exit = interpreter.open(job, this.#hotCode?.threshold ?? 0, budget)
      const result = this.#resume(interpreter, job, exit)
      if ('next' in result) return this.#resumeLater(interpreter, job, result)
      this.#giveBack(interpreter, job)
      return result
    } catch (error) {
      throw this.#giveUp(interpreter, job, error)
    }
  }

  #resume(interpreter: Interpreter, job: MachineJob, first: number): MachineResult | Waiting {
    const { instance } = interpreter
    interpreter.turnEnds =
      job.pause === undefined ? Number.POSITIVE_INFINITY : performance.now() + TURN_MS
    let exit = first
    while (exit !== layout.EXIT_DONE) {
      if (exit === layout.EXIT_FRAME) exit = instance.exports.run()
      else if (exit === layout.EXIT_PRECOMPILE) {
        const after = precompiled(interpreter, job)
        if (typeof after !== 'number') return after
        exit = after
      } else if (exit === layout.EXIT_HOT)
        exit = this.#hotCode?.onHot(interpreter, job) ?? layout.EXIT_FRAME
      else if (exit === layout.EXIT_YIELD) {
        // a precompile may use more than the budget
        interpreter.gasUsed += QUANTUM - BigInt.asIntN(64, instance.long(layout.GAS_UNTIL_YIELD))
        instance.setLong(layout.GAS_UNTIL_YIELD, QUANTUM)
        interpreter.flushEvents()
        if (performance.now() > interpreter.turnEnds) return { next: layout.EXIT_FRAME }
        exit = instance.exports.run()
      } else throw new Error(`the instance returned the unknown exit ${exit}`)
      instance.refresh()
    }
    interpreter.flushEvents()
    const isExact = isAtLeast(job.block.hardfork, 'berlin')
    job.tracer?.onTouched?.(touchedBy(interpreter, isExact))
    job.tracer?.onReached?.([...interpreter.reached, ...reachedBy(interpreter)])
    return resultOf(interpreter, job)
  }

  async #resumeLater(
    interpreter: Interpreter,
    job: MachineJob,
    first: Waiting,
  ): Promise<MachineResult> {
    let result: MachineResult | Waiting = first
    try {
      while ('next' in result) {
        await (result.ready ?? job.pause?.(interpreter.gasUsed))
        result = this.#resume(interpreter, job, result.next)
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
    const made: Interpreter = new Interpreter(
      memoryLimit,
      () => this.#hotCode?.onClear(made),
      reportEvents,
    )
    return made
  }

  #giveBack(interpreter: Interpreter, { limits }: MachineJob): void {
    const { instance } = interpreter
    interpreter.close()
    const heap = instance.number(layout.HEAP_TOP) - instance.number(layout.ROOM_END)
    const isLarge = limits?.memory === 'gas' && instance.memoryLimit > KEPT_ROOM
    if (heap < KEPT_HEAP && !isLarge && this.#idle.length < IDLE_LIMIT) this.#idle.push(interpreter)
  }

  /**
   * An instance is reusable after an outer error, but dropped after its own bug.
   * @returns the error to throw
   */
  #giveUp(interpreter: Interpreter, job: MachineJob, error: unknown): unknown {
    const isOwn = !OUTER.some((kind) => error instanceof kind)
    if (!isOwn) this.#giveBack(interpreter, job)
    return isOwn && interpreter.hasReported ? new Unrepeatable(error) : error
  }
}

const OUTER = [DevchainError, Unready, Unrepeatable]

interface Waiting {
  readonly next: number
  /** What to wait for; undefined to yield only. */
  readonly ready?: Promise<unknown>
}

/**
 * Awaits a library that is loading if the run cannot be restarted.
 * @returns the next exit
 */
function precompiled(interpreter: Interpreter, { tracer }: MachineJob): number | Waiting {
  try {
    return runPrecompile(interpreter)
  } catch (error) {
    if (!(error instanceof Unready) || tracer === undefined) throw error
    return { next: layout.EXIT_PRECOMPILE, ready: error.ready }
  }
}

function runPrecompile(interpreter: Interpreter): number {
  const { instance } = interpreter
  const place = instance.number(layout.PRECOMPILE_INPUT)
  // a view, valid until the instance continues
  const input = instance.bytes.subarray(place, place + instance.number(layout.PRECOMPILE_LENGTH))
  const gas = instance.long(layout.PRECOMPILE_GAS)
  const code = interpreter.precompileAt(instance.number(layout.PRECOMPILE_ACCOUNT))
  const cost = code.gas(input)
  if (cost > gas) return instance.exports.endPrecompile(layout.END_OUT_OF_GAS, 0n, 0)
  instance.setLong(layout.GAS_UNTIL_YIELD, instance.long(layout.GAS_UNTIL_YIELD) - cost)
  const output = code.run(input)
  if (output === undefined) return instance.exports.endPrecompile(layout.END_PRECOMPILE, 0n, 0)
  const target = instance.exports.returnRoom(output.length)
  instance.refresh()
  instance.bytes.set(output, target)
  return instance.exports.endPrecompile(layout.END_RETURN, gas - cost, output.length)
}
