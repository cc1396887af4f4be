// Watching a run: for a tracer, and for what contracts print on the console.
import type { EVM, Message } from '@ethereumjs/evm'
import { addressFromBytes } from '../core/hex.ts'
import { CONSOLE_ADDRESS, formatConsoleCall } from './console.ts'
import type { ConsoleLine, StateView, Tracer } from './executor.ts'
import { targetOf, watch } from './watch.ts'

/** Lines kept of one run; a loop that prints would fill the memory. */
const LINE_LIMIT = 10_000

/** A run that is being watched. */
export interface Observation {
  /** What was printed so far. */
  readonly lines: readonly ConsoleLine[]
  /** Takes the listeners off the engine. */
  readonly stop: () => void
}

/** Attaches listeners to an engine: one to each message for the console, and what the tracer asks for. */
export function observe(evm: EVM, state: StateView, tracer: Tracer | undefined): Observation {
  const lines: ConsoleLine[] = []
  const detach = tracer && watch(evm, state, tracer)
  const onMessage = (message: Message): void => {
    if (lines.length > LINE_LIMIT) return
    const line = consoleLine(message)
    if (line === undefined) return
    lines.push(
      lines.length < LINE_LIMIT ? line : { ...line, text: 'too many lines: the rest is left out' },
    )
  }
  evm.events.on('beforeMessage', onMessage)
  const stop = (): void => {
    evm.events.off('beforeMessage', onMessage)
    detach?.()
  }
  return { lines, stop }
}

function consoleLine(message: Message): ConsoleLine | undefined {
  if (targetOf(message) !== CONSOLE_ADDRESS) return undefined
  const text = formatConsoleCall(message.data)
  return text === undefined ? undefined : { address: addressFromBytes(message.caller.bytes), text }
}
