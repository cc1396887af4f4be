// Block rules that can be checked without execution; the error for an invalid block names the rule.
import { DevchainError } from '../../core/errors.ts'
import type { Hash } from '../../core/hex.ts'
import {
  type BlobRules,
  baseFeeAfter,
  blobGasOfAll,
  GAS_PER_BLOB,
  maxBlobGas,
  nextExcessBlobGas,
} from '../fees.ts'
import { type Hardfork, isAtLeast } from '../forks.ts'
import type { Block } from './block.ts'
import type { EncodedBlock } from './blockdecoding.ts'
import { nextDifficulty } from './difficulty.ts'
import {
  type FieldRule,
  type Header,
  LATER_FIELDS,
  type LaterFields,
  unclesHash,
} from './header.ts'
import { orderedTrieRoot } from './orderedtrie.ts'
import { withdrawalsRoot } from './withdrawal.ts'

export type Rule =
  | 'encoding'
  | 'genesis'
  | 'parent hash'
  | 'number'
  | 'timestamp'
  | 'extra data'
  | 'difficulty'
  | 'nonce'
  | 'gas limit'
  | 'gas used'
  | FieldRule
  | 'block size'
  | 'uncles hash'
  | 'uncles'
  | 'transactions root'
  | 'transaction'
  | 'receipts root'
  | 'logs bloom'
  | 'requests'
  | 'state root'

export interface CheckContext {
  readonly parent: Header
  readonly parentHash: Hash
  readonly hardfork: Hardfork
  readonly blobRules: BlobRules
  /** In blocks. */
  readonly bombDelay: bigint
  readonly own: OwnValues | undefined
}

export interface OwnValues {
  readonly gasLimit: bigint
  /** Wei per gas; undefined: EIP-1559 decides. */
  readonly baseFee: bigint | undefined
  /** True: a block may have its parent's time. */
  readonly sharesTimes: boolean
  /** True: no network has this genesis. */
  readonly hasOwnGenesis: boolean
}

const MAX_EXTRA_DATA = 32

/** Clients store gas limits in 63 bits. */
export const MIN_GAS_LIMIT = 5_000n
export const MAX_GAS_LIMIT: bigint = 2n ** 63n - 1n

/** A gas limit differs from the parent's by less than parent / 1024. */
export const GAS_LIMIT_PARTS = 1024n

/** EIP-1559: a block's target is half of its limit. */
export const ELASTICITY = 2n

/** Bytes of a block's RLP from osaka on (EIP-7934). */
const MAX_BLOCK_BYTES = 8_388_608

type Check<T> = (subject: T, context: CheckContext) => string | undefined

/** Fields of later forks that follow from the parent. */
const VALUE_CHECKS: Readonly<Partial<Record<keyof LaterFields, Check<Header>>>> = {
  baseFeePerGas: baseFeeProblem,
  blobGasUsed: blobGasProblem,
  excessBlobGas: excessBlobGasProblem,
}

/** In the order of reporting: causes before consequences. */
const HEADER_CHECKS: readonly (readonly [Rule, Check<Header>])[] = [
  ['parent hash', (header, { parentHash }) => unequal(parentHash, header.parentHash)],
  ['number', (header, { parent }) => unequal(parent.number + 1n, header.number)],
  ['timestamp', timestampProblem],
  ['extra data', extraDataProblem],
  ['difficulty', difficultyProblem],
  ['nonce', nonceProblem],
  ['gas limit', gasLimitProblem],
  ['gas used', gasUsedProblem],
  ...LATER_FIELDS.map(([name, { since, rule }]): readonly [Rule, Check<Header>] => [
    rule,
    (header, context) =>
      presenceProblem(header[name], since, context.hardfork) ??
      VALUE_CHECKS[name]?.(header, context),
  ]),
]

/** First whether the body belongs to the header: then any other error is the block's own. */
const BODY_CHECKS: readonly (readonly [Rule, Check<EncodedBlock>])[] = [
  ['uncles hash', ({ header, uncles }) => unequal(unclesHash(uncles), header.sha3Uncles)],
  [
    'transactions root',
    ({ header, transactions }) => unequal(orderedTrieRoot(transactions), header.transactionsRoot),
  ],
  ['withdrawals root', withdrawalsProblem],
  ['block size', sizeProblem],
]

/**
 * Assumes that its proof of work is valid.
 * @throws {DevchainError} `INVALID_BLOCK` naming the first broken rule
 */
export function checkHeader(header: Header, context: CheckContext): void {
  check(HEADER_CHECKS, header, context)
}

/**
 * Does not decode transactions.
 * @throws {DevchainError} `INVALID_BLOCK` naming the first broken rule
 */
export function checkBody(block: EncodedBlock, context: CheckContext): void {
  check(BODY_CHECKS, block, context)
}

export function checkBlobGas({ header, transactions }: Block): void {
  if (header.blobGasUsed === undefined) return
  const problem = unequal(blobGasOfAll(transactions), header.blobGasUsed)
  if (problem !== undefined) throw brokenRule('blob gas used', problem)
}

/** `data` holds the rule's name. */
export function brokenRule(rule: Rule, problem: string): DevchainError {
  return new DevchainError('INVALID_BLOCK', `${rule}: ${problem}`, { rule })
}

