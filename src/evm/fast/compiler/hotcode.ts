// Records one round of hot code, compiles it, and links the trace.
import type { Hash } from '../../../core/hex.ts'
import { getOrMake, LruCache, memoize } from '../../../core/lrucache.ts'
import { HARDFORKS, type Hardfork } from '../../../protocol/forks.ts'
import type { MachineJob } from '../../machine.ts'
import type { Operation } from '../../opcodes.ts'
import type { CodePlace } from '../codes.ts'
import type { Interpreter } from '../interpreter.ts'
import * as layout from '../layout.ts'
import type { HotCode } from '../machine.ts'
import { type CompiledTrace, Compiler, compiledOperations } from './compile.ts'
import type { RecordedPath } from './trace/plan.ts'
import { TraceStore } from './tracestore.ts'

const USUAL_THRESHOLD = 300

/**
 * Exits of a trace before the code behind them is compiled. Doubles with every 16 traces of a code, up to 64 times: loops with
 * many random branches would take longer to compile than to interpret.
 */
const EXIT_THRESHOLD = 20
const TRACES_PER_DOUBLING = 16
const MOST_DOUBLINGS = 6

const MOST_JUMPS = 400

/** A shorter trace that is not a loop does not pay for its entry. */
const FEWEST_STEPS = 8

const FAILED_LIMIT = 1_000

export class HotCodeCompiler implements HotCode {
  readonly threshold: number
  readonly #exitThreshold: number
  readonly #compiler = new Compiler()
  readonly #stores = new WeakMap<Interpreter, TraceStore>()
  readonly #failed = new LruCache<Hash, true>(FAILED_LIMIT)
  readonly #operationsAt = memoize(HARDFORKS.length, compiledOperations)

  constructor(threshold: number = USUAL_THRESHOLD) {
    this.threshold = threshold
    this.#exitThreshold = Math.min(threshold, EXIT_THRESHOLD)
  }

  onJob(interpreter: Interpreter, hardfork: Hardfork): void {
    this.#storeOf(interpreter).setFork(hardfork)
  }

  /** Rare: thousands of contracts compete for room. */
  onClear(interpreter: Interpreter): void {
    this.#stores.get(interpreter)?.clear()
  }

  #storeOf(interpreter: Interpreter): TraceStore {
    return getOrMake(this.#stores, interpreter, ({ instance }) => new TraceStore(instance))
  }

  /** After a failure of the compiler, which it reports, the code stays interpreted. */
  onHot(interpreter: Interpreter, { block, onBug }: Pick<MachineJob, 'block' | 'onBug'>): number {
    const store = this.#storeOf(interpreter)
    const { instance, codes } = interpreter
    const cell = instance.number(layout.LAST_CELL)
    const frame = instance.number(layout.CURRENT_FRAME)
    const place = codes.at(instance.number(frame + layout.FRAME_CODE))
    if (place === undefined || this.#failed.get(place.hash) === true) return layout.EXIT_FRAME
    const start = instance.number(frame + layout.FRAME_PC)
    const isRoot = cell >= place.cells && cell < place.cells + 4 * place.bytes.length
    const root = place.cells + 4 * start
    if (!isRoot && isHead(interpreter, place, start) && instance.number(root) >= layout.TRACE) {
      // another trace exists there: link the exit to it
      instance.setNumber(cell, instance.number(root))
      return layout.EXIT_FRAME
    }
    if (store.isEnough(place.code)) return layout.EXIT_FRAME
    if (store.isFull) {
      store.clear()
      // the exit's cell was dropped with its trace
      if (!isRoot) return layout.EXIT_FRAME
    }
    const { recording, exit } = record(interpreter, place, frame)
    try {
      const operations = this.#operationsAt(block.hardfork)
      this.#compile({ interpreter, store, place, operations }, recording, cell, isRoot)
    } catch (error) {
      this.#failed.set(place.hash, true)
      const message = `the compiler failed on code ${place.hash}, which is interpreted`
      onBug(new Error(message, { cause: error }))
    }
    return exit
  }

  #compile(
    { interpreter, store, place, operations }: HotPlace,
    recording: RecordedPath,
    cell: number,
    isRoot: boolean,
  ): void {
    const { instance } = interpreter
    const { start } = recording
    const isLoopHead = isRoot && isHead(interpreter, place, start)
    const newCell = (pc: number): number => {
      const root = instance.number(place.cells + 4 * pc)
      return store.newExitCell(root >= layout.TRACE && isHead(interpreter, place, pc) ? root : 0)
    }
    const code = {
      bytes: place.bytes,
      isDestination: (pc: number) => instance.bytes[place.jumps + pc] !== 0,
    }
    const doublings = Math.floor(store.countOf(place.code) / TRACES_PER_DOUBLING)
    const trace = this.#compiler.compile(code, operations, recording, {
      newCell,
      threshold: this.#exitThreshold << Math.min(doublings, MOST_DOUBLINGS),
    })
    if (trace !== undefined && isWorthIt(trace, isLoopHead))
      store.add(cell, place.code, trace.module)
    // inner loops have traces, whose exits link to traces of the code between
    else if (isLoopHead) instance.bytes[place.jumps + start] = layout.JUMP_TARGET
  }
}

/** Code that is hot in an interpreter, and the operations of the job's hardfork. */
interface HotPlace {
  readonly interpreter: Interpreter
  readonly store: TraceStore
  readonly place: CodePlace
  readonly operations: ReadonlyMap<number, Operation>
}

function isHead({ instance }: Interpreter, { jumps }: CodePlace, pc: number): boolean {
  return instance.bytes[jumps + pc] === layout.LOOP_HEAD
}

function isWorthIt({ isLoop, hasUnknownJump, steps }: CompiledTrace, isLoopHead: boolean): boolean {
  return isLoopHead ? isLoop && !hasUnknownJump : isLoop || steps >= FEWEST_STEPS
}

/** Interprets until the code loops, leaves its frame, or meets another trace. */
function record(
  interpreter: Interpreter,
  place: CodePlace,
  frame: number,
): { readonly recording: RecordedPath; readonly exit: number } {
  const { instance } = interpreter
  const start = instance.number(frame + layout.FRAME_PC)
  const top = instance.number(frame + layout.FRAME_STACK_TOP)
  const path: number[] = []
  const isOwn = isHead(interpreter, place, start)
  let exit = layout.EXIT_RECORD
  let isLoop = false
  let isMet = false
  instance.setNumber(
    frame + layout.FRAME_FLAGS,
    instance.number(frame + layout.FRAME_FLAGS) | layout.FLAG_RECORD,
  )
  while (path.length < MOST_JUMPS && !isLoop && !isMet) {
    exit = instance.exports.run()
    instance.refresh()
    if (exit !== layout.EXIT_RECORD) break
    const pc = instance.number(frame + layout.FRAME_PC)
    path.push(pc)
    isLoop = isOwn && pc === start && instance.number(frame + layout.FRAME_STACK_TOP) === top
    isMet =
      !isLoop &&
      isHead(interpreter, place, pc) &&
      instance.number(place.cells + 4 * pc) >= layout.TRACE
  }
  instance.setNumber(
    frame + layout.FRAME_FLAGS,
    instance.number(frame + layout.FRAME_FLAGS) & ~layout.FLAG_RECORD,
  )
  const goesOn = exit === layout.EXIT_RECORD || exit === layout.EXIT_LEAVE
  return { recording: { start, path, isLoop, isMet }, exit: goesOn ? layout.EXIT_FRAME : exit }
}
