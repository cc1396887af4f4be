// How far the transactions of a chain's blocks may go.
import type { ExecutionLimits } from '../../evm/executor.ts'
import type { ChainConfig } from '../ledger/chainstate.ts'

/**
 * The limits of transactions in blocks. Under the rules of a network gas alone bounds memory: another bound would make
 * another block of the same transactions.
 */
export function blockLimits({ options, ruleset }: ChainConfig): ExecutionLimits {
  return { codeSize: options.codeSizeLimit, memory: ruleset === 'network' ? 'gas' : undefined }
}
