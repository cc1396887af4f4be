// Limits of a chain: of executions, and of a transaction's gas.
import type { ExecutionLimits } from '../../evm/executor.ts'
import { type Hardfork, isAtLeast } from '../../protocol/forks.ts'
import { hasGasCap, TRANSACTION_GAS_CAP } from '../../protocol/transactions/transactionrules.ts'
import type { ChainConfig, Settings } from '../ledger/chainstate.ts'

/** Under a network's rules gas alone bounds memory: another bound would make other blocks. */
export function blockLimits(config: ChainConfig): ExecutionLimits {
  return { ...callLimits(config), memory: config.ruleset === 'network' ? 'gas' : undefined }
}

export function callLimits({ options }: ChainConfig): ExecutionLimits {
  return { codeSize: options.codeSizeLimit, rip7212: options.rip7212 }
}

const USUAL_GAS = 90_000n

/** Gas of a send that names none. With state gas, a transfer to a new account alone needs 204,600. */
export function usualGas(
  { defaultGas }: Pick<Settings, 'defaultGas'>,
  hardfork: Hardfork,
): bigint | 'estimate' {
  return defaultGas ?? (isAtLeast(hardfork, 'amsterdam') ? 'estimate' : USUAL_GAS)
}

/** Highest gas limit of one transaction, set or of the hardfork (EIP-7825); undefined: none. */
export function transactionGasCap(
  { options, behaviour }: Pick<ChainConfig, 'options' | 'behaviour'>,
  hardfork: Hardfork,
): bigint | undefined {
  const isCapped = behaviour.capsTransactionGas && hasGasCap(hardfork)
  return options.txGasCap ?? (isCapped ? TRANSACTION_GAS_CAP : undefined)
}
