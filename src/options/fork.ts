// The options for forks: a part of the table.
import { printValue } from '../core/errors.ts'
import { type Option, type Optional, off } from './option.ts'
import { chainIdentity, count, duration, file, type Type, text, wholes } from './values.ts'

/** An EIP-1193 provider; another devchain is one. */
export interface ForkProvider {
  readonly request: (request: {
    readonly method: string
    readonly params?: readonly unknown[]
  }) => Promise<unknown>
}

export interface ForkChoice {
  /** Nodes of the same chain, tried in order. Empty with a provider or a cassette. */
  readonly urls: readonly string[]
  /** In-process only. */
  readonly provider?: ForkProvider | undefined
  /**
   * A number, a hash, a tag, or a negative number counted back from the newest block. Undefined: the newest block less the
   * reorg depth.
   */
  readonly block: string | undefined
}

/** The form of a fork in programs. */
export interface ForkRequest {
  readonly url?: string | readonly string[] | undefined
  readonly provider?: ForkProvider | undefined
  readonly block?: string | number | bigint | undefined
}

/** A block after `@` in a URL, or from a program. */
const BLOCK = /^(-?\d+|0x[0-9a-fA-F]{1,64}|latest|safe|finalized|earliest)$/

const URL_WITH_BLOCK =
  /^((?:http|ws)s?:\/\/\S+?)(?:@(-?\d+|0x[0-9a-fA-F]{1,64}|latest|safe|finalized|earliest))?$/i

/** Text after the last `@` that is neither a block nor a host: a misspelled block, which would be used as a host or path. */
const URL_WITH_OTHER =
  /^(?:http|ws)s?:\/\/(?:(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[\da-f:.]+\])(?::\d*)?@(?:[\w-]*|-?\d+\.\d+)|[^/]+\/.*[^/]@[\w-]*)$/i

export const FORK_BLOCKS =
  'a block: a number, a hash, a tag (latest, safe, finalized, earliest), or -N for N blocks before the newest'

export function isForkBlock(text: string): boolean {
  return BLOCK.test(text)
}

/** A number or a hash, which names the same block at any time. */
export function namesOneBlock(block: string): boolean {
  return /^(\d|0x)/.test(block)
}

export function isBlockHash(block: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(block)
}

/** @param block as after `@`: only a number or a hash can be another block */
export function isOtherBlock(block = 'latest', number: bigint, hash: string): boolean {
  if (isBlockHash(block)) return block.toLowerCase() !== hash
  return namesOneBlock(block) && BigInt(block) !== number
}

/** Reads `URL[@BLOCK]`; undefined for invalid text. */
export function readForkUrl(text: string): ForkChoice | undefined {
  const read = readTexts([text])
  return read?.urls.length === 1 ? read : undefined
}

function readFork(value: unknown): ForkChoice | undefined {
  if (typeof value === 'string') return readTexts([value])
  if (Array.isArray(value)) return readTexts(value)
  if (typeof value !== 'object' || value === null) return undefined
  const { url, provider, block, ...others } = value as ForkRequest
  if (Object.keys(others).length > 0) return undefined
  const isProvider = typeof provider?.request === 'function'
  if ((provider !== undefined && !isProvider) || (url === undefined) === !isProvider)
    return undefined
  const given = block === undefined ? undefined : String(block)
  if (given !== undefined && !BLOCK.test(given)) return undefined
  if (isProvider) return { urls: [], provider, block: given }
  const list: unknown = typeof url === 'string' ? [url] : url
  if (!Array.isArray(list)) return undefined
  const read = readTexts(list)
  if (read === undefined || (given !== undefined && read.block !== undefined)) return undefined
  return { ...read, block: given ?? read.block }
}

function readTexts(texts: readonly unknown[]): ForkChoice | undefined {
  const parts = texts.flatMap((each) =>
    typeof each === 'string' ? each.split(/,(?=(?:http|ws)s?:)/) : [''],
  )
  const matches = parts.map((part) => URL_WITH_BLOCK.exec(part.trim()))
  const blocks = new Set(matches.flatMap((match) => match?.[2]?.toLowerCase() ?? []))
  const urls = matches.flatMap((match) => match?.[1] ?? [])
  if (urls.some((url) => URL_WITH_OTHER.test(url))) return undefined
  if (urls.length !== parts.length || urls.length === 0 || blocks.size > 1) return undefined
  const [block] = blocks
  return { urls, block }
}

