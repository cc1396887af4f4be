// Limits memory of the library's EVM, as much gas would allow gigabytes.

import type { EVM } from '@ethereumjs/evm'
import { EVMError, type Message } from '@ethereumjs/evm'
import { MEMORY_LIMIT_REASON } from '../machine.ts'

const WORD = 32

interface MemoryBound {
  limit: number
}

/** Halts frames that exceed the limit. Missing gas takes precedence. */
export function boundMemory(evm: EVM): MemoryBound {
  const bound: MemoryBound = { limit: Number.POSITIVE_INFINITY }
  const words: number[] = []
  evm.events.on('beforeMessage', ({ depth }: Message) => {
    words.length = depth
    words.push(0)
  })
  // biome-ignore lint/complexity/useLiteralKeys: it is protected, and the library has no other door for this
  const operations = evm['_opcodeMap']
  for (const [opcode, entry] of operations.entries()) {
    if (entry === undefined || !entry.opcodeInfo.dynamicGas) continue
    const { gasHandler } = entry
    operations[opcode] = {
      ...entry,
      gasHandler: async (runState, baseGas, common) => {
        const before = runState.memoryWordCount
        const gas = await gasHandler(runState, baseGas, common)
        if (runState.memoryWordCount === before) return gas
        const { depth } = runState.env
        words.length = depth + 1
        words[depth] = Number(runState.memoryWordCount)
        const total = words.reduce((sum, count) => sum + count, 0)
        if (total * WORD > bound.limit && gas <= runState.gasLeft) throw memoryLimitError()
        return gas
      },
    }
  }
  return bound
}

/** The library lacks this error, but passes on any text. */
function memoryLimitError(): EVMError {
  const error: { error: string } = new EVMError(EVMError.errorMessages.OUT_OF_GAS)
  error.error = MEMORY_LIMIT_REASON
  return error as EVMError
}
