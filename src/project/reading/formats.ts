// The forms of artifacts: what Foundry, Hardhat 2 and 3, Truffle and the compiler itself write for a contract.
import type { Hole } from '../code/shape.ts'
import type { Format } from './summary.ts'

export interface FoundContract {
  readonly name: string
  readonly source: string
  readonly format: Format
  readonly sourceId: number | undefined
  readonly abi: readonly unknown[]
  readonly creation: FoundCode
  readonly runtime: FoundCode
}

/** Code as hex, and where it is filled in later. */
export interface FoundCode {
  readonly object: string
  readonly references: readonly Hole[]
}

/** JSON whose members are looked at one by one. */
export type Loose = { readonly [key: string]: unknown }

const NO_CODE: FoundCode = { object: '', references: [] }

/**
 * The contracts that a file describes.
 * @param name the file's, without its ending: that of a contract where nothing else says it
 * @returns undefined when it is no artifact
 */
export function contractsIn(json: unknown, name: string): readonly FoundContract[] | undefined {
  if (Array.isArray(json)) return isAbi(json) ? [bareAbi(json, name)] : undefined
  if (!isObject(json)) return undefined
  const output = isObject(json.output) ? json.output : json
  if (isObject(output.contracts)) return compilerContracts(output)
  if (!Array.isArray(json.abi) || !isAbi(json.abi)) return undefined
  const artifact = { ...json, abi: json.abi }
  if (typeof json.contractName === 'string') {
    return typeof json._format === 'string'
      ? [hardhatContract(artifact)]
      : [truffleContract(artifact)]
  }
  return isObject(json.deployedBytecode) || isObject(json.bytecode)
    ? [foundryContract(artifact, name)]
    : [bareAbi(artifact.abi, name)]
}

export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

export function entriesOf(value: unknown): (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : []
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

type Artifact = Loose & { readonly abi: readonly unknown[] }

function isAbi(list: readonly unknown[]): boolean {
  return list.every((item) => isObject(item) && typeof item.type === 'string')
}

function bareAbi(abi: readonly unknown[], name: string): FoundContract {
  const shape = { name, source: '', sourceId: undefined, creation: NO_CODE, runtime: NO_CODE }
  return { ...shape, format: 'abi', abi }
}

/** `out/Vault.sol/Vault.json` */
function foundryContract(json: Artifact, file: string): FoundContract {
  const [source = '', name = file] = compilationTarget(json.metadata) ?? []
  return {
    // Foundry adds a version where a contract is compiled twice: Vault.0.8.20.json
    name: name.replace(/\.\d+\.\d+\.\d+$/, ''),
    source,
    format: 'foundry',
    sourceId: numberOf(json.id),
    abi: json.abi,
    creation: compilerCode(json.bytecode),
    runtime: compilerCode(json.deployedBytecode),
  }
}

function compilationTarget(metadata: unknown): readonly [string, string] | undefined {
  const settings = isObject(metadata) ? metadata.settings : undefined
  const target = isObject(settings) ? settings.compilationTarget : undefined
  const [entry] = isObject(target) ? Object.entries(target) : []
  return entry === undefined ? undefined : [entry[0], String(entry[1])]
}

/** `artifacts/contracts/Vault.sol/Vault.json` */
function hardhatContract(json: Artifact): FoundContract {
  const isThird = String(json._format).startsWith('hh3')
  return {
    name: String(json.contractName),
    source: String(json.inputSourceName ?? json.sourceName ?? ''),
    format: isThird ? 'hardhat3' : 'hardhat2',
    sourceId: undefined,
    abi: json.abi,
    creation: { object: text(json.bytecode), references: [] },
    runtime: {
      object: text(json.deployedBytecode),
      references: immutables(json.immutableReferences),
    },
  }
}

/** `build/contracts/Vault.json` */
function truffleContract(json: Artifact): FoundContract {
  const { ast } = json
  const [, , index] = isObject(ast) ? text(ast.src).split(':') : []
  return {
    name: String(json.contractName),
    source: text(json.sourcePath),
    format: 'truffle',
    sourceId: index === undefined ? undefined : numberOf(Number(index)),
    abi: json.abi,
    creation: { object: text(json.bytecode), references: [] },
    runtime: {
      object: text(json.deployedBytecode),
      references: immutables(json.immutableReferences),
    },
  }
}

/** What the compiler answers to standard JSON, and `--combined-json`, which has names with their sources before them. */
function compilerContracts(output: Loose): readonly FoundContract[] {
  const sources = isObject(output.sources) ? output.sources : {}
  return Object.entries(output.contracts as Loose).flatMap(([key, value]) => {
    if (!isObject(value)) return []
    if ('abi' in value || 'bin' in value) return [combinedContract(key, value)]
    const unit = sources[key]
    const sourceId = isObject(unit) ? numberOf(unit.id) : undefined
    return Object.entries(value).flatMap(([name, contract]) =>
      isObject(contract) ? [compilerContract(name, key, sourceId, contract)] : [],
    )
  })
}

function compilerContract(
  name: string,
  source: string,
  sourceId: number | undefined,
  contract: Loose,
): FoundContract {
  const evm = isObject(contract.evm) ? contract.evm : {}
  return {
    name,
    source,
    format: 'compiler',
    sourceId,
    abi: Array.isArray(contract.abi) ? contract.abi : [],
    creation: compilerCode(evm.bytecode),
    runtime: compilerCode(evm.deployedBytecode),
  }
}

function combinedContract(key: string, contract: Loose): FoundContract {
  const at = key.lastIndexOf(':')
  const { abi } = contract
  const list: unknown = typeof abi === 'string' ? JSON.parse(abi) : abi
  return {
    name: key.slice(at + 1),
    source: key.slice(0, Math.max(at, 0)),
    format: 'compiler',
    sourceId: undefined,
    abi: Array.isArray(list) ? list : [],
    creation: { object: text(contract.bin), references: [] },
    runtime: { object: text(contract['bin-runtime']), references: [] },
  }
}

function compilerCode(code: unknown): FoundCode {
  if (!isObject(code)) return NO_CODE
  return { object: text(code.object), references: immutables(code.immutableReferences) }
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