/** Prints a refused value: hosts and blocks, never a key. */
export function showFork(value: unknown): string {
  if (typeof value === 'string') return showText(value)
  if (Array.isArray(value)) return value.map(showFork).join(', ')
  if (typeof value !== 'object' || value === null) return printValue(value)
  const members = Object.entries(value).map(([name, member]) =>
    name.startsWith('block') ? `${name} ${printValue(member)}` : name,
  )
  return `an object with ${members.length === 0 ? 'no members' : members.join(', ')}`
}

function showText(text: string): string {
  const [, scheme = '', authority = '', more = ''] =
    /^([a-z]+:\/\/)?([^/?#]*)(.*)$/is.exec(text.trim()) ?? []
  const at = authority.lastIndexOf('@')
  const host = authority.slice(at + 1)
  // without a scheme this may be a key
  const isHost =
    scheme !== '' ? /^[\w.:[\]-]+$/.test(host) : /^[\w-]+(\.[\w-]+)+(:\d+)?$/.test(host)
  const block = /[^/]@([\w-]{1,12})$/.exec(more)?.[1]
  const path = more.length > 1 ? '/…' : ''
  const shown = `${scheme}${at < 0 ? '' : '…@'}${isHost ? host : '…'}${path}`
  return block === undefined ? shown : `${shown}@${block}`
}

/** Shows header names only. */
function showHeaders(value: unknown): string {
  return [value]
    .flat()
    .map((line) => /^[\w-]+(?=:)/.exec(String(line).trim())?.[0] ?? 'a line without a name and :')
    .join(', ')
}

const forkChoice: Type<ForkChoice> = {
  placeholder: 'URL[@BLOCK]',
  expected:
    'a node URL (http, https, ws or wss), optionally with @ and a block: a number, a hash, a tag, or -N for N blocks before the newest (in a program also {url, block} or {provider, block})',
  read: readFork,
  // URLs may contain keys and are never printed
  print: ({ urls, block }) => `${urls.length} URLs${block === undefined ? '' : ` at ${block}`}`,
  show: showFork,
  repeatable: true,
}

const transactionHash: Type<string> = text(
  'HASH',
  'the hash of a transaction: 0x and 64 hex digits',
  /^0x[0-9a-fA-F]{64}$/,
  (hash) => hash.toLowerCase(),
)

const header = 'a header such as "Authorization: Bearer abc"'

const headers: Type<readonly string[]> = {
  ...wholes('NAME:VALUE', header, /^[\w-]+: ?[^\r\n]+$/),
  print: (lines) => (lines.length === 0 ? 'none' : `${lines.length} headers`),
  show: showHeaders,
}

export class ForkTable {
  readonly fork: Optional<ForkChoice> = {
    type: forkChoice,
    sentence: 'Fork a network at a block; repeat it for fallback URLs',
  }
  readonly forkTransaction: Optional<string> = {
    type: transactionHash,
    sentence: 'Fork the state just before this transaction',
  }
  readonly forkLater: Option<boolean> = off(
    'Queue the transactions after --fork-transaction (not itself) in the pool; needs --chain-id remote',
  )
  readonly forkChainId: Optional<bigint> = {
    type: chainIdentity,
    sentence: 'Chain id that the network must have; with it, a cached block starts offline',
  }
  readonly forkHeader: Option<readonly string[]> = {
    type: headers,
    sentence: 'HTTP header for requests to the forked network (ws: for the handshake); repeatable',
    default: [],
  }
  /** Milliseconds. */
  readonly forkTimeout: Option<number> = {
    type: duration,
    sentence: 'Timeout of one request to the forked network, at most --fork-max-wait',
    default: 30_000,
  }
  readonly forkRetries: Option<number> = {
    type: count('NUMBER', 0, 100),
    sentence: 'Number of retries of a failed request',
    default: 5,
  }
  /** Milliseconds. */
  readonly forkMaxWait: Option<number> = {
    type: duration,
    sentence: 'Fail a call after this long without data from the network',
    default: 8_000,
  }
  readonly noForkCache: Option<boolean> = off('Do not cache fetched state on disk')
  readonly forkProofs: Option<boolean> = off(
    "Verify accounts and slots against the block's state root (eth_getProof)",
  )
  readonly forkRecord: Optional<string> = {
    type: file,
    sentence: 'Record everything fetched in a file, for --fork-replay',
  }
  readonly forkReplay: Optional<string> = {
    type: file,
    sentence: 'Fork from a recording (--fork-record), without network',
  }
}
