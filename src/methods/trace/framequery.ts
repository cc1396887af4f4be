// The filter of trace_filter: which frames of which blocks.
import type { Address } from '../../core/hex.ts'
import type { CallFrame } from '../../evm/tracers/calls.ts'
import { type BlockReference, latest } from '../../node/ledger/references.ts'
import { address, enumeration, quantityNumber } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { members, oneOrMore, refined } from '../wire/decodeobject.ts'

/** Frames per reply. */
const MAX_COUNT = 10_000

export interface FrameQuery {
  readonly fromBlock: BlockReference
  readonly toBlock: BlockReference
  readonly from: ReadonlySet<Address> | undefined
  readonly to: ReadonlySet<Address> | undefined
  /** With both addresses: whether a frame must match either or both. */
  readonly mode: 'union' | 'intersection'
  /** Frames to skip. */
  readonly after: number
  readonly count: number
  /** False: the request has no `count`, and the default applies. */
  readonly isCountGiven: boolean
}

const known = members('trace filter', {
  fromBlock: blockReference,
  toBlock: blockReference,
  fromAddress: oneOrMore(address),
  toAddress: oneOrMore(address),
  mode: enumeration(['union', 'intersection']),
  after: quantityNumber,
  count: quantityNumber,
})

/**
 * `{fromBlock = earliest, toBlock = latest, fromAddress, toAddress, mode = intersection, after = 0, count = 10000}`.
 * Blocks may be tags; addresses may be one or a list; an empty list means any.
 */
export const frameQuery: Decoder<FrameQuery> = refined(known, (given, path) => {
  const { count = MAX_COUNT } = given
  if (count > MAX_COUNT) throw invalid(`${path}.count`, `at most ${MAX_COUNT} frames`, count)
  return {
    fromBlock: given.fromBlock ?? { kind: 'tag', tag: 'earliest' },
    toBlock: given.toBlock ?? latest,
    from: setOf(given.fromAddress),
    to: setOf(given.toAddress),
    mode: given.mode ?? 'intersection',
    after: given.after ?? 0,
    count,
    isCountGiven: given.count !== undefined,
  }
})

/** A creation's recipient is the new contract, a destruction's is the beneficiary. */
export function matchesFrame({ from, to, mode }: FrameQuery, frame: CallFrame): boolean {
  const isFrom = from?.has(frame.from)
  const isTo = to === undefined ? undefined : frame.to !== null && to.has(frame.to)
  if (isFrom === undefined) return isTo ?? true
  if (isTo === undefined) return isFrom
  return mode === 'union' ? isFrom || isTo : isFrom && isTo
}

/** A reward has no sender. */
export function matchesReward({ from, to, mode }: FrameQuery, author: Address): boolean {
  if (from === undefined) return to?.has(author) ?? true
  return mode === 'union' && to?.has(author) === true
}

function setOf(addresses: readonly Address[] | undefined): ReadonlySet<Address> | undefined {
  return addresses === undefined || addresses.length === 0 ? undefined : new Set(addresses)
}
