// Hardhat's parameter formats: mostly stricter than the methods here, and checked in order before a
// method runs; formats that only Hardhat accepts are converted.
import { DevchainError } from '../../core/errors.ts'
import type { Profile } from './profile.ts'

/** Hardhat's message for an invalid parameter; `isInput` if Hardhat calls it an invalid input. */
interface Misfit {
  readonly words: string
  readonly isInput?: true
}

type Form = (value: unknown) => Misfit | undefined

/** Converts a text to another. */
type Reading = (text: string) => string

/** The method checks values other than text. */
function like(pattern: RegExp, name: string): Form {
  return (value) =>
    typeof value !== 'string' || pattern.test(value)
      ? undefined
      : { words: `invalid value "${value.slice(0, MAX_SHOWN)}" supplied to : ${name}` }
}

/** Characters of a value that a message quotes. */
const MAX_SHOWN = 200

const ADDRESS = like(/^0x[0-9a-fA-F]{40}$/, 'ADDRESS')

const account: Form = (value) => (typeof value === 'number' ? notText(value) : ADDRESS(value))

const MAX_UINT64 = 2n ** 64n - 1n

/** Seconds: a number or digits. The method checks other values. */
const time: Form = (value) => {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const isTime = typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : fits(value)
  return isTime ? undefined : NO_TIME
}

const NO_TIME: Misfit = {
  words: 'Timestamp must be a non-negative number not exceeding 2^64 - 1',
}

function fits(digits: string): boolean {
  return (
    /^(0x[0-9a-fA-F]{0,64}|[0-9]{0,78})$/.test(digits) &&
    BigInt(digits.replace(/^0x$/, '')) <= MAX_UINT64
  )
}

/** A quantity with too many bytes; the method checks others. */
const uint64: Form = (value) =>
  typeof value !== 'string' || !/^0x0*[1-9a-fA-F][0-9a-fA-F]{16,}$/.test(value)
    ? undefined
    : {
        words: `invalid value: string "${value.slice(0, MAX_SHOWN)}", expected a 8 byte hex string`,
      }

/** State overrides: their slots are 32 bytes. */
const overrides: Form = (value) => {
  for (const override of Object.values(value ?? {})) {
    const { state, stateDiff } = (override ?? {}) as Readonly<Record<string, unknown>>
    for (const slot of [...Object.keys(state ?? {}), ...Object.keys(stateDiff ?? {})]) {
      const digits = slot.replace(/^0x/, '')
      if (digits.length % 2 === 1) return { words: 'odd number of digits' }
      if (digits.length !== 64) return { words: 'invalid string length' }
    }
  }
  return undefined
}

const QUANTITY = like(/^0x[0-9a-fA-F]+$/, 'QUANTITY')

/** A quantity, possibly without digits. */
const DIGITS = like(/^0x[0-9a-fA-F]*$/, 'QUANTITY')

const DATA = like(/^0x[0-9a-fA-F]*$/, 'DATA')

const notText = (value: number): Misfit => ({
  words: `This method only supports strings but input was: ${value}`,
})

const quantityText: Form = (value) => (typeof value === 'number' ? notText(value) : QUANTITY(value))

const BYTES = like(/^0x([0-9a-fA-F]{2})*$/, 'DATA')

const storageKey: Form = (value) => {
  if (typeof value === 'number') return notText(value)
  const misfit = DIGITS(value)
  if (misfit !== undefined || typeof value !== 'string' || value.length <= 66) return misfit
  const given = value.slice(0, MAX_SHOWN)
  const words = `Storage key must not be greater than or equal to 2^256. Received ${given}.`
  return { words, isInput: true }
}

const storageValue: Form = (value) => {
  const misfit = DATA(value)
  if (misfit !== undefined || typeof value !== 'string' || value.length === 66) return misfit
  const bytes = Math.floor((value.length - 2) / 2)
  const given = value.slice(0, MAX_SHOWN)
  const words = `Storage value must be exactly 32 bytes long. Received ${given}, which is ${bytes} bytes long.`
  return { words, isInput: true }
}

const storageSlot: Form = (value) => {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') {
    return typeof value === 'number'
      ? { words: `Storage slot argument must be a string, got '${value}'` }
      : undefined
  }
  if (value === '') return { words: 'Storage slot argument cannot be an empty string' }
  const given = value.slice(0, MAX_SHOWN)
  if (!/^(0x)?[0-9a-fA-F]*$/.test(value)) {
    return { words: `Storage slot argument must be a valid hexadecimal, got '${given}'` }
  }
  const [most, which] = value.startsWith('0x')
    ? [66, '66 ("0x" + 32 bytes)']
    : [64, '64 (32 bytes)']
  if (value.length <= most) return undefined
  const words = `Storage slot argument must have a length of at most ${which}, but '${given}' has a length of ${value.length}'`
  return { words }
}

/** `requireCanonical` needs a block hash (EIP-1898). */
const block: Form = (value) => {
  if (typeof value !== 'object' || value === null) return undefined
  const { blockNumber, requireCanonical } = value as Readonly<Record<string, unknown>>
  if ((blockNumber ?? undefined) === undefined) return undefined
  return (requireCanonical ?? undefined) === undefined
    ? undefined
    : { words: 'EIP-1898 block spec cannot have both `blockNumber` and `requireCanonical`' }
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

/** Hex digits with or without 0x, possibly none. */
const bareHex: Reading = (text) => {
  const digits = text.startsWith('0x') ? text.slice(2) : text
  return `0x${digits === '' ? '0' : digits}`
}

/** By method: the position of a text, and its conversion. */
const READINGS: ReadonlyMap<string, readonly [position: number, read: Reading]> = new Map([
  ['eth_getStorageAt', [1, bareHex]],
  ['hardhat_setStorageAt', [1, bareHex]],
])

/** @throws {DevchainError} `INVALID_PARAMS` for the first invalid parameter */
export const adaptHardhatForms: NonNullable<Profile['adaptForms']> = (method, params) => {
  FORMS.get(method)?.forEach((form, position) => {
    const misfit = form(params[position])
    if (misfit === undefined) return
    const facts = misfit.isInput === undefined ? {} : { isInput: 1 }
    throw new DevchainError('INVALID_PARAMS', misfit.words, undefined, facts)
  })
  const [position, read] = READINGS.get(method) ?? []
  const text = position === undefined ? undefined : params[position]
  if (position === undefined || read === undefined || typeof text !== 'string') return params
  return params.with(position, read(text))
}
