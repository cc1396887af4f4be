// Keeps the revert data of creations that begins with 0xef. The library's EVM refuses it as code that may not be deployed,
// but EIP-3541 speaks of code alone, and a custom error may begin so.
import type { EVM } from '@ethereumjs/evm'

/** What EIP-3541 keeps from being deployed begins with it. */
const FORMAT = 0xef

/** Makes creations revert with their data, whatever it begins with. */
export function keepRevertData(evm: EVM): void {
  /** The data, by what the library is shown in its place. */
  const kept = new WeakMap<Uint8Array, Uint8Array>()
  // biome-ignore-start lint/complexity/useLiteralKeys: they are protected, and the library has no other door for this
  const runInterpreter = evm['runInterpreter'].bind(evm)
  const executeCreate = evm['_executeCreate'].bind(evm)
  evm['runInterpreter'] = async (message, options) => {
    const result = await runInterpreter(message, options)
    const { exceptionError, returnValue } = result
    const isMistaken = message.isCreate && exceptionError !== undefined && returnValue[0] === FORMAT
    if (!isMistaken) return result
    const shown = new Uint8Array(returnValue.length)
    kept.set(shown, returnValue)
    return { ...result, returnValue: shown }
  }
  evm['_executeCreate'] = async (message) => {
    const result = await executeCreate(message)
    const { execResult } = result
    execResult.returnValue = kept.get(execResult.returnValue) ?? execResult.returnValue
    return result
  }
  // biome-ignore-end lint/complexity/useLiteralKeys: as above
}
