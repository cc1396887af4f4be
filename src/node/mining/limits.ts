// Execution limits of a chain.
import type { ExecutionLimits } from '../../evm/executor.ts'
import type { ChainConfig } from '../ledger/chainstate.ts'

/** Under a network's rules gas alone bounds memory: another bound would make other blocks. */
export function blockLimits(config: ChainConfig): ExecutionLimits {
  return { ...callLimits(config), memory: config.ruleset === 'network' ? 'gas' : undefined }
}

export function callLimits({ options }: ChainConfig): ExecutionLimits {
  return { codeSize: options.codeSizeLimit, rip7212: options.rip7212 }
}
