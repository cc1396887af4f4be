// Encodes blocks.
import type { Hash } from '../../core/hex.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { type Block, cumulativeDifficulty, sealBlock } from '../../protocol/blocks/block.ts'
import {
  FIELDS,
  HEADER_FIELDS,
  type Header,
  type HeaderField,
  type HeaderName,
  hashHeader,
} from '../../protocol/blocks/header.ts'
import type { Withdrawal } from '../../protocol/blocks/withdrawal.ts'
import type { FieldKind, FieldValues } from '../../protocol/fields.ts'
import type { Transaction } from '../../protocol/transactions/transaction.ts'
import { address, data, hash, list, nullable } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { field, fieldIfAny, plain, quantityResult, type ShapeField, shape } from './encodeobject.ts'
import { type TransactionView, transactionShape, viewOfPlaced } from './encodetransaction.ts'

/** Members that are null in some nodes' pending blocks. */
const PENDING_MEMBERS = ['number', 'hash', 'nonce', 'mixHash', 'logsBloom', 'miner'] as const

export type PendingMember = (typeof PENDING_MEMBERS)[number]

export interface BlockForm {
  /** Members of the pending block that are null. */
  readonly pendingNulls: readonly PendingMember[]
  /** Whether it has totalDifficulty and cumulativeDifficulty. */
  readonly hasTotals: boolean
}

/** Spec 2.2. */
export const OWN_FORM: BlockForm = {
  pendingNulls: ['number', 'hash', 'nonce', 'logsBloom'],
  hasTotals: true,
}

export interface BlockView extends Pick<Block, 'header' | 'hash' | 'size'> {
  /** Null members of the pending block. */
  readonly nulls: readonly PendingMember[]
  /** Undefined, as the next, if the form lacks it. */
  readonly totalDifficulty?: bigint | undefined
  /** The block's own difficulty and its uncles'. */
  readonly cumulativeDifficulty?: bigint | undefined
  readonly transactions: readonly Hash[] | readonly TransactionView[]
  readonly uncles: readonly Hash[]
  readonly withdrawals: readonly Withdrawal[] | undefined
  /** On forks of Arbitrum: the L1 block that contracts saw. */
  readonly belowNumber?: bigint | undefined
}

const ENCODERS: { readonly [Kind in FieldKind]: Encoder<FieldValues[Kind]> } = {
  hash,
  address,
  bytes: data,
  integer: quantityResult,
}

/** The hashed members and the hash: those of `newHeads` notifications. */
const headerFields: Readonly<Record<string, ShapeField<BlockView>>> = {
  number: openHeaderField('number'),
  hash: openField('hash', hash, (block) => block.hash),
  ...Object.fromEntries(FIELDS.map(([name]) => [name, openHeaderField(name)])),
  l1BlockNumber: fieldIfAny(quantityResult, (block) => block.belowNumber),
}

/** A field of a header; left out if the header's fork lacks it. */
export function headerField(name: HeaderName): ShapeField<{ readonly header: Header }> {
  const { kind, since }: HeaderField = HEADER_FIELDS[name]
  const encoder = ENCODERS[kind] as Encoder<unknown>
  const get = ({ header }: { readonly header: Header }): unknown => header[name]
  return since === undefined ? field(encoder, get) : fieldIfAny(encoder, get)
}

function openHeaderField(name: HeaderName): ShapeField<BlockView> {
  const pending = PENDING_MEMBERS.find((each) => each === name)
  if (pending === undefined) return headerField(name)
  const encoder = ENCODERS[HEADER_FIELDS[name].kind] as Encoder<unknown>
  return openField(pending, encoder, ({ header }) => header[name])
}

/** Null in a pending block if the form says so. */
function openField<V>(
  name: PendingMember,
  encoder: Encoder<V>,
  get: (block: BlockView) => V,
): ShapeField<BlockView> {
  return field(nullable(encoder), (block) => (block.nulls.includes(name) ? null : get(block)))
}

export const headerShape: Encoder<BlockView> = shape('header', headerFields)

const transactionsOfBlock: Encoder<BlockView['transactions']> = {
  name: 'transactions',
  json: { type: 'array', items: { anyOf: [hash.json, transactionShape.json] } },
  encode: (transactions) =>
    transactions.map((each) =>
      typeof each === 'string' ? hash.encode(each) : transactionShape.encode(each),
    ),
}

export const withdrawalShape: Encoder<Withdrawal> = shape<Withdrawal>('withdrawal', {
  ...plain({ index: quantityResult, validatorIndex: quantityResult, address }),
  amount: field(quantityResult, ({ amountGwei }) => amountGwei),
})

export const blockFields: Readonly<Record<string, ShapeField<BlockView>>> = {
  ...headerFields,
  totalDifficulty: fieldIfAny(quantityResult, (block) => block.totalDifficulty),
  cumulativeDifficulty: fieldIfAny(quantityResult, (block) => block.cumulativeDifficulty),
  ...plain({ size: quantityResult, transactions: transactionsOfBlock, uncles: list(hash) }),
  withdrawals: fieldIfAny(list(withdrawalShape), (block) => block.withdrawals),
}

/** A block (spec 2.2) with all hashed members. */
export const blockShape: Encoder<BlockView> = shape('block', blockFields)

/** @param upstream the forked network */
export function viewOfBlock(
  record: BlockRecord,
  upstream: Upstream | undefined,
  {
    pending = false,
    full = false,
    form = OWN_FORM,
  }: { readonly pending?: boolean; readonly full?: boolean; readonly form?: BlockForm } = {},
): BlockView {
  const { header, hash: blockHash, size, transactions, uncles } = record.block
  const whole = (_: Transaction, index: number): TransactionView =>
    viewOfPlaced({ record, index }, pending)
  return {
    header,
    hash: blockHash,
    nulls: pending ? form.pendingNulls : [],
    size,
    totalDifficulty: form.hasTotals ? record.totalDifficulty : undefined,
    cumulativeDifficulty: form.hasTotals ? cumulativeDifficulty(record.block) : undefined,
    transactions: full ? transactions.map(whole) : transactions.map((each) => each.hash),
    uncles: uncles.map(hashHeader),
    withdrawals: header.withdrawalsRoot === undefined ? undefined : record.block.withdrawals,
    belowNumber: upstream?.seenNumber?.(header),
  }
}

/**
 * An uncle, without transactions (spec 2.2).
 * @param weight difficulty of the uncle with its own uncles, and of all blocks up to and including it; empty if the form
 * lacks them
 */
export function viewOfUncle(
  uncle: Header,
  weight: Pick<BlockView, 'cumulativeDifficulty' | 'totalDifficulty'>,
): BlockView {
  const { hash: uncleHash, size } = sealBlock(uncle, [], [])
  const withdrawals = uncle.withdrawalsRoot === undefined ? undefined : []
  const none = { nulls: [], transactions: [], uncles: [], withdrawals }
  return { ...weight, header: uncle, hash: uncleHash, size, ...none }
}
