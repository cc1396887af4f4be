// Keeps revert data of creations that starts with 0xef. The library rejects it as code, but EIP-3541 concerns only deployed
// code, and custom errors may start so.
import type { EVM } from '@ethereumjs/evm'

/** EIP-3541 rejects code that starts with it. */
const FORMAT = 0xef

export function keepRevertData(evm: EVM): void {
  /** The real data by the substitute that the library sees. */
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
