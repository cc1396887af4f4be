// State and block overrides for the length of one call.
import { MAX_UINT64, MAX_UINT256 } from '../../core/bigints.ts'
import { DevchainError, invalidParams } from '../../core/errors.ts'
import type { Address, Hash } from '../../core/hex.ts'
import type { BlockEnvironment, MovedPrecompiles } from '../../evm/executor.ts'
import type { Hardfork } from '../../protocol/forks.ts'
import { type ExtraPrecompiles, isPrecompile } from '../../protocol/precompiles.ts'
import {
  type Account,
  accountOrEmpty,
  emptyStorage,
  type World,
  withAccount,
  withCode,
  withSlots,
} from '../../state/world.ts'
import type { Behaviour } from '../ledger/behaviour.ts'

export interface AccountOverride {
  readonly balance?: bigint | undefined
  readonly nonce?: bigint | undefined
  readonly code?: Uint8Array | undefined
  /** Replaces the whole storage: other slots are zero. */
  readonly state?: ReadonlyMap<bigint, bigint> | undefined
  /** Replaces single slots. Excludes `state`. */
  readonly stateDiff?: ReadonlyMap<bigint, bigint> | undefined
  readonly movePrecompileToAddress?: Address | undefined
}

/** What decides which precompiles there are, and where they may move. */
interface PrecompileRules {
  readonly behaviour: Pick<Behaviour, 'precompilesShareAddress'>
  readonly options?: ExtraPrecompiles
}

export type StateOverrides = ReadonlyMap<Address, AccountOverride>

export interface BlockOverrides {
  readonly number?: bigint | undefined
  readonly timestamp?: bigint | undefined
  readonly gasLimit?: bigint | undefined
  readonly coinbase?: Address | undefined
  readonly prevRandao?: Hash | undefined
  readonly baseFee?: bigint | undefined
  /** Wei per blob gas; may be 0, which no excess gives. */
  readonly blobBaseFee?: bigint | undefined
  readonly difficulty?: bigint | undefined
  /** Of the parent beacon block (EIP-4788); only in simulated blocks. */
  readonly beaconRoot?: Hash | undefined
  readonly blockHash?: ReadonlyMap<bigint, Hash> | undefined
}

/**
 * Precompiles are not part of the world: see `movedPrecompiles`.
 * @throws {DevchainError} `INVALID_PARAMS` when an account has both `state` and `stateDiff`, or a number is too large
 */
export function applyStateOverrides(world: World, overrides: StateOverrides | undefined): World {
  let changed = world
  for (const [address, override] of overrides ?? []) {
    checkAccount(address, override)
    changed = withOverride(changed, address, override)
  }
  return changed
}

function checkAccount(address: Address, override: AccountOverride): void {
  const { balance, nonce, state, stateDiff } = override
  if (state !== undefined && stateDiff !== undefined) {
    const message = `override of ${address}: expected either state (all storage) or stateDiff (single slots), got both`
    throw new DevchainError('INVALID_PARAMS', message, undefined, { overridden: address })
  }
  checkRange(`override of ${address}: balance`, balance, MAX_UINT256)
  checkRange(`override of ${address}: nonce`, nonce, MAX_UINT64)
  for (const [slot, value] of state ?? stateDiff ?? []) {
    checkRange(`override of ${address}: storage slot`, slot, MAX_UINT256)
    checkRange(`override of ${address}: storage value`, value, MAX_UINT256)
  }
}

/**
 * The addresses of precompiles in a run. A moved precompile replaces whatever account is at its new address; an
 * override with code replaces the precompile. (In geth any override does, even one of the balance.)
 * @returns undefined when none is moved or replaced
 * @throws {DevchainError} `PRECOMPILE_MOVED_TO_ITSELF`; `PRECOMPILES_MOVED_TOGETHER` for two with one destination, if
 *   they may not share it; `INVALID_PARAMS` for an address without precompile, and for a destination that is overridden
 *   itself
 */
