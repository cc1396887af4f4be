// Records calls between contracts within transactions, with their gas, for the gas report.
import type { Address } from '../../core/hex.ts'
import type { FrameEnd } from '../../evm/executor.ts'
import type { CommandWatch } from '../../node/chain/execution.ts'
import { isForwarded } from '../naming/callees.ts'

/** One command's calls of one function of one account, or creations of one contract. */
export interface InnerCalls {
  readonly to: Address | null
  /** Up to four bytes of the input; for a creation, all of it. */
  readonly input: Uint8Array
  /** The account that delegated the same call, perhaps a proxy; undefined: none. */
  readonly through: Address | undefined
  /** True if the account delegated the same call to another. */
  readonly isHandedOn: boolean
  /** With state gas. */
  readonly gas: number[]
  /** The sum of state gas; undefined before amsterdam. */
  state: number | undefined
  failed: number
}

interface OpenFrame extends Pick<InnerCalls, 'to' | 'input' | 'through'> {
  readonly isPrecompile: boolean
  isHandedOn: boolean
}

const MOST_CALLED = 10_000

const SELECTOR_LENGTH = 4

/** @param listener gets the calls of a command that has succeeded, if there are any */
export function watchInnerCalls(listener: (calls: readonly InnerCalls[]) => void): CommandWatch {
  const open: OpenFrame[] = []
  const called = new Map<string, InnerCalls>()
  return {
    tracer: {
      onEnter: (frame) => {
        const caller = open.at(-1)
        const { to, isPrecompile } = frame
        const isHandOn = caller !== undefined && isForwarded(frame, caller)
        if (isHandOn) caller.isHandedOn = true
        const through = isHandOn ? (caller.to ?? undefined) : undefined
        open.push({ to, input: frame.input.slice(), isPrecompile, through, isHandedOn: false })
      },
      onExit: (end) => {
        const frame = open.pop()
        // the outermost frame is the transaction itself
        if (frame === undefined || open.length === 0 || frame.isPrecompile) return
        const calls = callsOf(called, frame)
        if (calls !== undefined) add(calls, end)
      },
    },
    begin: () => {
      open.length = 0
      called.clear()
    },
    report: () => {
      if (called.size > 0) listener([...called.values()])
    },
  }
}

function callsOf(
  called: Map<string, InnerCalls>,
  { to, input, through, isHandedOn }: OpenFrame,
): InnerCalls | undefined {
  const recorded = to === null ? input : input.subarray(0, SELECTOR_LENGTH)
  const key = `${to} ${through} ${isHandedOn} ${Buffer.from(recorded).toString('latin1')}`
  const known = called.get(key)
  if (known !== undefined || called.size >= MOST_CALLED) return known
  const made = { to, input: recorded, through, isHandedOn, gas: [], state: undefined, failed: 0 }
  called.set(key, made)
  return made
}

function add(calls: InnerCalls, { gasUsed, failure, state }: FrameEnd): void {
  if (failure !== undefined) {
    calls.failed += 1
    return
  }
  // what the reservoir paid is not in gasUsed
  const reserved = state === undefined ? 0n : state.used - state.spilled
  calls.gas.push(Number(gasUsed + reserved))
  if (state !== undefined) calls.state = (calls.state ?? 0) + Number(state.used)
}
