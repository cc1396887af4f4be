// Views of a verified contract: repository files, and fields of version 2 of the API.
import path from 'node:path'
import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import { entriesOf, isObject, type JsonObject, member, text } from '../reading/formats.ts'
import { hashOfText } from '../reading/stamps.ts'
import type { AbiItem } from '../reading/summary.ts'
import { targetOf } from './compiled.ts'
import type { CreationInfo, Quality, Verified } from './repository.ts'

interface RepositoryFile {
  /** Below the contract's folder: `metadata.json`, `sources/src/Vault.sol`. */
  readonly name: string
  readonly content: string
}

export function filesOf({ compiled }: Verified, creation: CreationInfo): readonly RepositoryFile[] {
  const { metadata, sources, deployedBytecode } = compiled
  const { constructorArguments, deployment } = creation
  const references = member(deployedBytecode, 'immutableReferences')
  const hasReferences = entriesOf(references).length > 0
  const files: readonly (readonly [name: string, content: string | undefined])[] = [
    ['metadata.json', JSON.stringify(metadata)],
    ...[...sources].map(([name, content]) => [`sources/${placeOf(name)}`, content] as const),
    ['constructor-args.txt', constructorArguments === '0x' ? undefined : constructorArguments],
    ['creator-tx-hash.txt', deployment?.transactionHash],
    ['immutable-references.json', hasReferences ? JSON.stringify(references) : undefined],
  ]
  return files.flatMap(([name, content]) => (content === undefined ? [] : { name, content }))
}

/** A path below `sources` that cannot lead out of it. */
function placeOf(name: string): string {
  return path.posix.normalize(`/${name.replaceAll('\\', '/')}`).slice(1)
}

/**
 * A source by its repository path: verbatim, with `_` for `@` and `:` as Otterscan asks, or by the path's
 * hash as in the repository's second form.
 */
export function sourceAt({ compiled }: Verified, name: string): string | undefined {
  for (const [each, content] of compiled.sources) {
    const place = placeOf(each)
    const hash = hashOfText(each)
    const names = [each, place, place.replaceAll(/[@:]/g, '_'), hash, hash.slice(2)]
    if (names.includes(name)) return content
  }
  return undefined
}

/** The match, or that there is none. */
export function matchView(
  chainId: string,
  address: Address,
  runtimeMatch: Quality | null = null,
  creationMatch: Quality | null = null,
): JsonObject {
  const match = runtimeMatch
  return { match, creationMatch, runtimeMatch, chainId, address: checksumAddress(address) }
}

type FieldView = (found: Verified, creation: CreationInfo) => unknown

/** Version 2's fields that are available here, computed on demand; null: not available. */
export const FIELDS: Readonly<Record<string, FieldView>> = {
  matchId: () => null,
  abi: ({ compiled }) => member(compiled.metadata.output, 'abi') ?? null,
  userdoc: ({ compiled }) => member(compiled.metadata.output, 'userdoc') ?? null,
  devdoc: ({ compiled }) => member(compiled.metadata.output, 'devdoc') ?? null,
  metadata: ({ compiled }) => compiled.metadata,
  sources: ({ compiled }) => sourcesView(compiled.sources),
  sourceIds: () => null,
  storageLayout: ({ compiled }) => compiled.storageLayout ?? null,
  transientStorageLayout: () => null,
  additionalInput: () => null,
  compilation: compilationView,
  creationBytecode: ({ compiled }, { deployment }) => ({
    onchainBytecode: deployment?.input ?? null,
    ...codeView(compiled.bytecode),
  }),
  runtimeBytecode: ({ compiled, code }) => ({
    onchainBytecode: code,
    ...codeView(compiled.deployedBytecode),
    immutableReferences: member(compiled.deployedBytecode, 'immutableReferences') ?? null,
  }),
  deployment: (_, { deployment }) => ({
    transactionHash: deployment?.transactionHash ?? null,
    blockNumber: deployment?.blockNumber ?? null,
    transactionIndex: deployment?.transactionIndex ?? null,
    deployer: deployment?.deployer ?? null,
  }),
  signatures: ({ compiled }) => ({
    function: signaturesOf(compiled.contract.abi, 'function'),
    event: signaturesOf(compiled.contract.abi, 'event'),
    error: signaturesOf(compiled.contract.abi, 'error'),
  }),
  stdJsonInput: ({ compiled }) => ({
    language: compiled.metadata.language ?? 'Solidity',
    sources: sourcesView(compiled.sources),
    settings: inputSettings(compiled.metadata.settings),
  }),
  stdJsonOutput: () => null,
  proxyResolution: () => null,
}

function sourcesView(sources: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries([...sources].map(([name, content]) => [name, { content }]))
}

function compilationView({ compiled: { metadata } }: Verified): JsonObject {
  const [source, name] = targetOf(metadata)
  return {
    language: metadata.language ?? 'Solidity',
    compiler: 'solc',
    compilerVersion: text(member(metadata.compiler, 'version')),
    compilerSettings: inputSettings(metadata.settings),
    name,
    fullyQualifiedName: `${source}:${name}`,
  }
}

function codeView(code: unknown): JsonObject {
  const { object, sourceMap, linkReferences } = isObject(code) ? code : {}
  const hex = text(object)
  return {
    recompiledBytecode: hex === '' || hex.startsWith('0x') ? hex || null : `0x${hex}`,
    sourceMap: sourceMap ?? null,
    linkReferences: linkReferences ?? null,
    cborAuxdata: null,
    transformations: null,
    transformationValues: null,
  }
}

function signaturesOf(abi: readonly AbiItem[], kind: AbiItem['kind']): readonly JsonObject[] {
  return abi
    .filter((each) => each.kind === kind)
    .map(({ signature }) => {
      const hash = hashOfText(signature)
      return { signature, signatureHash32: hash, signatureHash4: hash.slice(0, 10) }
    })
}

/** Metadata adds the target to the compiler's settings, and paths to library names. */
function inputSettings(settings: unknown): JsonObject {
  const { compilationTarget, libraries, ...rest } = isObject(settings) ? settings : {}
  const placed: Record<string, Record<string, unknown>> = {}
  for (const [key, address] of entriesOf(libraries)) {
    const at = key.lastIndexOf(':')
    const source = key.slice(0, Math.max(at, 0))
    placed[source] = { ...placed[source], [key.slice(at + 1)]: address }
  }
  return { ...rest, libraries: placed }
}
