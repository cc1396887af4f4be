// What a call may pretend: other accounts and another block, for the length of that call.
import { DevchainError } from '../core/errors.ts'
import type { Address, Hash } from '../core/hex.ts'
import type { BlockEnvironment } from '../evm/executor.ts'
import { blobBaseFee } from '../protocol/fees.ts'
import type { Hardfork } from '../protocol/forks.ts'
import {
  type Account,
  accountAt,
  emptyAccount,
  emptyStorage,
  type World,
  withAccount,
  withCode,
  withSlots,
} from '../state/world.ts'

/** What is different about one account. Members left out stay as they are. */
export interface AccountOverride {
  /** Wei. */
  readonly balance?: bigint | undefined
  readonly nonce?: bigint | undefined
  readonly code?: Uint8Array | undefined
  /** All of the account's storage: slots that are not named are zero. */
  readonly state?: ReadonlyMap<bigint, bigint> | undefined
  /** Single slots; the others stay. Excludes `state`. */
  readonly stateDiff?: ReadonlyMap<bigint, bigint> | undefined
  /** Accepted as a name, refused as a wish: see `applyStateOverrides`. */
  readonly movePrecompileToAddress?: Address | undefined
}

/** By account. The shape is geth's. */
export type StateOverrides = ReadonlyMap<Address, AccountOverride>

/** What is different about the block that a call runs in. Members left out stay as they are. */
export interface BlockOverrides {
  readonly number?: bigint | undefined
  /** Seconds. */
  readonly timestamp?: bigint | undefined
  readonly gasLimit?: bigint | undefined
  readonly coinbase?: Address | undefined
  readonly prevRandao?: Hash | undefined
  /** Wei per gas. */
  readonly baseFee?: bigint | undefined
  /** Wei per blob gas. */
  readonly blobBaseFee?: bigint | undefined
  readonly difficulty?: bigint | undefined
  /** What BLOCKHASH answers for these numbers. */
  readonly blockHash?: ReadonlyMap<bigint, Hash> | undefined
}

const MAX_WORD = 2n ** 256n - 1n
const MAX_NONCE = 2n ** 64n - 1n

/**
 * A world in which the accounts are as the overrides say; `world` stays as it is.
 * @throws {DevchainError} `INVALID_PARAMS` when an account has both `state` and `stateDiff`, or a number is too large;
 *   `METHOD_NOT_SUPPORTED` for `movePrecompileToAddress`, as precompiles live in the engine and not in the world
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
  const { balance, nonce, state, stateDiff, movePrecompileToAddress } = override
  if (movePrecompileToAddress !== undefined) {
    const message = `override of ${address}: movePrecompileToAddress is not supported; a precompile stays at its address`
    throw new DevchainError('METHOD_NOT_SUPPORTED', message)
  }
  if (state !== undefined && stateDiff !== undefined) {
    const message = `override of ${address}: expected either state (all storage) or stateDiff (single slots), got both`
    throw new DevchainError('INVALID_PARAMS', message)
  }
  checkRange(`override of ${address}: balance`, balance, MAX_WORD)
  checkRange(`override of ${address}: nonce`, nonce, MAX_NONCE)
  for (const [slot, value] of state ?? stateDiff ?? []) {
    checkRange(`override of ${address}: storage slot`, slot, MAX_WORD)
    checkRange(`override of ${address}: storage value`, value, MAX_WORD)
  }
}

function checkRange(name: string, value: bigint | undefined, max: bigint): void {
  if (value === undefined || (value >= 0n && value <= max)) return
  throw new DevchainError(
    'INVALID_PARAMS',
    `${name}: expected 0 to 0x${max.toString(16)}, got ${value}`,
  )
}

function withOverride(world: World, address: Address, override: AccountOverride): World {
  const account = accountAt(world, address) ?? emptyAccount(address)
  const { balance, nonce, code, state, stateDiff } = override
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

/**
 * The environment of the overridden block. The rules are those of the hardfork that the overridden number and time
 * fall under. Known hashes stay known to BLOCKHASH when the number moves.
 */
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
  const { blobBaseFee: blobFee, blockHash: hashes } = overrides
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
    excessBlobGas:
      blobFee === undefined ? environment.excessBlobGas : excessForBlobBaseFee(blobFee, hardfork),
    blockHash: (asked) => hashes?.get(asked) ?? environment.blockHash(asked),
  }
}

function checkBlock(overrides: BlockOverrides): void {
  checkRange('block override: number', overrides.number, MAX_NONCE)
  checkRange('block override: timestamp', overrides.timestamp, MAX_NONCE)
  checkRange('block override: gasLimit', overrides.gasLimit, MAX_NONCE)
  checkRange('block override: baseFee', overrides.baseFee, MAX_WORD)
  checkRange('block override: difficulty', overrides.difficulty, MAX_WORD)
  checkRange('block override: blobBaseFee', overrides.blobBaseFee, MAX_NONCE)
}

/**
 * The least excess blob gas that makes blob gas cost at least `fee`. A block knows its excess and not its fee
 * (EIP-4844), and not every large fee has an excess: from some million wei on the fee may come out up to 0.0001 %
 * higher than asked.
 * @param fee wei per blob gas; 0n counts as 1n, the least there is
 */
export function excessForBlobBaseFee(fee: bigint, hardfork: Hardfork): bigint {
  let low = 0n
  let high = 1n
  while (blobBaseFee(high, hardfork) < fee) high *= 2n
  while (low < high) {
    const middle = (low + high) / 2n
    if (blobBaseFee(middle, hardfork) < fee) low = middle + 1n
    else high = middle
  }
  return low
}
