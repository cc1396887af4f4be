// Conditions of conditional transactions.
import { DevchainError, limitExceeded } from '../../core/errors.ts'
import { type Address, type Hash, wordFromBigint } from '../../core/hex.ts'
import type { BlockEnvironment } from '../../evm/executor.ts'
import { accountAt, emptyStorage, slotValue, type World } from '../../state/world.ts'

/** All must hold. @see https://eips.ethereum.org/EIPS/eip-7796 */
export interface Conditions {
  /** Expected storage: its root, or words by slot. */
  readonly accounts?: ReadonlyMap<Address, Hash | ReadonlyMap<bigint, bigint>> | undefined
  /** Both bounds included. */
  readonly blockNumberMin?: bigint | undefined
  readonly blockNumberMax?: bigint | undefined
  /** Seconds, both bounds included. */
  readonly timestampMin?: bigint | undefined
  readonly timestampMax?: bigint | undefined
}

/** Most roots and slots in one transaction's conditions. */
const MAX_LOOKUPS = 1_000

export function requireConditions(
  conditions: Conditions,
  world: World,
  { number, timestamp }: Pick<BlockEnvironment, 'number' | 'timestamp'>,
): void {
  requireRange('block number', number, conditions.blockNumberMin, conditions.blockNumberMax)
  requireRange('block time', timestamp, conditions.timestampMin, conditions.timestampMax)
  for (const [address, expected] of conditions.accounts ?? []) {
    const storage = accountAt(world, address)?.storage ?? emptyStorage
    if (typeof expected === 'string') {
      requireEqual(`storage root of ${address}`, expected, storage.rootHash)
      continue
    }
    for (const [slot, value] of expected) {
      const what = `slot ${wordFromBigint(slot)} of ${address}`
      requireEqual(what, wordFromBigint(value), wordFromBigint(slotValue(storage, slot)))
    }
  }
}

export function checkConditions({ accounts = new Map() }: Conditions): void {
  const lookups = [...accounts.values()].reduce(
    (sum, expected) => sum + (typeof expected === 'string' ? 1 : expected.size),
    0,
  )
  if (lookups <= MAX_LOOKUPS) return
  const message = `too many conditions: expected at most ${MAX_LOOKUPS} roots and slots, got ${lookups}`
  throw limitExceeded(message)
}

function requireRange(
  what: string,
  value: bigint,
  least: bigint | undefined,
  most: bigint | undefined,
): void {
  if (least !== undefined && value < least) throw notMet(what, `at least ${least}`, value)
  if (most !== undefined && value > most) throw notMet(what, `at most ${most}`, value)
}

function requireEqual(what: string, expected: Hash, got: Hash): void {
  if (got !== expected) throw notMet(what, expected, got)
}

function notMet(what: string, expected: string, got: bigint | Hash): DevchainError {
  const message = `condition not met: ${what}: expected ${expected}, got ${got}`
  return new DevchainError('CONDITIONS_NOT_MET', message)
}
