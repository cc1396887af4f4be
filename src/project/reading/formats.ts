// Artifact formats of Foundry, Hardhat 2 and 3, Truffle and the compiler.
import { isObject, type UnknownMembers as JsonObject } from '../../core/objects.ts'
import type { FoundCode, Hole } from '../code/shape.ts'
import type { ContractSummary } from './summary.ts'

type Facts = Pick<ContractSummary, 'name' | 'source' | 'format' | 'sourceId'>

export interface FoundContract extends Facts {
  readonly abi: readonly unknown[]
  readonly creation: FoundCode
  readonly runtime: FoundCode
}

/** Unchecked JSON; each member is checked where it is used. */
export { isObject, type JsonObject }

/**
 * @param name the file name without extension: the contract's name if nothing else gives it
 * @returns undefined if the file is no artifact
 */
export function contractsIn(json: unknown, name: string): readonly FoundContract[] | undefined {
  if (Array.isArray(json)) return isAbi(json) ? [bareAbi(json, name)] : undefined
  if (!isObject(json)) return undefined
  const output = isObject(json.output) ? json.output : json
  if (isObject(output.contracts)) return compilerContracts(output)
  if (!Array.isArray(json.abi) || !isAbi(json.abi)) return undefined
  if (typeof json.contractName === 'string') {
    const facts = typeof json._format === 'string' ? hardhatFacts(json) : truffleFacts(json)
    return [contractOf(facts, json)]
  }
  return isObject(json.deployedBytecode) || isObject(json.bytecode)
    ? [contractOf(foundryFacts(json, name), json)]
    : [bareAbi(json.abi, name)]
}

/** The member at a path; undefined if there is none. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((each, name) => (isObject(each) ? each[name] : undefined), value)
}

export function entriesOf(value: unknown): (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : []
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isAbi(list: readonly unknown[]): boolean {
  return list.every((item) => isObject(item) && typeof item.type === 'string')
}

/** @param json has codes as hex with references beside them, or as objects with both */
function contractOf(
  facts: Facts,
  { abi, bytecode, deployedBytecode, immutableReferences }: JsonObject,
): FoundContract {
  const references = immutableReferences ?? member(deployedBytecode, 'immutableReferences')
  return {
    ...facts,
    abi: Array.isArray(abi) ? abi : [],
    creation: { object: hexOf(bytecode), references: [] },
    runtime: { object: hexOf(deployedBytecode), references: immutables(references) },
  }
}

function hexOf(code: unknown): string {
  return text(isObject(code) ? code.object : code)
}

function bareAbi(abi: readonly unknown[], name: string): FoundContract {
  return contractOf({ name, source: '', format: 'abi', sourceId: undefined }, { abi })
}

/** `out/Vault.sol/Vault.json` */
function foundryFacts(json: JsonObject, file: string): Facts {
  const target = member(json.metadata, 'settings', 'compilationTarget')
  const [[source, name] = ['', file]] = entriesOf(target)
  // Foundry adds the compiler version if a contract is compiled twice: Vault.0.8.20.json
  const plain = String(name).replace(/\.\d+\.\d+\.\d+$/, '')
  return { name: plain, source, format: 'foundry', sourceId: numberOf(json.id) }
}

/** `artifacts/contracts/Vault.sol/Vault.json` */
function hardhatFacts({ contractName, _format, inputSourceName, sourceName }: JsonObject): Facts {
  return {
    name: String(contractName),
    source: String(inputSourceName ?? sourceName ?? ''),
    format: String(_format).startsWith('hh3') ? 'hardhat3' : 'hardhat2',
    sourceId: undefined,
  }
}

/** `build/contracts/Vault.json` */
function truffleFacts({ contractName, sourcePath, ast }: JsonObject): Facts {
  const [, , index] = text(member(ast, 'src')).split(':')
  const sourceId = index === undefined ? undefined : numberOf(Number(index))
  return { name: String(contractName), source: text(sourcePath), format: 'truffle', sourceId }
}

/** Standard JSON output, or `--combined-json`, whose names include the source. */
function compilerContracts(output: JsonObject): readonly FoundContract[] {
  return entriesOf(output.contracts).flatMap(([key, value]) => {
    if (!isObject(value)) return []
    if ('abi' in value || 'bin' in value) return [combinedContract(key, value)]
    const sourceId = numberOf(member(output.sources, key, 'id'))
    return entriesOf(value).flatMap(([name, contract]) => {
      if (!isObject(contract)) return []
      const facts = { name, source: key, format: 'compiler', sourceId } as const
      const { abi, evm } = contract
      return contractOf(facts, { ...(isObject(evm) && evm), abi })
    })
  })
}

function combinedContract(key: string, contract: JsonObject): FoundContract {
  const at = key.lastIndexOf(':')
  const name = key.slice(at + 1)
  const source = key.slice(0, Math.max(at, 0))
  const { abi } = contract
  return contractOf(
    { name, source, format: 'compiler', sourceId: undefined },
    {
      abi: typeof abi === 'string' ? JSON.parse(abi) : abi,
      bytecode: contract.bin,
      deployedBytecode: contract['bin-runtime'],
    },
  )
}

/** `{"26": [{"start": 298, "length": 32}]}` */
function immutables(references: unknown): Hole[] {
  if (!isObject(references)) return []
  return Object.values(references)
    .flatMap((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []))
    .filter(isObject)
    .map(({ start, length }) => ({ start: Number(start), length: Number(length) }))
    .filter(({ start, length }) => start >= 0 && length > 0)
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined
}
