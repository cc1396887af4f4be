// ABI members of well-known functions, derived from their signatures, for accounts without artifacts.
import { from } from 'ox/AbiParameters'
import { functionSignature } from '../../core/abi.ts'
import { memoize } from '../../core/lrucache.ts'
import type { AbiItem } from '../reading/summary.ts'
import type { Parameter } from './decode.ts'

const REMEMBERED = 1_000

/** Outputs of functions that forward calls: one result for each call. */
const RESULTS = '(bool,bytes)[]'
const OUTPUTS: Readonly<Record<string, string>> = {
  multicall: 'bytes[]',
  aggregate: 'uint256,bytes[]',
  tryAggregate: RESULTS,
  aggregate3: RESULTS,
  aggregate3Value: RESULTS,
  blockAndAggregate: `uint256,bytes32,${RESULTS}`,
  tryBlockAndAggregate: `uint256,bytes32,${RESULTS}`,
}

/** By selector; undefined if unknown. */
export const wellKnownFunction: (selector: string) => AbiItem | undefined = memoize(
  REMEMBERED,
  (selector) => {
    const signature = functionSignature(selector)
    return signature === undefined ? undefined : itemOf(signature, selector)
  },
)

function itemOf(signature: string, key: string): AbiItem {
  const at = signature.indexOf('(')
  const name = signature.slice(0, at)
  const inputs = parametersIn(signature.slice(at + 1, -1))
  const json = JSON.stringify({ inputs, outputs: parametersIn(OUTPUTS[name] ?? '') })
  return { kind: 'function', name, signature, key, isPayable: true, json }
}

function parametersIn(types: string): readonly Parameter[] {
  return types === '' ? [] : (from(types) as readonly Parameter[])
}
