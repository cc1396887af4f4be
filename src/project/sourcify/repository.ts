// Verified contracts: deployed code that matches the project's artifacts, with its sources.
import { type Address, bytesFromHex, type Hex } from '../../core/hex.ts'
import type { Artifacts } from '../artifacts.ts'
import type { Alike } from '../code/catalogue.ts'
import { maskedMetadata, withoutMetadata } from '../code/shape.ts'
import { isObject, text } from '../reading/formats.ts'
import { type Compiled, CompiledReader } from './compiled.ts'

export type RpcCaller = (method: string, ...params: readonly unknown[]) => Promise<unknown>

/** How code matches: with its metadata, or without. */
export type Quality = 'exact_match' | 'match'

export interface Verified {
  readonly address: Address
  readonly code: Hex
  readonly runtimeMatch: Quality
  readonly compiled: Compiled
}

export interface CreationInfo {
  /** Undefined if no transaction created it, or one that called another contract. */
  readonly creationMatch: Quality | undefined
  readonly deployment: Deployment | undefined
  /** Constructor arguments after the creation code; undefined if unknown. */
  readonly constructorArguments: Hex | undefined
}

interface Deployment {
  readonly transactionHash: string
  readonly blockNumber: string
  readonly transactionIndex: string
  readonly deployer: string
  /** The creation input; undefined if another contract created it. */
  readonly input: Hex | undefined
}

export interface Unverified {
  readonly code: 'contract_not_deployed' | 'no_match' | 'missing_source'
  readonly message: string
}

export interface CodeMatches extends Alike {
  readonly code: Hex
}

export class Repository {
  readonly artifacts: Artifacts
  readonly #rpc: RpcCaller
  readonly #reader: CompiledReader

  constructor(artifacts: Artifacts, rpc: RpcCaller) {
    this.artifacts = artifacts
    this.#rpc = rpc
    this.#reader = new CompiledReader(artifacts)
  }

  /** The newest artifact with the code and all its sources. */
  async find(address: Address): Promise<Verified | Unverified> {
    const matches = await this.matches(address)
    if ('message' in matches) return matches
    return this.firstOf(address, matches, (compiled) => {
      const { missing, contract } = compiled
      if (missing.length === 0) return compiled
      const name = this.artifacts.catalogue.nameOf(contract)
      const message = `${missing.join(', ')} of ${name} is missing or differs from the compiled source`
      return missingSource(message)
    })
  }

  /** The first of some contracts. @param accept gives it with its sources, or says why it is not the one */
  firstOf(
    address: Address,
    { code, contracts, isExact }: CodeMatches,
    accept: (compiled: Compiled) => Compiled | Unverified,
  ): Verified | Unverified {
    let why: Unverified | undefined
    for (const contract of contracts) {
      const found = this.#reader.of(contract)
      const name = this.artifacts.catalogue.nameOf(contract)
      const compiled =
        found === undefined
          ? missingSource(`the artifact of ${name} has no compiler metadata`)
          : accept(found)
      if (!('message' in compiled)) {
        return { address, code, runtimeMatch: isExact ? 'exact_match' : 'match', compiled }
      }
      why ??= compiled
    }
    return why ?? unknownCode(address)
  }

  async codeAt(address: Address): Promise<Hex> {
    return (await this.#rpc('eth_getCode', address, 'latest')) as Hex
  }

  async matches(address: Address): Promise<CodeMatches | Unverified> {
    const code = await this.codeAt(address)
    if (code === '0x') {
      return { code: 'contract_not_deployed', message: `there is no code at ${address}` }
    }
    const bytes = bytesFromHex(code)
    const alike = this.artifacts.catalogue.alike(bytes)
    if (alike === undefined) return unknownCode(address)
    const isExact = alike.isExact && hasMetadataHash(bytes)
    return { ...alike, code, isExact }
  }

  async creationOf({ address, compiled, runtimeMatch }: Verified): Promise<CreationInfo> {
    const deployment = await deploymentOf(this.#rpc, address)
    const created =
      deployment?.input && this.artifacts.catalogue.creation(bytesFromHex(deployment.input))
    const isSame = created && (created.isGuess || created.contract.name === compiled.contract.name)
    if (!isSame) return { deployment, creationMatch: undefined, constructorArguments: undefined }
    const rest = deployment?.input?.slice(2 + 2 * created.argumentsAt) ?? ''
    return { deployment, creationMatch: runtimeMatch, constructorArguments: `0x${rest}` }
  }
}

function unknownCode(address: Address): Unverified {
  return noMatch(
    `no artifact matches the code at ${address}: compile the project, or pass its artifacts with --artifacts`,
  )
}

export function noMatch(message: string): Unverified {
  return { code: 'no_match', message }
}

export function missingSource(message: string): Unverified {
  return { code: 'missing_source', message }
}

/** True if the code has a metadata hash; without it, other sources may give the same code. */
function hasMetadataHash(code: Uint8Array): boolean {
  const body = withoutMetadata(code)
  if (body === undefined) return false
  const tail = Buffer.from(code.subarray(body.length))
  return maskedMetadata(tail) !== tail
}

/** Undefined if no transaction created the contract, or the search would take too long. */
async function deploymentOf(rpc: RpcCaller, address: Address): Promise<Deployment | undefined> {
  try {
    const created = await rpc('ots_getContractCreator', address)
    if (!isObject(created)) return undefined
    const sent = await rpc('eth_getTransactionByHash', created.hash)
    if (!isObject(sent)) return undefined
    return {
      transactionHash: text(created.hash),
      blockNumber: String(Number(sent.blockNumber)),
      transactionIndex: String(Number(sent.transactionIndex)),
      deployer: text(created.creator),
      input: sent.to === null ? (sent.input as Hex) : undefined,
    }
  } catch {
    return undefined
  }
}
