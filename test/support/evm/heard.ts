// A tracer that writes down all that it hears, as lines.
import { DevchainError } from '../../../src/core/errors.ts'
import { hexFromBytes } from '../../../src/core/hex.ts'
import type { Failure, ReachedCode, Step, Tracer } from '../../../src/evm/executor.ts'
import { OP } from '../../../src/evm/opcodes.ts'
import { addReached, hitsOf, noCounts } from '../../../src/evm/tracers/reached.ts'

export interface Heard {
  readonly tracer: Tracer
  /** Frames, logs, destructions and what was touched; empty where it does not listen for them. */
  readonly frames: readonly string[]
  /** The same with every step in between, where it listens for steps. */
  readonly steps?: readonly string[]
  /** How often operations were tried, by their code, once the run is over; undefined where it does not listen for that. */
  readonly reached?: () => readonly string[]
}

/**
 * Hears of all, steps with what memory holds.
 * @param most steps, after which it ends the run by a DevchainError
 * @param writes false where steps are only counted: there are no lines of them, which take most of the time
 */
export function hearSteps(most: number = Number.POSITIVE_INFINITY, writes = true): Heard {
  const frames: string[] = []
  const written: string[] = []
  const tracer = tracerOfFrames((line) => {
    frames.push(line)
    written.push(line)
  })
  const [stackText, memoryText] = [textsOfStack(), textsOfMemory()]
  let steps = 0
  const onStep = (step: Step): void => {
    const { pc, opName, opcode, gas, gasCost, refund, depth, address, stack, memory, loaded } = step
    steps += 1
    if (steps > most) throw new DevchainError('LIMIT_EXCEEDED', 'the test has heard enough')
    const costs = [gas, 'cost', gasCost, 'refund', refund]
    const place = [depth, address, 'loaded', `${loaded}`]
    // joined, a line is one text; a template would keep all its pieces
    const line = ['step', pc, opName, opcode, 'gas', ...costs, 'at', ...place]
    written.push([...line, 'stack', stackText(stack), 'memory', memoryText(memory)].join(' '))
  }
  let ticks = 0
  const tried = new Tried()
  const reached = hearReached()
  return {
    tracer: {
      ...tracer,
      ...reached.tracer,
      onStep: (step) => {
        if (writes) onStep(step)
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
        tried.enter(`${start.to === null ? 'creation' : 'code'} ${code}`)
      },
      onExit: (end) => {
        tracer.onExit?.(end)
        tried.exit()
      },
      onTouched: (touched) => {
        tracer.onTouched?.(touched)
        written.push(`${steps} steps, counted ${ticks}`)
      },
    },
    frames,
    ...(writes ? { steps: written } : {}),
    reached: () => {
      const counted = tried.lines()
      const reported = reached.reached?.() ?? []
      const wrong = counted.find((line, i) => line !== reported[i]) ?? reported[counted.length]
      if (wrong !== undefined) throw new Error(`steps and marks differ: ${wrong}`)
      return counted
    },
  }
}

/** What the stack holds, as text: how many items, how many of them are at the bottom as the last time, and the others. */
function textsOfStack(): (stack: readonly bigint[]) => string {
  let last: readonly bigint[] = []
  return (stack) => {
    let same = 0
    while (same < stack.length && stack[same] === last[same]) same += 1
    last = stack.slice()
    const others = last.slice(same).map((item) => item.toString(16))
    return `${stack.length} items, ${same} as before ${others.join(' ')}`
  }
}

/** Bytes of memory that are compared at once. */
const CHUNK = 256

/** What memory holds, as text: its chunks that are not what they were the last time. */
function textsOfMemory(): (memory: Uint8Array) => string {
  let last = Buffer.alloc(0)
  return (memory) => {
    if (last.equals(memory)) return 'as before'
    const before = last
    last = Buffer.from(memory)
    const changed: string[] = []
    for (let at = 0; at < last.length; at += CHUNK) {
      const chunk = last.subarray(at, at + CHUNK)
      if (!chunk.equals(before.subarray(at, at + CHUNK)))
        changed.push(`${at} ${chunk.toString('hex')}`)
    }
    return `${last.length} bytes, changed ${changed.join(' ')}`
  }
}

