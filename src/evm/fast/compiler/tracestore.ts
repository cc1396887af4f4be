// The compiled traces of an instance, bounded in number and bytes. A full store drops all; hot code is soon compiled again.
import type { Hardfork } from '../../../protocol/forks.ts'
import type { Instance } from '../instance.ts'
import { EXIT_CELLS, EXIT_CELLS_END, TRACE } from '../layout.ts'
import { importsOf, TRACE_NAME } from './wasm/helpers.ts'

/** Limits on traces and bytes of modules; machine code takes about ten times as much. */
const MOST_TRACES = 1_000
const MOST_BYTES = 4 * 1024 * 1024

/** Loops with many branches have more paths than are worth compiling. */
const MOST_OF_CODE = 160

const EXITS_OF_ONE = 1_024

export class TraceStore {
  readonly #instance: Instance
  readonly #imports: ReturnType<typeof importsOf>
  readonly #first: number
  readonly #cells: number[] = []
  readonly #byCode = new Map<number, number>()
  #bytes = 0
  #nextExitCell: number = EXIT_CELLS
  #hardfork: Hardfork | undefined

  constructor(instance: Instance) {
    this.#instance = instance
    this.#imports = importsOf(instance.memory, { ...instance.exports })
    this.#first = instance.exports.table.length
  }

  countOf(code: number): number {
    return this.#byCode.get(code) ?? 0
  }

  isEnough(code: number): boolean {
    return this.countOf(code) >= MOST_OF_CODE
  }

  get isFull(): boolean {
    return (
      this.#cells.length >= MOST_TRACES ||
      this.#bytes >= MOST_BYTES ||
      this.#nextExitCell + 4 * EXITS_OF_ONE > EXIT_CELLS_END
    )
  }

  setFork(hardfork: Hardfork): void {
    if (this.#hardfork === hardfork) return
    if (this.#hardfork !== undefined) this.clear()
    this.#hardfork = hardfork
  }

  /** The cell counts, or links to an existing trace. */
  newExitCell(value: number): number {
    const cell = this.#nextExitCell
    this.#nextExitCell += 4
    this.#instance.setNumber(cell, value)
    return cell
  }

  add(cell: number, code: number, bytes: Uint8Array): void {
    const { table } = this.#instance.exports
    const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), this.#imports)
    const index = this.#first + this.#cells.length
    if (index >= table.length) table.grow(1)
    table.set(index, instance.exports[TRACE_NAME])
    this.#instance.setNumber(cell, (TRACE | index) >>> 0)
    this.#cells.push(cell)
    this.#byCode.set(code, this.countOf(code) + 1)
    this.#bytes += bytes.length
  }

  /** Call it when no trace runs and no cell is reused yet. */
  clear(): void {
    for (const [index, cell] of this.#cells.entries()) {
      this.#instance.setNumber(cell, 0)
      this.#instance.exports.table.set(this.#first + index, null)
    }
    this.#cells.length = 0
    this.#byCode.clear()
    this.#bytes = 0
    this.#nextExitCell = EXIT_CELLS
  }
}
