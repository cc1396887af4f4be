// Records reached code of the library's EVM from steps and frames, as fast/assembly/reached.ts does.
import type { InterpreterStep } from '@ethereumjs/evm'
import type { FrameStart, ReachedCode } from '../../../src/evm/executor.ts'
import { OP, type Operation, operationsAt } from '../../../src/evm/opcodes.ts'
import type { Hardfork } from '../../../src/protocol/forks.ts'

interface Place {
  readonly code: Uint8Array
  readonly isCreation: boolean
  /** By position: how often reached or jumped; how often a frame ended there. */
  readonly marks: Map<number, [count: number, ends: number]>
  last: number | undefined
  jumps: boolean
}

export class Reaches {
  readonly #operations: ReadonlyMap<number, Operation>
  readonly #open: Place[] = []
  readonly reached: ReachedCode[] = []

  constructor(hardfork: Hardfork) {
    this.#operations = operationsAt(hardfork)
  }

  enter({ to, code }: FrameStart): void {
    const copy = code().slice()
    this.#open.push({
      code: copy,
      isCreation: to === null,
      marks: new Map(),
      last: undefined,
      jumps: false,
    })
  }

  /** @param code the opcode, even if the fork lacks it */
  step({ pc, stack, gasLeft }: InterpreterStep, code: number): void {
    const place = this.#open.at(-1)
    if (place === undefined) return
    const operation = this.#operations.get(code)
    const canRun =
      operation !== undefined && stack.length >= operation.takes && gasLeft >= operation.gas
    place.jumps = code === OP.JUMPI && canRun && stack.at(-2) !== 0n
    place.last = pc
    if (code === OP.JUMPDEST || place.jumps) markAt(place, pc)[0] += 1
  }

  exit(): void {
    const place = this.#open.pop()
    if (place?.last === undefined) return
    const { code, isCreation, marks, last, jumps } = place
    // an invalid jump counts as a jump
    if (!jumps) markAt(place, last)[1] += 1
    const flat = [...marks].flatMap(([pc, [count, ends]]) => [pc, count, ends])
    this.reached.push({ code, isCreation, starts: 1, marks: Uint32Array.from(flat) })
  }
}

function markAt({ marks }: Place, pc: number): [count: number, ends: number] {
  const mark = marks.get(pc) ?? [0, 0]
  marks.set(pc, mark)
  return mark
}
