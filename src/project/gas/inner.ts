// What contracts call of each other within transactions, with the gas of each call: recorded where the gas report asks for it.
import type { Address } from '../../core/hex.ts'
import type { FrameEnd, FrameStart, Tracer } from '../../evm/executor.ts'
import type { CommandWatch } from '../../node/chain/reaching.ts'

/** Calls of one function of one account, or creations of one contract, that a command brought. */
export interface InnerCalls {
  /** Null for creations. */
  readonly to: Address | null
  /** The first four bytes of the input, or fewer; of a creation all of it. */
  readonly input: Uint8Array
  /** Who delegated the very call that it got: a proxy, perhaps; undefined: nobody did. */
  readonly through: Address | undefined
  /** Gas of each call that succeeded. */
  readonly gas: number[]
  failed: number
}

interface OpenFrame {
  readonly calls: InnerCalls | undefined
  readonly to: Address | null
  readonly input: Uint8Array
}

/** Calls of a command that are kept by themselves; further ones are left out. */
const MOST_CALLED = 10_000

const SELECTOR_LENGTH = 4

/** Records the calls within the transactions of one command. */
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
    const { to } = frame
    const input = frame.input.slice()
    const isCounted = caller !== undefined && !frame.isPrecompile
    const through = isCounted && isForwarded(frame, caller) ? (caller.to ?? undefined) : undefined
    const calls = isCounted ? this.#callsOf(to, input, through) : undefined
    this.#open.push({ calls, to, input })
  }

  #exit({ gasUsed, failure }: FrameEnd): void {
    const calls = this.#open.pop()?.calls
    if (calls === undefined) return
    if (failure === undefined) calls.gas.push(Number(gasUsed))
    else calls.failed += 1
  }

  #callsOf(
    to: Address | null,
    input: Uint8Array,
    through: Address | undefined,
  ): InnerCalls | undefined {
    const told = to === null ? input : input.subarray(0, SELECTOR_LENGTH)
    const key = `${to} ${through} ${Buffer.from(told).toString('latin1')}`
    const known = this.#called.get(key)
    if (known !== undefined || this.#called.size >= MOST_CALLED) return known
    const made = { to, input: told, through, gas: [], failed: 0 }
    this.#called.set(key, made)
    return made
  }
}

/** True where a call is handed on as it came. */
function isForwarded({ kind, input }: FrameStart, caller: OpenFrame): boolean {
  return kind === 'DELEGATECALL' && input.length > 0 && Buffer.compare(input, caller.input) === 0
}
