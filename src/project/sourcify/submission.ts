// Verifies submitted sources against the compilations of the project's artifacts.
import { createHash } from 'node:crypto'
import { listed } from '../../core/format.ts'
import { type Address, bytesFromHex } from '../../core/hex.ts'
import type { Contract } from '../code/catalogue.ts'
import { entriesOf, isObject, type JsonObject, member, text } from '../reading/formats.ts'
import { hashOfText } from '../reading/stamps.ts'
import { type Compiled, targetOf } from './compiled.ts'
import {
  type CodeMatches,
  missingSource,
  noMatch,
  type Repository,
  type Unverified,
  type Verified,
} from './repository.ts'

export interface Submission {
  readonly sources: ReadonlyMap<string, string>
  /** Path and name of the contract; undefined: any contract with the code. */
  readonly target: readonly [source: string, name: string] | undefined
  /** `0.8.30`, with or without its commit; undefined if not given. */
  readonly compilerVersion: string | undefined
  /** The compiler's; undefined if not given. */
  readonly settings: unknown
  /** As the compiler wrote it; undefined if not submitted. */
  readonly metadata: { readonly text: string; readonly value: JsonObject } | undefined
}

/** There is no compiler: a submitted contract is verified if it equals the artifacts' compilation. */
export async function verify(
  repository: Repository,
  address: Address,
  submission: Submission,
): Promise<Verified | Unverified> {
  const found = await repository.matches(address)
  if ('message' in found) {
    if (found.code !== 'no_match' || submission.metadata === undefined) return found
    const code = await repository.codeAt(address)
    const value = vouchedFor(code, submission, submission.metadata)
    if ('message' in value) return value
    repository.artifacts.addValue(value.artifact, `verified at ${address}`)
    return await repository.find(address)
  }
  return held(repository, found, address, submission)
}

function held(
  repository: Repository,
  matches: CodeMatches,
  address: Address,
  submission: Submission,
): Verified | Unverified {
  const contracts = matches.contracts.filter((each) => isMeant(each, submission.target))
  if (contracts.length === 0) {
    const names = listed(matches.contracts.map(({ source, name }) => `${source}:${name}`))
    return noMatch(`the code at ${address} matches ${names}, not ${submission.target?.join(':')}`)
  }
  const accept = (compiled: Compiled): Compiled | Unverified =>
    differenceTo(compiled, submission) ?? withSources(compiled, submission)
  return repository.firstOf(address, { ...matches, contracts }, accept)
}

function isMeant({ name, source }: Contract, target: Submission['target']): boolean {
  if (target === undefined) return true
  // tools prefix paths: project/src/Vault.sol, project:/src/Vault.sol
  const [path, wanted] = target
  return name === wanted && (source.endsWith(path) || path.endsWith(source))
}

/** Why the submission cannot give the artifact's code; undefined if it can. */
function differenceTo({ metadata }: Compiled, submission: Submission): Unverified | undefined {
  const changed = missingIn(submittedSources(metadata, submission))
  const absent = changed.filter((name) => !submission.sources.has(name))
  if (absent.length > 0) return missingSource(`${listed(absent)} is missing among the sources`)
  if (changed.length > 0) return noMatch(`${listed(changed)} differs from the compiled source`)
  return differentSetting(metadata, submission)
}

type Content = readonly [name: string, content: string | undefined]

/** Submitted contents by the metadata's paths; undefined where no content has the compiled hash. */
function submittedSources({ sources }: JsonObject, submission: Submission): readonly Content[] {
  const byHash = new Map([...submission.sources.values()].map((each) => [hashOfText(each), each]))
  return entriesOf(sources).map(([name, each]) => [
    name,
    byHash.get(text(member(each, 'keccak256'))),
  ])
}

function missingIn(contents: readonly Content[]): readonly string[] {
  return contents.filter(([, content]) => content === undefined).map(([name]) => name)
}

