// Reading blocks: the form in which nodes export and exchange them.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { decodeRlp, encodedItems, type RlpItem } from '../../core/rlp.ts'
import { TRANSACTION_GAS } from '../fees.ts'
import { ListFields } from '../fields.ts'
import { decodeBlockTransaction, type SignatureRules } from '../transactions/transactiondecoding.ts'
import { type Block, type Header, rememberEncoding, type Withdrawal } from './block.ts'

/** Fields of the oldest headers, and of the newest. */
const LEAST_FIELDS = 15
const MOST_FIELDS = 21

/** A block with its transactions still as bytes: what their signatures may be depends on its fork. */
export interface EncodedBlock extends Omit<Block, 'transactions'> {
  /** Canonical encodings. */
  readonly transactions: readonly Uint8Array[]
}

/** Header, transactions, uncles, and from shanghai on withdrawals. */
const MOST_PARTS = 4

/** Uncles that a block may have on whatever chain, and withdrawals. */
const MOST_UNCLES = 10
const MOST_WITHDRAWALS = 4_096

/**
 * Reads a block. What is read encodes to the same bytes; whether it is valid is another question. Of its lists no more is
 * read than a block can have.
 * @throws {DevchainError} `INVALID_PARAMS` for what is no well-formed block
 */
export function decodeBlock(bytes: Uint8Array): EncodedBlock {
  const parts = partsOf(bytes, 'block', MOST_PARTS)
  const [headerPart, transactionsPart, unclesPart, withdrawalsPart] = parts
  if (headerPart === undefined || transactionsPart === undefined || unclesPart === undefined) {
    throw malformed(`block has ${parts.length} fields, expected 3 to ${MOST_PARTS}`)
  }
  // a part of the bytes would keep all of them
  const encodedHeader = new Uint8Array(headerPart)
  const header = decodeHeader(decodeRlp(encodedHeader, MOST_FIELDS + 1), 'header')
  rememberEncoding(header, encodedHeader)
  if ((withdrawalsPart !== undefined) !== (header.withdrawalsRoot !== undefined)) {
    const problem = withdrawalsPart ? 'has withdrawals and no root of them' : 'has no withdrawals'
    throw malformed(`block: it ${problem}`)
  }
  return {
    header,
    hash: keccakHash(encodedHeader),
    transactions: transactionsOf(transactionsPart, header),
    uncles: unclesOf(unclesPart),
    withdrawals: withdrawalsPart ? withdrawalsOf(withdrawalsPart) : [],
    size: bytes.length,
  }
}

function transactionsOf(part: Uint8Array, { gasLimit }: Header): readonly Uint8Array[] {
  const most = Number(gasLimit / TRANSACTION_GAS)
  return partsOf(part, 'block.transactions', most).map((item) =>
    // a legacy transaction is a list in the list, the others are byte strings
    isList(item) ? item : (decodeRlp(item) as Uint8Array),
  )
}

function unclesOf(part: Uint8Array): readonly Header[] {
  const uncles = partsOf(part, 'block.uncles', MOST_UNCLES)
  return uncles.map((item, i) => decodeHeader(decodeRlp(item, MOST_FIELDS + 1), `uncle ${i}`))
}

function withdrawalsOf(part: Uint8Array): readonly Withdrawal[] {
  const withdrawals = partsOf(part, 'block.withdrawals', MOST_WITHDRAWALS)
  return withdrawals.map((item, i) => decodeWithdrawal(decodeRlp(item, MOST_FIELDS), i))
}

/** The items of a list in a block, each still encoded. */
function partsOf(part: Uint8Array, name: string, most: number): readonly Uint8Array[] {
  if (!isList(part)) throw malformed(`${name} is not a list`)
  return encodedItems(part, most)
}

function isList(encoded: Uint8Array): boolean {
  return (encoded[0] ?? 0) >= 0xc0
}

function malformed(problem: string): DevchainError {
  return new DevchainError('INVALID_PARAMS', `malformed ${problem}`)
}

/** The block with its transactions as bytes. */
export function withEncoded(block: Block): EncodedBlock {
  return { ...block, transactions: block.transactions.map(({ raw }) => raw) }
}

/**
 * The block with its transactions read.
 * @throws {DevchainError} as `decodeBlockTransaction`, with the transaction's index
 */
export function withTransactions(block: EncodedBlock, rules: SignatureRules): Block {
  const transactions = block.transactions.map((raw) => decodeBlockTransaction(raw, rules))
  return { ...block, transactions }
}

/** Reads a header; the fields of later forks are there or not, from the first that is missing none. */
export function decodeHeader(item: RlpItem | undefined, name: string): Header {
  const fields = new ListFields(item, name, LEAST_FIELDS, MOST_FIELDS)
  const ifAny = <T>(read: () => T): T | undefined => (fields.hasNext ? read() : undefined)
  return {
    parentHash: fields.hash('parentHash'),
    sha3Uncles: fields.hash('sha3Uncles'),
    miner: fields.address('miner'),
    stateRoot: fields.hash('stateRoot'),
    transactionsRoot: fields.hash('transactionsRoot'),
    receiptsRoot: fields.hash('receiptsRoot'),
    logsBloom: fields.bytes('logsBloom', 256),
    difficulty: fields.integer('difficulty', 32),
    number: fields.integer('number', 8),
    gasLimit: fields.integer('gasLimit', 8),
    gasUsed: fields.integer('gasUsed', 8),
    timestamp: fields.integer('timestamp', 8),
    extraData: fields.bytes('extraData'),
    mixHash: fields.hash('mixHash'),
    nonce: fields.bytes('nonce', 8),
    baseFeePerGas: ifAny(() => fields.integer('baseFeePerGas', 32)),
    withdrawalsRoot: ifAny(() => fields.hash('withdrawalsRoot')),
    blobGasUsed: ifAny(() => fields.integer('blobGasUsed', 8)),
    excessBlobGas: ifAny(() => fields.integer('excessBlobGas', 8)),
    parentBeaconBlockRoot: ifAny(() => fields.hash('parentBeaconBlockRoot')),
    requestsHash: ifAny(() => fields.hash('requestsHash')),
  }
}

function decodeWithdrawal(item: RlpItem, position: number): Withdrawal {
  const fields = new ListFields(item, `withdrawal ${position}`, 4, 4)
  return {
    index: fields.integer('index', 8),
    validatorIndex: fields.integer('validatorIndex', 8),
    address: fields.address('address'),
    amountGwei: fields.integer('amount', 8),
  }
}