export function movedPrecompiles(
  overrides: StateOverrides | undefined,
  hardfork: Hardfork,
  { behaviour, options: extra }: PrecompileRules,
): MovedPrecompiles | undefined {
  const moved = new Map<Address, Address | null>()
  const taken = new Map<Address, Address>()
  for (const [address, { code, movePrecompileToAddress: to }] of overrides ?? []) {
    const isOne = isPrecompile(address, hardfork, extra)
    if (to !== undefined) {
      checkMove(address, to, hardfork, isOne)
      const other = taken.get(to)
      if (other !== undefined && !behaviour.precompilesShareAddress) {
        const message = `override of ${address}: movePrecompileToAddress: the precompile of ${other} is already moved to ${to}`
        throw new DevchainError('PRECOMPILES_MOVED_TOGETHER', message)
      }
      taken.set(to, address)
    }
    if (to !== undefined || (code !== undefined && isOne)) moved.set(address, to ?? null)
  }
  for (const [to, from] of taken) {
    if (overrides?.has(to) !== true) continue
    const message = `override of ${from}: expected movePrecompileToAddress to be an address without an override of its own, got ${to}`
    throw new DevchainError('INVALID_PARAMS', message, undefined, { destination: to })
  }
  return moved.size === 0 ? undefined : moved
}

function checkMove(address: Address, to: Address, hardfork: Hardfork, isOne: boolean): void {
  if (to === address) {
    const message = `override of ${address}: movePrecompileToAddress: expected another address, got the same`
    const facts = isOne ? { destination: to } : { unmovable: address }
    throw new DevchainError('PRECOMPILE_MOVED_TO_ITSELF', message, undefined, facts)
  }
  if (isOne) return
  const message = `override of ${address}: account ${address} is not a precompile of ${hardfork}, so it cannot be moved to ${to}`
  throw new DevchainError('INVALID_PARAMS', message, undefined, { unmovable: address })
}

function checkRange(name: string, value: bigint | undefined, max: bigint): void {
  if (value === undefined || (value >= 0n && value <= max)) return
  throw invalidParams(`${name}: expected 0 to 0x${max.toString(16)}, got ${value}`)
}

/** As in geth, an override with any member creates a missing account, even an empty one; one without members does not. */
function withOverride(world: World, address: Address, override: AccountOverride): World {
  const { balance, nonce, code, state, stateDiff } = override
  const isUntouched = [balance, nonce, code, state].every((member) => member === undefined)
  if (isUntouched && (stateDiff?.size ?? 0) === 0) return world
  const account = accountOrEmpty(world, address)
  const storage = state === undefined ? account.storage : emptyStorage
  const changed: Account = {
    ...account,
    balance: balance ?? account.balance,
    nonce: nonce ?? account.nonce,
    storage: withSlots(storage, state ?? stateDiff ?? new Map()),
  }
  const withAll = withAccount(world, changed)
  return code === undefined ? withAll : withCode(withAll, address, code)
}

/** The hardfork follows the overridden number and time. BLOCKHASH keeps known hashes when the number moves. */
export function applyBlockOverrides(
  environment: BlockEnvironment,
  overrides: BlockOverrides | undefined,
  hardforkAt: (number: bigint, timestamp: bigint) => Hardfork,
): BlockEnvironment {
  if (overrides === undefined) return environment
  checkBlock(overrides)
  const number = overrides.number ?? environment.number
  const timestamp = overrides.timestamp ?? environment.timestamp
  const hardfork = hardforkAt(number, timestamp)
  const { blockHash: hashes } = overrides
  return {
    ...environment,
    number,
    timestamp,
    hardfork,
    gasLimit: overrides.gasLimit ?? environment.gasLimit,
    coinbase: overrides.coinbase ?? environment.coinbase,
    prevRandao: overrides.prevRandao ?? environment.prevRandao,
    baseFee: overrides.baseFee ?? environment.baseFee,
    difficulty: overrides.difficulty ?? environment.difficulty,
    blobBaseFee: overrides.blobBaseFee ?? environment.blobBaseFee,
    blockHash: (asked) => hashes?.get(asked) ?? environment.blockHash(asked),
  }
}

function checkBlock(overrides: BlockOverrides): void {
  if (overrides.beaconRoot !== undefined) {
    const message = `block override: beaconRoot: expected none, got ${overrides.beaconRoot}: a call does not begin a block; eth_simulateV1 does`
    throw invalidParams(message)
  }
  for (const name of ['number', 'timestamp', 'gasLimit', 'blobBaseFee'] as const) {
    checkRange(`block override: ${name}`, overrides[name], MAX_UINT64)
  }
  checkRange('block override: baseFee', overrides.baseFee, MAX_UINT256)
  checkRange('block override: difficulty', overrides.difficulty, MAX_UINT256)
}
