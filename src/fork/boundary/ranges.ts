// Asks for the logs of many blocks in ranges that a network accepts: each service words its limit differently.
import { limitExceeded } from '../../core/errors.ts'
import { quantityFromBigint } from '../../core/hex.ts'
import { type Cancellation, throwIfCancelled } from '../../evm/cancellation.ts'
import { MAX_LOGS } from '../../node/events/logs.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import type { Json } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import type { UpstreamError } from '../client/provider.ts'
import { isObject, type JsonObject, unexpected } from '../network/answers.ts'

export type Filter = JsonObject

export interface NumberRange {
  readonly from: bigint
  readonly to: bigint
}

export function within(filter: Filter, { from, to }: NumberRange): Filter {
  return { ...filter, fromBlock: quantityFromBigint(from), toBlock: quantityFromBigint(to) }
}

/** Ranges in one batch, once the network's limit is known. */
const TOGETHER = 16

const MOST_ASKED = 10_000

/** The limits, in blocks, that networks have reported. */
const widths = new WeakMap<Upstream, bigint>()

/** @throws {DevchainError} `LIMIT_EXCEEDED` for too many logs or requests, `CANCELLED` */
export async function logsBetween(
  upstream: Upstream,
  filter: Filter,
  whole: NumberRange,
  cancellation?: Cancellation,
): Promise<readonly Json[]> {
  const logs: Json[] = []
  const search = { upstream, filter, whole, width: widthOf(whole), most: 0, asked: 0 }
  let next = whole.from
  while (next <= whole.to) {
    throwIfCancelled(cancellation)
    for (const [range, found] of await askRound(search, next)) {
      if (found instanceof RefusedByUpstream) {
        search.width = narrower(upstream, found, range)
        break
      }
      for (const log of found) logs.push(log)
      requireFew(logs.length, whole)
      search.most = Math.max(search.most, found.length)
      if (found.length * 2 <= search.most) search.width *= 2n
      next = range.to + 1n
    }
  }
  return logs
}

interface Search {
  readonly upstream: Upstream
  readonly filter: Filter
  readonly whole: NumberRange
  /** Blocks of the next range. */
  width: bigint
  most: number
  asked: number
}

function widthOf({ from, to }: NumberRange): bigint {
  return to - from + 1n
}

/** Asks for the next range, or for several if the network reported its limit. */
async function askRound(
  search: Search,
  next: bigint,
): Promise<readonly (readonly [NumberRange, readonly Json[] | RefusedByUpstream])[]> {
  const { upstream, filter, whole } = search
  const known = widths.get(upstream)
  if (known !== undefined && known < search.width) search.width = known
  const { width } = search
  const count = known === width ? TOGETHER : 1
  const ranges = Array.from({ length: count }, (_, index) => next + BigInt(index) * width)
    .filter((from) => from <= whole.to)
    .map((from) => ({ from, to: from + width - 1n < whole.to ? from + width - 1n : whole.to }))
  requireAffordable(search, next)
  search.asked += ranges.length
  return Promise.all(ranges.map(async (range) => [range, await ask(upstream, filter, range)]))
}

async function ask(
  upstream: Upstream,
  filter: Filter,
  range: NumberRange,
): Promise<readonly Json[] | RefusedByUpstream> {
  try {
    return await upstream.peek('eth_getLogs', [within(filter, range)], readLogs)
  } catch (error) {
    if (error instanceof RefusedByUpstream && isTooMuch(error.upstream, range)) return error
    throw error
  }
}

export function readLogs(answer: unknown): readonly Json[] {
  if (Array.isArray(answer) && answer.every(isObject)) return answer
  throw unexpected('logs', answer)
}

/** Blocks of the next range after a refusal. Remembers a permanent limit of the network. */
function narrower(
  upstream: Upstream,
  { upstream: error }: RefusedByUpstream,
  range: NumberRange,
): bigint {
  const hint = hintIn(error, range)
  if (hint?.isLasting === true) widths.set(upstream, hint.width)
  return hint?.width ?? widthOf(range) / 2n
}

function requireFew(count: number, { from, to }: NumberRange): void {
  if (count <= MAX_LOGS) return
  const message = `more than ${MAX_LOGS} logs match between the blocks ${from} and ${to}: ask for fewer blocks`
  throw limitExceeded(message)
}

