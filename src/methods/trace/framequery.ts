// The filter of trace_filter: which frames of which blocks.
import { DevchainError } from '../../core/errors.ts'
import type { Address } from '../../core/hex.ts'
import type { CallFrame } from '../../evm/tracers/calls.ts'
import { type BlockReference, latest } from '../../node/ledger/references.ts'
import { address, enumeration, quantityNumber } from '../../rpc/primitives.ts'
import type { Decoder } from '../../rpc/schema.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { members, oneOrMore, refined } from '../wire/decodeobject.ts'

/** Frames that one request is answered at most. */
const MAX_COUNT = 10_000

/** Which frames are wanted. */
export interface FrameQuery {
  readonly fromBlock: BlockReference
  readonly toBlock: BlockReference
  readonly from: ReadonlySet<Address> | undefined
  readonly to: ReadonlySet<Address> | undefined
  /** Given both addresses: whether a frame must match either or both. */
  readonly mode: 'union' | 'intersection'
  /** Frames that are skipped. */
  readonly after: number
  readonly count: number
  /** False: the request names no `count`, and ours bounds it. */
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
 * Blocks may be tags; addresses may be one or a list, of which an empty one means any.
 */
export const frameQuery: Decoder<FrameQuery> = refined(known, (given, path) => {
  const { count = MAX_COUNT } = given
  if (count > MAX_COUNT) {
    const message = `${path}.count: expected at most ${MAX_COUNT} frames, got ${count}`
    throw new DevchainError('INVALID_PARAMS', message)
  }
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

/** True for a frame from and to one of the addresses; a creation is to what it made, a destruction to who inherits. */
export function matchesFrame({ from, to, mode }: FrameQuery, frame: CallFrame): boolean {
  const isFrom = from?.has(frame.from)
  const isTo = to === undefined ? undefined : frame.to !== null && to.has(frame.to)
  if (isFrom === undefined) return isTo ?? true
  if (isTo === undefined) return isFrom
  return mode === 'union' ? isFrom || isTo : isFrom && isTo
}

/** True for a reward to one of the addresses: it is from nobody. */
export function matchesReward({ from, to, mode }: FrameQuery, author: Address): boolean {
  if (from === undefined) return to?.has(author) ?? true
  return mode === 'union' && to?.has(author) === true
}

function setOf(addresses: readonly Address[] | undefined): ReadonlySet<Address> | undefined {
  return addresses === undefined || addresses.length === 0 ? undefined : new Set(addresses)
}
