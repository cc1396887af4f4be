// The trace compiler: from a recording to a WebAssembly module.
import { type Hardfork, isAtLeast } from '../../../protocol/forks.ts'
import { type Operation, operationsAt } from '../../opcodes.ts'
import { ACCESS_FORK, ACCESS_OPERATIONS, CHAIN_OPERATIONS } from './operations/chain.ts'
import { FLOW_OPERATIONS } from './operations/flow.ts'
import { MEMORY_OPERATIONS } from './operations/memory.ts'
import type { Compile } from './operations/operation.ts'
import { WORD_OPERATIONS } from './operations/words.ts'
import { assemble, closeLoop, type Links, openTrace } from './trace/assemble.ts'
import { type Plan, planTrace, type RecordedPath } from './trace/plan.ts'
import { TraceBuilder, type TraceCode } from './trace/trace.ts'
import { Emitter } from './wasm/emitter.ts'

const COMPILERS: ReadonlyMap<number, Compile> = new Map([
  ...WORD_OPERATIONS,
  ...FLOW_OPERATIONS,
  ...MEMORY_OPERATIONS,
  ...CHAIN_OPERATIONS,
  ...ACCESS_OPERATIONS,
])

/** Their costs depend on earlier accesses, since this fork. */
const ACCESSES: ReadonlySet<number> = new Set(ACCESS_OPERATIONS.map(([opcode]) => opcode))

export function compiledOperations(hardfork: Hardfork): ReadonlyMap<number, Operation> {
  const knowsAccess = isAtLeast(hardfork, ACCESS_FORK)
  const isCompiled = (opcode: number): boolean =>
    COMPILERS.has(opcode) && (knowsAccess || !ACCESSES.has(opcode))
  return new Map([...operationsAt(hardfork)].filter(([opcode]) => isCompiled(opcode)))
}

export interface CompiledTrace {
  readonly module: Uint8Array
  readonly isLoop: boolean
  /** It contains a jump whose target depends on runtime values. */
  readonly hasUnknownJump: boolean
  readonly steps: number
}

export class Compiler {
  readonly #body = new Emitter()
  readonly #outer = new Emitter()

  /** @returns undefined if nothing at the start can be compiled */
  compile(
    code: TraceCode,
    operations: ReadonlyMap<number, Operation>,
    recording: RecordedPath,
    links: Links,
  ): CompiledTrace | undefined {
    const plan = planTrace(code.bytes, operations, recording)
    if (plan.steps.length === 0) return undefined
    this.#body.clear()
    const total = plan.steps.reduce((sum, { gas }) => sum + gas, 0)
    const trace = new TraceBuilder(code, total, this.#body)
    openTrace(trace, recording.start)
    compileSteps(trace, plan)
    const isLoop = plan.isLoop && !trace.hasEnded && trace.stack.height === 0
    const changing = isLoop ? closeLoop(trace) : new Set<number>()
    if (!isLoop && !trace.hasEnded) {
      const opcode = code.bytes[plan.end] ?? 0
      trace.end(trace.exit(plan.end, trace.used, operations.has(opcode)))
    }
    const module = assemble(trace, changing, this.#outer, links)
    return { module, isLoop, hasUnknownJump: trace.hasUnknownJump, steps: plan.steps.length }
  }
}

function compileSteps(trace: TraceBuilder, { steps }: Plan): void {
  for (const step of steps) {
    const compile = COMPILERS.get(step.opcode)
    if (compile === undefined) throw new Error(`no compiler for opcode ${step.opcode}`)
    compile(trace, step)
    if (trace.hasEnded) return
    trace.used += step.gas
    trace.passed += 1
  }
}