/** Settings that change code, with the compiler's defaults; undefined: the default depends on the compiler. */
const COMPARED_SETTINGS: readonly (readonly [path: readonly string[], usual: unknown])[] = [
  [['evmVersion'], undefined],
  [['viaIR'], false],
  [['optimizer', 'enabled'], false],
  [['optimizer', 'runs'], 200],
]

function differentSetting(metadata: JsonObject, submission: Submission): Unverified | undefined {
  const version = text(member(metadata.compiler, 'version'))
  const given = submission.compilerVersion?.replace(/^v/, '') ?? version
  if (!version.startsWith(given) && !given.startsWith(version)) {
    return noMatch(`the code was compiled by ${version}, not by ${given}`)
  }
  if (submission.settings === undefined) return undefined
  for (const [path, usual] of COMPARED_SETTINGS) {
    const ours = member(metadata.settings, ...path) ?? usual
    const theirs = member(submission.settings, ...path) ?? usual
    if (ours === undefined || theirs === undefined || ours === theirs) continue
    return noMatch(`the code was compiled with ${path.join('.')} ${ours}, not ${theirs}`)
  }
  return undefined
}

/** Submitted sources replace those gone from disk. */
function withSources(compiled: Compiled, submission: Submission): Compiled {
  if (compiled.missing.length === 0) return compiled
  const all = submittedSources(compiled.metadata, submission)
  const sources = new Map(all.map(([name, content = '']) => [name, content]))
  return { ...compiled, sources, missing: [] }
}

/**
 * Builds compiler output for a contract without an artifact: its code ends with the submitted metadata's hash,
 * and the metadata has the hash of each source.
 */
function vouchedFor(
  code: string,
  submission: Submission,
  { text: written, value }: NonNullable<Submission['metadata']>,
): { readonly artifact: JsonObject } | Unverified {
  const texts = [written, JSON.stringify(value), sortedJson(value)]
  if (!texts.some((each) => hasHashOf(code, each))) {
    return noMatch('the code has no artifact and does not end with the hash of this metadata')
  }
  const found = submittedSources(value, submission).map(([name, content]): Content => {
    return [name, text(member(value.sources, name, 'content')) || content]
  })
  const absent = missingIn(found)
  if (absent.length > 0)
    return missingSource(`${listed(absent)} is missing or differs from the compiled source`)
  const [source, name] = targetOf(value)
  const { abi } = (value.output ?? {}) as JsonObject
  const evm = { deployedBytecode: { object: code } }
  const contracts = { [source]: { [name]: { abi, metadata: written, evm } } }
  const sources = Object.fromEntries(found.map(([each, content]) => [each, { content }]))
  return { artifact: { input: { sources, settings: submission.settings }, output: { contracts } } }
}

/** Bytes of a file that is one block to IPFS. */
const ONE_BLOCK = 262_144

/** The CBOR key `ipfs` and the multihash prefix in code. */
const IPFS_KEY = '64697066735822'

function hasHashOf(code: string, content: string): boolean {
  const bytes = Buffer.from(content, 'utf8')
  if (bytes.length > ONE_BLOCK) return false
  const at = code.lastIndexOf(IPFS_KEY)
  return at >= 0 && code.slice(at + IPFS_KEY.length, at + IPFS_KEY.length + 68) === ipfsHash(bytes)
}

/**
 * A file's IPFS multihash (CIDv0).
 * @see https://docs.soliditylang.org/en/latest/metadata.html
 */
function ipfsHash(bytes: Buffer): string {
  const size = varint(bytes.length)
  // a file (type 2), its content, its size
  const file = Buffer.concat([bytesFromHex('0x080212'), size, bytes, bytesFromHex('0x18'), size])
  const block = Buffer.concat([bytesFromHex('0x0a'), varint(file.length), file])
  return `1220${createHash('sha256').update(block).digest('hex')}`
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** With members sorted by name, as the compiler writes metadata. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (!isObject(each)) return each
    return Object.fromEntries(entriesOf(each).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
