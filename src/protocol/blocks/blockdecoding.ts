// Reading blocks: the form in which nodes export and exchange them.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError } from '../../core/errors.ts'
import { decodeRlp, encodeRlp, firstOfList, type RlpItem } from '../../core/rlp.ts'
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

/**
 * Reads a block. What is read encodes to the same bytes; whether it is valid is another question.
 * @throws {DevchainError} `INVALID_PARAMS` for what is no well-formed block
 */
export function decodeBlock(bytes: Uint8Array): EncodedBlock {
  const fields = new ListFields(decodeRlp(bytes), 'block', 3, 4)
  const header = decodeHeader(fields.item(), 'header')
  // a part of the bytes would keep all of them
  const encodedHeader = new Uint8Array(firstOfList(bytes))
  rememberEncoding(header, encodedHeader)
  // a legacy transaction is a list in the list, the others are byte strings
  const transactions = fields
    .list('transactions')
    .map((item) => (item instanceof Uint8Array ? item : encodeRlp(item)))
  const uncles = fields.list('uncles').map((item, i) => decodeHeader(item, `uncle ${i}`))
  if (fields.hasNext !== (header.withdrawalsRoot !== undefined)) {
    const problem = fields.hasNext ? 'has withdrawals and no root of them' : 'has no withdrawals'
    throw new DevchainError('INVALID_PARAMS', `malformed block: it ${problem}`)
  }
  const withdrawals = fields.hasNext ? fields.list('withdrawals').map(decodeWithdrawal) : []
  return {
    header,
    hash: keccakHash(encodedHeader),
    transactions,
    uncles,
    withdrawals,
    size: bytes.length,
  }
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
