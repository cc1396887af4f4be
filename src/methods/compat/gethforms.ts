// geth's parameter formats, stricter than the methods here, with its decoders' error messages.
import { invalidParams } from '../../core/errors.ts'
import type { Param } from '../../rpc/method.ts'
import type { Profile } from './profile.ts'

/** Returns geth's message for an invalid value. */
type Form = (value: unknown) => string | undefined

/** Namespaces of geth itself; other tools' methods keep those tools' formats. */
const OF_GETH = /^(eth|debug|net|web3|txpool)_/

const TAGS: readonly unknown[] = ['latest', 'earliest', 'pending', 'safe', 'finalized']

const MAX_INT64 = 2n ** 63n - 1n

const NO_PREFIX = 'hex string without 0x prefix'

const NO_HEX = 'invalid hex string'

function numberFlaw(text: string, bits: 64 | 256): string | undefined {
  if (text === '') return 'empty hex string'
  if (!/^0x/i.test(text)) return NO_PREFIX
  const digits = text.slice(2)
  if (digits === '') return 'hex string "0x"'
  if (digits.length > 1 && digits.startsWith('0')) return 'hex number with leading zero digits'
  if (!/^[0-9a-f]+$/i.test(digits)) return NO_HEX
  return digits.length > bits / 4 ? `hex number > ${bits} bits` : undefined
}

/** The flaw in hex text, except for its length. */
function bytesFlaw(text: string): string | undefined {
  if (text === '') return undefined
  if (!/^0x/i.test(text)) return NO_PREFIX
  if (text.length % 2 === 1) return 'hex string of odd length'
  return /^0x[0-9a-f]*$/i.test(text) ? undefined : NO_HEX
}

/** The target of a Go decoder, which its messages name. */
interface Target {
  readonly type: string
  /** Of a structure; undefined for a whole parameter. */
  readonly field?: string
}

function cannotUnmarshal(flaw: string, { type, field }: Target): string {
  const into = field === undefined ? 'value' : `struct field TransactionArgs.${field}`
  return `json: cannot unmarshal ${flaw} into Go ${into} of type ${type}`
}

/** A geth type that is written as text. */
function typed(target: Target, flawOf: (text: string) => string | undefined): Form {
  return (value) => {
    if (typeof value !== 'string') return cannotUnmarshal('non-string', target)
    const flaw = flawOf(value)
    return flaw && cannotUnmarshal(flaw, target)
  }
}

function fixed(target: Target, bytes: number): Form {
  const form = typed(target, (text) => (hasWrongLength(text) ? undefined : bytesFlaw(text)))
  // geth checks the prefix and odd length before the byte count, and non-hex digits after it
  const hasWrongLength = (text: string): boolean =>
    /^(0x(..)*)?$/i.test(text) && text.length !== 2 + 2 * bytes
  return (value) => {
    if (typeof value !== 'string' || !hasWrongLength(value)) return form(value)
    const digits = Math.max(0, value.length - 2)
    return `hex string has length ${digits}, want ${2 * bytes} for ${target.type}`
  }
}

/** A block by number, tag or hash. The method checks objects. */
const block: Form = (value) => {
  if (typeof value === 'number') return NO_PREFIX
  if (typeof value !== 'string' || TAGS.includes(value)) return undefined
  // geth reads text as long as a hash as a hash, and uses the messages for hashes
  if (value.length === 66) return bytesFlaw(value)
  const flaw = numberFlaw(value, 64)
  if (flaw !== undefined) return flaw
  return BigInt(value) > MAX_INT64 ? 'block number larger than int64' : undefined
}

const hashForm: Form = fixed({ type: 'common.Hash' }, 32)

const indexForm: Form = typed({ type: 'hexutil.Uint' }, (text) => numberFlaw(text, 64))

/** Transaction members that geth reads as numbers with a bit size, or as bytes. */
const MEMBERS: ReadonlyMap<string, Form> = new Map([
  ...['from', 'to'].map((field) => [field, fixed({ type: 'common.Address', field }, 20)] as const),
  ...['gas', 'nonce'].map((field) => [field, numberMember('hexutil.Uint64', field, 64)] as const),
  ...[
    'gasPrice',
    'maxFeePerGas',
    'maxPriorityFeePerGas',
    'value',
    'chainId',
    'maxFeePerBlobGas',
  ].map((field) => [field, numberMember('hexutil.Big', field, 256)] as const),
  ...['data', 'input'].map(
    (field) => [field, typed({ type: 'hexutil.Bytes', field }, bytesFlaw)] as const,
  ),
])

function numberMember(type: string, field: string, bits: 64 | 256): Form {
  return typed({ type, field }, (text) => (text === '' ? undefined : numberFlaw(text, bits)))
}

const transaction: Form = (value) => {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const flaw = (member ?? undefined) === undefined ? undefined : MEMBERS.get(name)?.(member)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

/** Slots and their values are text of 32 bytes. */
const slotForm: Form = fixed({ type: 'Hash' }, 32)

const overrides: Form = (value) => {
  for (const override of Object.values(value ?? {})) {
    const { state, stateDiff } = (override ?? {}) as Readonly<Record<string, unknown>>
    const words = [...Object.entries(state ?? {}), ...Object.entries(stateDiff ?? {})]
    for (const [slot, word] of words) {
      const flaw = bytesFlaw(slot) ?? slotForm(slot) ?? hashForm(word)
      if (flaw !== undefined) return flaw
    }
  }
  return undefined
}

/** By the parameter's kind in the declaration. Quantities are not listed: geth accepts decimal too. */
const FORMS: ReadonlyMap<string, Form> = new Map([
  ['block', block],
  ['address', fixed({ type: 'common.Address' }, 20)],
  ['hash', hashForm],
  ['data', typed({ type: 'hexutil.Bytes' }, bytesFlaw)],
  ['transaction', transaction],
  ['state overrides', overrides],
])

function formOf(method: string, { decoder }: Param<unknown>): Form | undefined {
  const isIndex = decoder.name === 'quantity' && method.endsWith('AndIndex')
  return isIndex ? indexForm : FORMS.get(decoder.name)
}

/** @throws {DevchainError} `INVALID_PARAMS` for the first invalid parameter */
export const adaptGethForms: NonNullable<Profile['adaptForms']> = (method, params, declared) => {
  if (!OF_GETH.test(method)) return params
  declared.forEach((param, position) => {
    const value = params[position] ?? undefined
    if (value === undefined) {
      if (param.required) throw invalidParams(`missing value for required argument ${position}`)
      return
    }
    const flaw = formOf(method, param)?.(value)
    if (flaw !== undefined) throw invalidParams(`invalid argument ${position}: ${flaw}`)
  })
  return params
}
