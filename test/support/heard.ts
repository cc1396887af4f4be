// A tracer that writes down all that it hears, as lines.
import { DevchainError } from '../../src/core/errors.ts'
import { hexFromBytes } from '../../src/core/hex.ts'
import type { Failure, Step, Tracer } from '../../src/evm/executor.ts'

export interface Heard {
  readonly tracer: Tracer
  readonly lines: readonly string[]
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
  return {
    tracer: {
      ...tracer,
      onStep,
      stepParts: { stack: true, memory: true },
      onTick: (count) => {
        ticks += count
      },
      onEnter: (start) => {
        tracer.onEnter?.(start)
        written.push(`code ${hexFromBytes(start.code())}`)
      },
      onTouched: (touched) => {
        tracer.onTouched?.(touched)
        written.push(`${steps} steps, counted ${ticks}`)
      },
    },
    lines,
  }
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
