// Decodes geth's state and block overrides.
import { type Hash, wordFromBigint } from '../../core/hex.ts'
import type { AccountOverride, BlockOverrides, StateOverrides } from '../../node/calls/overrides.ts'
import { optional, type Param } from '../../rpc/method.ts'
import { address, data, hash, quantity } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import { keyed, members, refined } from './decodeobject.ts'

/** A storage slot or value: QUANTITY or 32 bytes, as an integer. */
export const word: Decoder<bigint> = { ...quantity, name: 'storage word' }

const slots: Decoder<ReadonlyMap<bigint, bigint>> = keyed('storage slots', word, word)

const accountOverride: Decoder<AccountOverride> = members('account override', {
  balance: quantity,
  nonce: quantity,
  code: data,
  state: slots,
  stateDiff: slots,
  movePrecompileToAddress: address,
})

/** geth's state override set, by address. */
export const stateOverrides: Decoder<StateOverrides> = keyed(
  'state overrides',
  address,
  accountOverride,
)

export const overriddenState: Param<StateOverrides | undefined> = optional(
  'stateOverrides',
  stateOverrides,
)

const blockHashes: Decoder<ReadonlyMap<bigint, Hash>> = keyed('block hashes', quantity, hash)

/** 32 bytes; some clients write them as a number. */
const randomness: Decoder<Hash> = refined(quantity, wordFromBigint)

/** Chains here have no withdrawals, so only an empty list is allowed. */
const noWithdrawals: Decoder<null> = {
  name: 'withdrawals',
  json: { type: 'array', maxItems: 0 },
  decode: (value, path) => {
    if (Array.isArray(value) && value.length === 0) return null
    throw invalid(path, 'an empty list, as this chain has no withdrawals', value)
  },
}

/** geth's block overrides, in its current and former names. */
export const blockOverrides: Decoder<BlockOverrides> = refined(
  members('block overrides', {
    number: quantity,
    time: quantity,
    timestamp: quantity,
    gasLimit: quantity,
    feeRecipient: address,
    coinbase: address,
    prevRandao: randomness,
    random: randomness,
    baseFeePerGas: quantity,
    baseFee: quantity,
    blobBaseFee: quantity,
    difficulty: quantity,
    beaconRoot: hash,
    withdrawals: noWithdrawals,
    blockHash: blockHashes,
  }),
  ({ time, feeRecipient, random, baseFeePerGas, withdrawals: _, ...given }) => ({
    ...given,
    timestamp: time ?? given.timestamp,
    coinbase: feeRecipient ?? given.coinbase,
    prevRandao: given.prevRandao ?? random,
    baseFee: baseFeePerGas ?? given.baseFee,
  }),
)

export const overriddenBlock: Param<BlockOverrides | undefined> = optional(
  'blockOverrides',
  blockOverrides,
)
