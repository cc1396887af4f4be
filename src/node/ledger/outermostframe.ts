// The outermost call frame of a mined transaction, from its receipt and record.
import { revertText } from '../../evm/reasons.ts'
import type { CallFrame } from '../../evm/tracers/calls.ts'
import type { ExecutedTransaction } from './blockrecord.ts'

/** As a call tracer reports it, but without inner frames. Undefined `logsBefore` omits logs. */
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
