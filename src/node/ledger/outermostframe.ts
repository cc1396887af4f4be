// The outermost frame of a mined transaction, as far as what is kept of it tells.
import { revertText } from '../../evm/reasons.ts'
import type { CallFrame } from '../../evm/tracers/calls.ts'
import type { ExecutedTransaction } from './blockrecord.ts'

/**
 * The frame as a run under a tracer of calls would tell it, with the gas of the whole transaction and without the frames that
 * it opened: all logs are its own.
 * @param logsBefore logs of the block before those of the transaction; undefined: without logs
 */
export function outermostFrame(
  { transaction, receipt, output, failure }: ExecutedTransaction,
  logsBefore: number | undefined,
): CallFrame {
  const { from, to, value, gasLimit, data } = transaction
  const logs = logsBefore === undefined ? [] : receipt.logs
  return {
    kind: to === null ? 'CREATE' : 'CALL',
    from,
    to: to ?? (failure === undefined ? receipt.contractAddress : null),
    value,
    gas: gasLimit,
    gasUsed: receipt.gasUsed,
    input: data,
    output,
    failure,
    revertText: failure?.kind === 'revert' ? revertText(output) : undefined,
    isPrecompile: false,
    calls: [],
    logs: logs.map((log, i) => ({ log, position: 0, index: (logsBefore ?? 0) + i })),
  }
}
