// Functions that are known without an artifact, as members of an ABI: their parameters follow from their signatures.
import { functionSignature } from '../../core/abi.ts'
import type { AbiItem } from '../reading/summary.ts'
import type { Parameter } from './decode.ts'

/** What functions return that hand calls on: one list has an answer for each of them. */
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

const known = new Map<string, AbiItem | undefined>()

/** A function that nearly every project meets, by its selector; undefined for one that is not known. */
export function wellKnownFunction(selector: string): AbiItem | undefined {
  const signature = functionSignature(selector)
  if (signature === undefined) return undefined
  const item = known.get(selector) ?? itemOf(signature, selector)
  known.set(selector, item)
  return item
}

function itemOf(signature: string, key: string): AbiItem {
  const at = signature.indexOf('(')
  const name = signature.slice(0, at)
  const inputs = parametersIn(signature.slice(at + 1, -1))
  const json = JSON.stringify({ inputs, outputs: parametersIn(OUTPUTS[name] ?? '') })
  return { kind: 'function', name, signature, key, isPayable: true, json }
}

function parametersIn(types: string): readonly Parameter[] {
  const found: Parameter[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= types.length; at++) {
    if (types[at] === '(') depth += 1
    else if (types[at] === ')') depth -= 1
    if (depth > 0 || (at < types.length && types[at] !== ',')) continue
    if (at > start) found.push(parameterOf(types.slice(start, at)))
    start = at + 1
  }
  return found
}

function parameterOf(type: string): Parameter {
  const [, held, array] = /^\((.*)\)((?:\[\d*\])*)$/.exec(type) ?? []
  if (held === undefined) return { type }
  return { type: `tuple${array}`, components: parametersIn(held) }
}