/** Undefined: the values are equal. */
export function unequal(expected: Hash | bigint, said: Hash | bigint): string | undefined {
  return expected === said ? undefined : `expected ${expected}, the header says ${said}`
}

function check<T>(
  checks: readonly (readonly [Rule, Check<T>])[],
  subject: T,
  context: CheckContext,
): void {
  for (const [rule, problemOf] of checks) {
    const problem = problemOf(subject, context)
    if (problem !== undefined) throw brokenRule(rule, problem)
  }
}

function timestampProblem(
  { timestamp }: Header,
  { parent, own }: CheckContext,
): string | undefined {
  const isAfter = timestamp > parent.timestamp
  if (isAfter || (own?.sharesTimes === true && timestamp === parent.timestamp)) return undefined
  return `${timestamp} is not after the parent's ${parent.timestamp}`
}

function extraDataProblem({ extraData }: Header): string | undefined {
  if (extraData.length <= MAX_EXTRA_DATA) return undefined
  return `it has ${extraData.length} bytes, at most ${MAX_EXTRA_DATA} are allowed`
}

function difficultyProblem(header: Header, context: CheckContext): string | undefined {
  const { hardfork, own, parent, bombDelay } = context
  const { difficulty, timestamp } = header
  if (own !== undefined) return undefined
  if (!isAtLeast(hardfork, 'paris')) {
    return unequal(nextDifficulty(parent, timestamp, hardfork, bombDelay), difficulty)
  }
  return difficulty === 0n ? undefined : `expected 0 after the merge, the header says ${difficulty}`
}

function nonceProblem({ nonce }: Header, { hardfork, own }: CheckContext): string | undefined {
  if (own !== undefined || !isAtLeast(hardfork, 'paris') || nonce.every((byte) => byte === 0)) {
    return undefined
  }
  return 'expected 0 after the merge'
}

/** After a genesis from a file, a block without difficulty may be a network's, so its values must match. */
function isSetByHand({ difficulty }: Header, { own }: CheckContext): boolean {
  return own !== undefined && (difficulty > 0n || own.hasOwnGenesis)
}

function gasLimitProblem(header: Header, context: CheckContext): string | undefined {
  const { gasLimit } = header
  if (gasLimit === context.own?.gasLimit || isSetByHand(header, context)) return undefined
  const before =
    isAtLeast(context.hardfork, 'london') && context.parent.baseFeePerGas === undefined
      ? context.parent.gasLimit * ELASTICITY
      : context.parent.gasLimit
  const distance = gasLimit > before ? gasLimit - before : before - gasLimit
  const bound = before / GAS_LIMIT_PARTS
  if (distance >= bound)
    return `${gasLimit} is ${distance} away from ${before}, expected less than ${bound}`
  if (gasLimit < MIN_GAS_LIMIT)
    return `expected at least ${MIN_GAS_LIMIT}, the header says ${gasLimit}`
  if (gasLimit > MAX_GAS_LIMIT)
    return `expected at most ${MAX_GAS_LIMIT}, the header says ${gasLimit}`
  return undefined
}

function gasUsedProblem({ gasUsed, gasLimit }: Header): string | undefined {
  return gasUsed > gasLimit ? `${gasUsed} is more than the gas limit ${gasLimit}` : undefined
}

function baseFeeProblem(header: Header, context: CheckContext): string | undefined {
  const said = header.baseFeePerGas
  if (said === undefined || said === context.own?.baseFee || isSetByHand(header, context))
    return undefined
  return unequal(baseFeeAfter(context.parent), said)
}

function presenceProblem(value: unknown, since: Hardfork, hardfork: Hardfork): string | undefined {
  const isThere = value !== undefined
  if (isThere === isAtLeast(hardfork, since)) return undefined
  return isThere
    ? `the header has one, though the block is ${hardfork} and they begin with ${since}`
    : `the header has none, though the block is ${hardfork}`
}

function blobGasProblem(
  { blobGasUsed = 0n }: Header,
  { hardfork, blobRules }: CheckContext,
): string | undefined {
  const most = maxBlobGas(hardfork, blobRules)
  if (blobGasUsed > most) return `${blobGasUsed} is more than the ${most} of a block`
  if (blobGasUsed % GAS_PER_BLOB === 0n) return undefined
  return `${blobGasUsed} is no multiple of the ${GAS_PER_BLOB} of a blob`
}

function excessBlobGasProblem(
  { excessBlobGas }: Header,
  { parent, hardfork, blobRules }: CheckContext,
): string | undefined {
  if (excessBlobGas === undefined) return undefined
  return unequal(nextExcessBlobGas(parent, hardfork, blobRules), excessBlobGas)
}

function sizeProblem({ size }: EncodedBlock, { hardfork, own }: CheckContext): string | undefined {
  if (own !== undefined || !isAtLeast(hardfork, 'osaka') || size <= MAX_BLOCK_BYTES)
    return undefined
  return `the block has ${size} bytes, at most ${MAX_BLOCK_BYTES} are allowed`
}

function withdrawalsProblem({ header, withdrawals }: EncodedBlock): string | undefined {
  if (header.withdrawalsRoot === undefined) return undefined
  return unequal(withdrawalsRoot(withdrawals), header.withdrawalsRoot)
}