function requireAffordable({ upstream, whole, width, asked }: Search, next: bigint): void {
  const left = (whole.to - next) / width + 1n
  const isKnown = widths.get(upstream) === width
  if (asked < MOST_ASKED && !(isKnown && left > BigInt(MOST_ASKED))) return
  const message = `${upstream.facts().name} returns logs of ${width} blocks at a time: blocks ${whole.from} to ${whole.to} need more than ${MOST_ASKED} requests; ask for fewer blocks`
  throw limitExceeded(message)
}

/** Words with which services refuse a range that is too wide or has too many logs. */
const TOO_MUCH_WORDS =
  /range|too many|limit|exceed|more than|larger|results|timeout|timed out|size|distance/i

function isTooMuch(error: UpstreamError, range: NumberRange): boolean {
  return range.from < range.to && TOO_MUCH_WORDS.test(error.message)
}

export interface RangeHint {
  /** Blocks. */
  readonly width: bigint
  /** True: for any range; false: for the refused range only. */
  readonly isLasting: boolean
}

/**
 * Parses the range limit from an error message; undefined: none is named.
 *
 * "Try with this block range [0x1, 0x64]" (Infura, and its `data`), "this block range should work: [0x1, 0x64]"
 * (Alchemy), "retry with the range 1-100" (reth), "limited to a 10,000 range" (QuickNode), "exceed maximum block
 * range: 50000" (bsc, publicnode), "range 100000 exceeds limit of 10000" (Infura), "ranges over 10000 blocks are not
 * supported" (dRPC), "up to a 2K block range".
 */
export function hintIn(error: UpstreamError, range: NumberRange): RangeHint | undefined {
  const proposed = proposedIn(error, range)
  const lasting = lastingIn(error, range)
  // a proposed range fits the refused one
  if (proposed !== undefined) return { width: proposed, isLasting: proposed === lasting }
  return lasting === undefined ? undefined : { width: lasting, isLasting: true }
}

const PROPOSED = [
  /\[\s*(0x[0-9a-f]{1,16})\s*,\s*(0x[0-9a-f]{1,16})\s*\]/i,
  /try[^\d]{1,40}(\d{1,16})\s*-\s*(\d{1,16})/i,
]

/** Blocks of a proposed range that lies within the refused one. */
function proposedIn({ message, data }: UpstreamError, range: NumberRange): bigint | undefined {
  const { from, to } = (data ?? {}) as { readonly from?: unknown; readonly to?: unknown }
  const named = PROPOSED.map((words) => words.exec(message)?.slice(1))
  for (const pair of [...named, [from, to]]) {
    if (pair === undefined || !pair.every(isNumber)) continue
    const [first, last] = pair.map((each) => BigInt(String(each))) as [bigint, bigint]
    const isNarrower = last - first < range.to - range.from
    if (first >= range.from && last >= first && isNarrower) return last - first + 1n
  }
  return undefined
}

function isNumber(value: unknown): boolean {
  return typeof value === 'string' && /^(0x[0-9a-fA-F]{1,16}|\d{1,16})$/.test(value)
}

/** Excludes numbers that count logs, seconds or bytes. */
const COUNTS =
  /(?<![\w.,-]|results? )(\d[\d,_]*)(k?)\b(?! ?(?:results?|logs?|events?|entries|s\b|sec|ms\b|min|[kmg]?b\b|bytes?|param|address|topics?|cu\b|credits?))/gi

/** The largest number in the message that is below the refused width. */
function lastingIn({ message }: UpstreamError, range: NumberRange): bigint | undefined {
  if (!/block|range|distance|size/i.test(message)) return undefined
  const counts = [...message.matchAll(COUNTS)]
    .map(([, digits, thousands]) => {
      const count = BigInt(digits!.replace(/[,_]/g, ''))
      return thousands === '' ? count : count * 1_000n
    })
    .filter((count) => count > 0n && count < range.to - range.from)
    .filter((count) => count !== range.from && count !== range.to)
  return counts.sort((a, b) => (a < b ? -1 : 1)).at(-1)
}
