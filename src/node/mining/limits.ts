// How far the code of a chain may go.
import type { ExecutionLimits } from '../../evm/executor.ts'
import type { ChainConfig } from '../ledger/chainstate.ts'

/**
 * The limits of transactions in blocks. Under the rules of a network gas alone bounds memory: another bound would make
 * another block of the same transactions.
 */
export function blockLimits(config: ChainConfig): ExecutionLimits {
  return { ...callLimits(config), memory: config.ruleset === 'network' ? 'gas' : undefined }
}

/** The limits of what is run and kept nowhere. */
export function callLimits({ options }: ChainConfig): ExecutionLimits {
  return { codeSize: options.codeSizeLimit, rip7212: options.rip7212 }
}