/** Hears of what was reached, and of nothing else. */
export function hearReached(): Heard {
  const heard: ReachedCode[] = []
  return {
    tracer: { onReached: (reached) => heard.push(...reached) },
    frames: [],
    reached: () => reachedLines(heard),
  }
}

/** Steps counted one by one, by code and place, with the jumps of JUMPI. */
class Tried {
  readonly #open: Counted[] = []
  readonly #byCode = new Map<string, Counted>()

  enter(code: string): void {
    const counted = this.#byCode.get(code) ?? { steps: new Map(), jumps: new Map() }
    this.#byCode.set(code, counted)
    this.#open.push(counted)
  }

  exit(): void {
    this.#open.pop()
  }

  step({ pc, opcode, stack, gas, gasCost }: Step): void {
    const counted = this.#open.at(-1)
    if (counted === undefined) throw new Error('a step outside of all frames')
    addOne(counted.steps, pc)
    const jumps = opcode === OP.JUMPI && gas >= gasCost && stack.length >= 2 && stack.at(-2) !== 0n
    if (jumps) addOne(counted.jumps, pc)
  }

  lines(): readonly string[] {
    const reached = [...this.#byCode].filter(([, { steps }]) => steps.size > 0)
    return reached.map(([code, counted]) => lineOf(code, counted)).sort()
  }
}

/** How often the operations of a code were tried, and how often they jumped, by place. */
interface Counted {
  readonly steps: Map<number, number>
  readonly jumps: Map<number, number>
}

function addOne(counts: Map<number, number>, place: number): void {
  counts.set(place, (counts.get(place) ?? 0) + 1)
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
    const steps = new Map([...hits.entries()].filter(([, count]) => count !== 0))
    const jumps = new Map([...jumped.entries()].filter(([, count]) => count !== 0))
    return lineOf(key, { steps, jumps })
  })
  return lines.sort()
}

function lineOf(code: string, { steps, jumps }: Counted): string {
  const texts = [
    ...[...steps].map(([pc, count]) => `${pc}: ${count}`),
    ...[...jumps].map(([pc, count]) => `${pc} jumps: ${count}`),
  ]
  return `${code} ${texts.sort().join(', ')}`
}

/** Hears of frames, logs and destructions. */
export function hearFrames(): Heard {
  const frames: string[] = []
  return { tracer: tracerOfFrames((line) => frames.push(line)), frames }
}

function tracerOfFrames(write: (line: string) => void): Tracer {
  const precompiles: boolean[] = []
  return {
    onEnter: ({ kind, depth, from, to, value, gas, input, isPrecompile }) => {
      precompiles.push(isPrecompile)
      write(
        `enter ${depth} ${kind} ${from} to ${to} ${isPrecompile} value ${value} gas ${gas} ${hexFromBytes(input)}`,
      )
    },
    onExit: ({ depth, gasUsed, output, created, failure }) => {
      const why = failureText(failure, precompiles.pop() === true)
      write(`exit ${depth} gas ${gasUsed} ${why} created ${created} ${hexFromBytes(output)}`)
    },
    onLog: ({ address, topics, data }) => {
      write(`log ${[address, ...topics, hexFromBytes(data)].join(' ')}`)
    },
    onDestroy: ({ address, beneficiary, balance }) => {
      write(`destroy ${address} for ${beneficiary} with ${balance}`)
    },
    onTouched: (touched) => {
      const accounts = [...touched].map(([address, slots]) => {
        const sorted = [...slots].sort((a, b) => (a < b ? -1 : 1))
        return `touched ${[address, ...sorted].join(' ')}`
      })
      for (const account of accounts.sort()) write(account)
    },
  }
}

/** Whether a precompile looks at its input or at the gas first is nobody's business. */
function failureText(failure: Failure | undefined, isPrecompile: boolean): string {
  if (failure === undefined) return 'held'
  return isPrecompile ? 'failed' : `${failure.kind}: ${failure.reason}`
}
