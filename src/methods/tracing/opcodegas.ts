// Gas by operation as text.
import { recordOpcodeGas } from '../../evm/tracers/opcodegas.ts'
import type { Recorder } from './tracers.ts'

/** `{transactionHash, opcodeGas: [{opcode, count, gasUsed}]}`: alloy's TransactionOpcodeGas (rpc-types-trace). */
export const opcodeGasRecorder: Recorder = ({ writer, place }) => {
  const { tracer, byOpcode } = recordOpcodeGas()
  return {
    tracer,
    write: async () => {
      const entries = [...byOpcode].map(([opcode, { count, gasUsed }]) => ({
        opcode,
        count,
        gasUsed: Number(gasUsed),
      }))
      writer.value({ transactionHash: place?.transactionHash ?? null, opcodeGas: entries })
    },
  }
}
