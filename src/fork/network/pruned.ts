// Errors for pruned state: most nodes keep only the state of the newest blocks.
import { plural } from '../../core/format.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { isPrunedError } from '../client/provider.ts'

export function isPruned(error: unknown): error is RefusedByUpstream {
  return error instanceof RefusedByUpstream && isPrunedError(error.upstream)
}

export interface BlockAge {
  readonly number: bigint
  /** Seconds since 1970; undefined: the header is not here. */
  readonly timestamp?: bigint | undefined
  readonly newest?: bigint | undefined
}

export class PrunedState extends RefusedByUpstream {
  /** @param now milliseconds since 1970 */
  constructor(refused: RefusedByUpstream, age: BlockAge, now: number) {
    super(refused.upstream, refused.ask, refused.by)
    this.message = `${refused.message}: ${adviceOn(refused, age, now)}`
  }
}

function adviceOn({ ask }: RefusedByUpstream, age: BlockAge, now: number): string {
  const isProof = ask.method === 'eth_getProof'
  const what = isProof ? 'gives no proofs of' : 'does not keep the state of'
  const less = isProof ? ', or do without proofs' : ''
  return `it ${what} block ${age.number}${ageOf(age, now)}: name the URL of an archive node, or fork a newer block${less}`
}

function ageOf({ number, timestamp, newest }: BlockAge, now: number): string {
  const seconds = timestamp === undefined ? 0 : Math.floor(now / 1000) - Number(timestamp)
  const behind = newest === undefined ? 0 : Number(newest - number)
  const parts = [
    ...(seconds > 0 ? [`is ${durationOf(seconds)} old`] : []),
    ...(behind > 0 ? [`lies ${plural(behind, 'block')} behind its newest`] : []),
  ]
  return parts.length === 0 ? '' : `, which ${parts.join(' and ')}`
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

/** In the largest unit that is at least 1, rounded down. */
function durationOf(seconds: number): string {
  const [length, name] = UNITS.find(([each]) => seconds >= each) ?? [1, 'second']
  return plural(Math.floor(seconds / length), name)
}
