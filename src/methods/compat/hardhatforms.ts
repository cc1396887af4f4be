// Hardhat's parameter formats: mostly stricter than the methods here, and checked in order before a
// method runs; formats that only Hardhat accepts are converted.
import { MAX_UINT64 } from '../../core/bigints.ts'
import { type DevchainError, invalidParams, refusal } from '../../core/errors.ts'
import type { Profile } from './profile.ts'

/** @throws {DevchainError} `INVALID_PARAMS` with Hardhat's message */
type Form = (value: unknown) => void

/** What Hardhat calls an invalid input. */
function invalidInput(message: string): DevchainError {
  return refusal('INVALID_PARAMS', message, { isInput: 1 })
}

/** The method checks values other than text. */
function like(pattern: RegExp, name: string): Form {
  return (value) => {
    if (typeof value !== 'string' || pattern.test(value)) return
    throw invalidParams(`invalid value "${value.slice(0, MAX_SHOWN)}" supplied to : ${name}`)
  }
}

/** Characters of a value that a message quotes. */
const MAX_SHOWN = 200

const ADDRESS = like(/^0x[0-9a-fA-F]{40}$/, 'ADDRESS')

/** Seconds: a number or digits. The method checks other values. */
const time: Form = (value) => {
  if (typeof value !== 'number' && typeof value !== 'string') return
  const isTime = typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : fits(value)
  if (!isTime) throw invalidParams('Timestamp must be a non-negative number not exceeding 2^64 - 1')
}

function fits(digits: string): boolean {
  return (
    /^(0x[0-9a-fA-F]{0,64}|[0-9]{0,78})$/.test(digits) &&
    BigInt(digits.replace(/^0x$/, '')) <= MAX_UINT64
  )
}

/** A quantity with too many bytes; the method checks others. */
const uint64: Form = (value) => {
  if (typeof value !== 'string' || !/^0x0*[1-9a-fA-F][0-9a-fA-F]{16,}$/.test(value)) return
  const given = value.slice(0, MAX_SHOWN)
  throw invalidParams(`invalid value: string "${given}", expected a 8 byte hex string`)
}

/** State overrides: their slots are 32 bytes. */
const overrides: Form = (value) => {
  for (const override of Object.values(value ?? {})) {
    const { state, stateDiff } = (override ?? {}) as Readonly<Record<string, unknown>>
    for (const slot of [...Object.keys(state ?? {}), ...Object.keys(stateDiff ?? {})]) {
      const digits = slot.replace(/^0x/, '')
      if (digits.length % 2 === 1) throw invalidParams('odd number of digits')
      if (digits.length !== 64) throw invalidParams('invalid string length')
    }
  }
}

const QUANTITY = like(/^0x[0-9a-fA-F]+$/, 'QUANTITY')

/** A quantity, possibly without digits. */
const DIGITS = like(/^0x[0-9a-fA-F]*$/, 'QUANTITY')

const DATA = like(/^0x[0-9a-fA-F]*$/, 'DATA')

function textOnly(form: Form): Form {
  return (value) => {
    if (typeof value !== 'number') return form(value)
    throw invalidParams(`This method only supports strings but input was: ${value}`)
  }
}

const account: Form = textOnly(ADDRESS)

const quantityText: Form = textOnly(QUANTITY)

const BYTES = like(/^0x([0-9a-fA-F]{2})*$/, 'DATA')

const storageKey: Form = textOnly((value) => {
  DIGITS(value)
  if (typeof value !== 'string' || value.length <= 66) return
  const given = value.slice(0, MAX_SHOWN)
  throw invalidInput(`Storage key must not be greater than or equal to 2^256. Received ${given}.`)
})

const storageValue: Form = (value) => {
  DATA(value)
  if (typeof value !== 'string' || value.length === 66) return
  const bytes = Math.floor((value.length - 2) / 2)
  const given = value.slice(0, MAX_SHOWN)
  const message = `Storage value must be exactly 32 bytes long. Received ${given}, which is ${bytes} bytes long.`
  throw invalidInput(message)
}

const storageSlot: Form = (value) => {
  if (typeof value === 'number') {
    throw invalidParams(`Storage slot argument must be a string, got '${value}'`)
  }
  if (typeof value !== 'string') return
  if (value === '') throw invalidParams('Storage slot argument cannot be an empty string')
  const given = value.slice(0, MAX_SHOWN)
  if (!/^(0x)?[0-9a-fA-F]*$/.test(value)) {
    throw invalidParams(`Storage slot argument must be a valid hexadecimal, got '${given}'`)
  }
  const [most, which] = value.startsWith('0x')
    ? [66, '66 ("0x" + 32 bytes)']
    : [64, '64 (32 bytes)']
  if (value.length <= most) return
  const message = `Storage slot argument must have a length of at most ${which}, but '${given}' has a length of ${value.length}'`
  throw invalidParams(message)
}

/** `requireCanonical` needs a block hash (EIP-1898). */
const block: Form = (value) => {
  const { blockNumber, requireCanonical } = (value ?? {}) as Readonly<Record<string, unknown>>
  if ((blockNumber ?? undefined) === undefined || (requireCanonical ?? undefined) === undefined)
    return
  throw invalidParams('EIP-1898 block spec cannot have both `blockNumber` and `requireCanonical`')
}

const any: Form = () => undefined

const FORMS: ReadonlyMap<string, readonly Form[]> = new Map([
  ['hardhat_impersonateAccount', [ADDRESS]],
  ['hardhat_stopImpersonatingAccount', [ADDRESS]],
  ['hardhat_setBalance', [ADDRESS, quantityText]],
  ['hardhat_setCode', [ADDRESS, BYTES]],
  ['hardhat_setNonce', [ADDRESS, quantityText]],
  ['hardhat_setStorageAt', [ADDRESS, storageKey, storageValue]],
  ['eth_getStorageAt', [account, storageSlot, block]],
  ['eth_getBalance', [account, block]],
  ['eth_getCode', [account, block]],
  ['eth_getTransactionCount', [account, block]],
  ['eth_call', [any, block, overrides]],
  ['eth_estimateGas', [any, block, overrides]],
  ['evm_increaseTime', [time]],
  ['evm_mine', [time]],
  ['evm_setNextBlockTimestamp', [time]],
  ['evm_setBlockGasLimit', [uint64]],
  ['hardhat_mine', [uint64, uint64]],
])

/** Their second parameter is a slot: hex digits with or without 0x, possibly none. */
const WITH_SLOT: readonly string[] = ['eth_getStorageAt', 'hardhat_setStorageAt']

/** @throws {DevchainError} `INVALID_PARAMS` for the first invalid parameter */
export const adaptHardhatForms: NonNullable<Profile['adaptForms']> = (method, params) => {
  FORMS.get(method)?.forEach((form, position) => {
    form(params[position])
  })
  const slot = params[1]
  if (!WITH_SLOT.includes(method) || typeof slot !== 'string') return params
  const digits = slot.replace(/^0x/, '')
  return params.with(1, `0x${digits === '' ? '0' : digits}`)
}
