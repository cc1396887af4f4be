// Records calls between contracts within transactions, with their gas, for the gas report.
import type { Address } from '../../core/hex.ts'
import type { FrameEnd, FrameStart, Tracer } from '../../evm/executor.ts'
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

export class InnerCallWatch implements CommandWatch {
  readonly #listener: (calls: readonly InnerCalls[]) => void
  readonly #open: OpenFrame[] = []
  readonly #called = new Map<string, InnerCalls>()
  readonly tracer: Tracer = {
    onEnter: (frame) => this.#enter(frame),
    onExit: (end) => this.#exit(end),
  }

  constructor(listener: (calls: readonly InnerCalls[]) => void) {
    this.#listener = listener
  }

  begin(): void {
    this.#open.length = 0
    this.#called.clear()
  }

  report(): void {
    if (this.#called.size > 0) this.#listener([...this.#called.values()])
  }

  #enter(frame: FrameStart): void {
    const caller = this.#open.at(-1)
    const { to, isPrecompile } = frame
    const isHandOn = caller !== undefined && isForwarded(frame, caller)
    if (isHandOn) caller.isHandedOn = true
    const through = isHandOn ? (caller.to ?? undefined) : undefined
    this.#open.push({ to, input: frame.input.slice(), isPrecompile, through, isHandedOn: false })
  }

  #exit({ gasUsed, failure, state }: FrameEnd): void {
    const frame = this.#open.pop()
    // the outermost frame is the transaction itself
    if (frame === undefined || this.#open.length === 0 || frame.isPrecompile) return
    const calls = this.#callsOf(frame)
    if (calls === undefined) return
    if (failure !== undefined) {
      calls.failed += 1
      return
    }
    // what the reservoir paid is not in gasUsed
    const reserved = state === undefined ? 0n : state.used - state.spilled
    calls.gas.push(Number(gasUsed + reserved))
    if (state !== undefined) calls.state = (calls.state ?? 0) + Number(state.used)
  }

  #callsOf({ to, input, through, isHandedOn }: OpenFrame): InnerCalls | undefined {
    const recorded = to === null ? input : input.subarray(0, SELECTOR_LENGTH)
    const key = `${to} ${through} ${isHandedOn} ${Buffer.from(recorded).toString('latin1')}`
    const known = this.#called.get(key)
    if (known !== undefined || this.#called.size >= MOST_CALLED) return known
    const made = { to, input: recorded, through, isHandedOn, gas: [], state: undefined, failed: 0 }
    this.#called.set(key, made)
    return made
  }
}
