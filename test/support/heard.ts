// A tracer that writes down all that it hears, as lines.
import { DevchainError } from '../../src/core/errors.ts'
import { hexFromBytes } from '../../src/core/hex.ts'
import type { Failure, ReachedCode, Step, Tracer } from '../../src/evm/executor.ts'
import { OP } from '../../src/evm/opcodes.ts'
import { addReached, hitsOf, noCounts } from '../../src/evm/tracers/reached.ts'

export interface Heard {
  readonly tracer: Tracer
  readonly lines: readonly string[]
  /** How often operations were tried, by their code, once the run is over; undefined where it does not listen for that. */
  readonly reached?: () => readonly string[]
}

/**
 * Hears of all, steps with what memory holds.
 * @param most steps, after which it ends the run by a DevchainError
 */
export function hearSteps(most: number = Number.POSITIVE_INFINITY): Heard {
  const { tracer, lines } = hearFrames()
  const written: string[] = lines as string[]
  let steps = 0
  const onStep = (step: Step): void => {
    const { pc, opName, opcode, gas, gasCost, refund, depth, address, stack, memory, loaded } = step
    steps += 1
    if (steps > most) throw new DevchainError('LIMIT_EXCEEDED', 'the test has heard enough')
    written.push(
      `step ${pc} ${opName} ${opcode} gas ${gas} cost ${gasCost} refund ${refund} at ${depth} ${address} loaded ${loaded} stack ${stack.join(' ')} memory ${hexFromBytes(memory)}`,
    )
  }
  let ticks = 0
  const tried = new Tried()
  const reached = hearReached()
  return {
    tracer: {
      ...tracer,
      ...reached.tracer,
      onStep: (step) => {
        onStep(step)
        tried.step(step)
      },
      stepParts: { stack: true, memory: true },
      onTick: (count) => {
        ticks += count
      },
      onEnter: (start) => {
        tracer.onEnter?.(start)
        const code = hexFromBytes(start.code())
        written.push(`code ${code}`)
        tried.open.push(`${start.to === null ? 'creation' : 'code'} ${code}`)
      },
      onExit: (end) => {
        tracer.onExit?.(end)
        tried.open.pop()
      },
      onTouched: (touched) => {
        tracer.onTouched?.(touched)
        written.push(`${steps} steps, counted ${ticks}`)
      },
    },
    lines,
    reached: () => {
      const counted = tried.lines()
      const told = reached.reached?.() ?? []
      const wrong = counted.find((line, i) => line !== told[i]) ?? told[counted.length]
      if (wrong !== undefined) throw new Error(`steps and marks differ: ${wrong}`)
      return counted
    },
  }
}

/** Hears of what was reached, and of nothing else. */
export function hearReached(): Heard {
  const heard: ReachedCode[] = []
  return {
    tracer: { onReached: (reached) => heard.push(...reached) },
    lines: [],
    reached: () => reachedLines(heard),
  }
}

/** Steps counted one by one, by code and place, with the jumps of JUMPI. */
class Tried {
  readonly open: string[] = []
  readonly #counts = new Map<string, Map<string, number>>()

  step({ pc, opcode, stack, gas, gasCost }: Step): void {
    const code = this.open.at(-1) ?? ''
    this.#count(code, `${pc}`)
    const jumps = opcode === OP.JUMPI && gas >= gasCost && stack.length >= 2 && stack.at(-2) !== 0n
    if (jumps) this.#count(code, `${pc} jumps`)
  }

  lines(): readonly string[] {
    return [...this.#counts].map(([code, counts]) => lineOf(code, counts)).sort()
  }

  #count(code: string, what: string): void {
    const counts = this.#counts.get(code) ?? new Map<string, number>()
    this.#counts.set(code, counts)
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
}

/** The same out of marks. */
function reachedLines(reached: readonly ReachedCode[]): readonly string[] {
  const sums = new Map<string, ReturnType<typeof noCounts> & { readonly code: Uint8Array }>()
  for (const each of reached) {
    const key = `${each.isCreation ? 'creation' : 'code'} ${hexFromBytes(each.code)}`
    const sum = sums.get(key) ?? { ...noCounts(), code: each.code }
    sums.set(key, sum)
    addReached(sum, each)
  }
  const lines = [...sums].map(([key, sum]) => {
    const { hits, jumped } = hitsOf(sum.code, sum)
    const counts = new Map<string, number>()
    for (const [pc, count] of hits.entries()) if (count !== 0) counts.set(`${pc}`, count)
    for (const [pc, count] of jumped.entries()) if (count !== 0) counts.set(`${pc} jumps`, count)
    return lineOf(key, counts)
  })
  return lines.sort()
}

function lineOf(code: string, counts: ReadonlyMap<string, number>): string {
  const texts = [...counts].map(([what, count]) => `${what}: ${count}`)
  return `${code} ${texts.sort().join(', ')}`
}

/** Hears of frames, logs and destructions. */
export function hearFrames(): Heard {
  const lines: string[] = []
  const precompiles: boolean[] = []
  const tracer: Tracer = {
    onEnter: ({ kind, depth, from, to, value, gas, input, isPrecompile }) => {
      precompiles.push(isPrecompile)
      lines.push(
        `enter ${depth} ${kind} ${from} to ${to} ${isPrecompile} value ${value} gas ${gas} ${hexFromBytes(input)}`,
      )
    },
    onExit: ({ depth, gasUsed, output, created, failure }) => {
      const why = failureText(failure, precompiles.pop() === true)
      lines.push(`exit ${depth} gas ${gasUsed} ${why} created ${created} ${hexFromBytes(output)}`)
    },
    onLog: ({ address, topics, data }) => {
      lines.push(`log ${[address, ...topics, hexFromBytes(data)].join(' ')}`)
    },
    onDestroy: ({ address, beneficiary, balance }) => {
      lines.push(`destroy ${address} for ${beneficiary} with ${balance}`)
    },
    onTouched: (touched) => {
      const accounts = [...touched].map(([address, slots]) => {
        const sorted = [...slots].sort((a, b) => (a < b ? -1 : 1))
        return `touched ${[address, ...sorted].join(' ')}`
      })
      lines.push(...accounts.sort())
    },
  }
  return { tracer, lines }
}

/** Whether a precompile looks at its input or at the gas first is nobody's business. */
function failureText(failure: Failure | undefined, isPrecompile: boolean): string {
  if (failure === undefined) return 'held'
  return isPrecompile ? 'failed' : `${failure.kind}: ${failure.reason}`
}
