// What contracts call of each other within transactions, with the gas of each call: recorded where the gas report asks for it.
import type { Address } from '../../core/hex.ts'
import type { FrameEnd, FrameStart, Tracer } from '../../evm/executor.ts'
import type { CommandWatch } from '../../node/chain/execution.ts'
import { isForwarded } from '../naming/callees.ts'

/** Calls of one function of one account, or creations of one contract, that a command brought. */
export interface InnerCalls {
  readonly to: Address | null
  /** The first four bytes of the input, or fewer; of a creation all of it. */
  readonly input: Uint8Array
  /** Who delegated the very call that it got: a proxy, perhaps; undefined: nobody did. */
  readonly through: Address | undefined
  /** True where the account delegated the very call to another. */
  readonly isHandedOn: boolean
  readonly gas: number[]
  failed: number
}

interface OpenFrame {
  readonly to: Address | null
  readonly input: Uint8Array
  readonly isPrecompile: boolean
  readonly through: Address | undefined
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

  tell(): void {
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

  #exit({ gasUsed, failure }: FrameEnd): void {
    const frame = this.#open.pop()
    // the outermost is the transaction itself
    if (frame === undefined || this.#open.length === 0 || frame.isPrecompile) return
    const calls = this.#callsOf(frame)
    if (calls === undefined) return
    if (failure === undefined) calls.gas.push(Number(gasUsed))
    else calls.failed += 1
  }

  #callsOf({ to, input, through, isHandedOn }: OpenFrame): InnerCalls | undefined {
    const told = to === null ? input : input.subarray(0, SELECTOR_LENGTH)
    const key = `${to} ${through} ${isHandedOn} ${Buffer.from(told).toString('latin1')}`
    const known = this.#called.get(key)
    if (known !== undefined || this.#called.size >= MOST_CALLED) return known
    const made = { to, input: told, through, isHandedOn, gas: [], failed: 0 }
    this.#called.set(key, made)
    return made
  }
}
