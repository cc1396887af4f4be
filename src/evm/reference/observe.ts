// Watching a run of the library's engine: for a tracer, and for what contracts print on the console.
import type { EVM, Message } from '@ethereumjs/evm'
import { CONSOLE_ADDRESS } from '../../core/abi.ts'
import { addressFromBytes } from '../../core/hex.ts'
import type { MachineJob } from '../machine.ts'
import { targetOf, watch } from './steptracer.ts'

/**
 * Attaches listeners to an engine: one to each message for the console, and what the tracer asks for.
 * @returns takes the listeners off
 */
export function observe(evm: EVM, job: MachineJob): () => void {
  const detach = watch(evm, job)
  const onMessage = (message: Message): void => {
    if (targetOf(message) !== CONSOLE_ADDRESS) return
    job.onConsole(addressFromBytes(message.caller.bytes), message.data)
  }
  evm.events.on('beforeMessage', onMessage)
  return () => {
    evm.events.off('beforeMessage', onMessage)
    detach()
  }
}
