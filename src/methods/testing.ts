// testing: blocks as for a consensus client, built in one call and not kept.
import { EMPTY_BYTES } from '../core/hex.ts'
import { type BlockAttributes, type BuiltBlock, buildBlock } from '../node/calls/buildblock.ts'
import { encodeAccessList } from '../protocol/blocks/accesslist.ts'
import type { Block } from '../protocol/blocks/block.ts'
import type { Withdrawal } from '../protocol/blocks/withdrawal.ts'
import { decodeSent } from '../protocol/transactions/sidecar.ts'
import { optional, param } from '../rpc/method.ts'
import { address, boolean, data, hash, hashOfBlock, list, quantity } from '../rpc/primitives.ts'
import type { Decoder, Encoder } from '../rpc/schema.ts'
import { type Methods, method } from './common/context.ts'
import { members, refined, required, uint64 } from './wire/decodeobject.ts'
import { headerField, withdrawalShape } from './wire/encodeblock.ts'
import { field, fieldIfAny, quantityResult, shape } from './wire/encodeobject.ts'

const withdrawal: Decoder<Withdrawal> = refined(
  members('withdrawal', { index: quantity, validatorIndex: quantity, address, amount: quantity }),
  (given, path) => ({
    index: required(given.index, `${path}.index`, 'a quantity'),
    validatorIndex: required(given.validatorIndex, `${path}.validatorIndex`, 'a quantity'),
    address: required(given.address, `${path}.address`, 'a 20-byte address'),
    amountGwei: required(given.amount, `${path}.amount`, 'a quantity, in gwei'),
  }),
)

const payloadAttributes: Decoder<BlockAttributes> = refined(
  members('payload attributes', {
    timestamp: quantity,
    prevRandao: hash,
    suggestedFeeRecipient: address,
    withdrawals: list(withdrawal),
    parentBeaconBlockRoot: hash,
    targetGasLimit: quantity,
    slotNumber: uint64,
  }),
  ({ suggestedFeeRecipient: feeRecipient, withdrawals = [], ...given }, path) => ({
    timestamp: required(given.timestamp, `${path}.timestamp`, 'seconds since 1970'),
    prevRandao: required(given.prevRandao, `${path}.prevRandao`, '32 bytes'),
    feeRecipient: required(feeRecipient, `${path}.suggestedFeeRecipient`, 'a 20-byte address'),
    withdrawals,
    parentBeaconBlockRoot: given.parentBeaconBlockRoot,
    targetGasLimit: given.targetGasLimit,
    slotNumber: given.slotNumber,
  }),
)

type Payload = Block & Pick<BuiltBlock, 'accessList'>

/** The engine API's ExecutionPayloadV3, from amsterdam on V4. */
const executionPayload: Encoder<Payload> = shape<Payload>('execution payload', {
  parentHash: headerField('parentHash'),
  feeRecipient: headerField('miner'),
  stateRoot: headerField('stateRoot'),
  receiptsRoot: headerField('receiptsRoot'),
  logsBloom: headerField('logsBloom'),
  prevRandao: headerField('mixHash'),
  blockNumber: headerField('number'),
  gasLimit: headerField('gasLimit'),
  gasUsed: headerField('gasUsed'),
  timestamp: headerField('timestamp'),
  extraData: headerField('extraData'),
  baseFeePerGas: field(quantityResult, ({ header }) => header.baseFeePerGas ?? 0n),
  blockHash: field(hash, (block) => block.hash),
  transactions: field(list(data), ({ transactions }) => transactions.map(({ raw }) => raw)),
  withdrawals: fieldIfAny(list(withdrawalShape), ({ header, withdrawals }) =>
    header.withdrawalsRoot === undefined ? undefined : withdrawals,
  ),
  blobGasUsed: headerField('blobGasUsed'),
  excessBlobGas: headerField('excessBlobGas'),
  blockAccessList: fieldIfAny(data, ({ accessList }) => accessList && encodeAccessList(accessList)),
  slotNumber: headerField('slotNumber'),
})

const blobsBundle: Encoder<BuiltBlock['sidecars']> = shape<BuiltBlock['sidecars']>('blobs bundle', {
  commitments: field(list(data), (sidecars) => sidecars.flatMap((each) => each.commitments)),
  proofs: field(list(data), (sidecars) => sidecars.flatMap((each) => each.proofs)),
  blobs: field(list(data), (sidecars) => sidecars.flatMap((each) => each.blobs)),
})

export const testingMethods: Methods = [
  method('testing_buildBlockV1', {
    summary: 'Builds a block on a parent from given or pooled transactions, without adding it.',
    params: [
      param('parentBlockHash', hashOfBlock),
      param('payloadAttributes', payloadAttributes),
      optional('transactions', list(data)),
      optional('extraData', data, EMPTY_BYTES),
    ],
    result: shape<BuiltBlock>('built block', {
      executionPayload: field(executionPayload, ({ block, accessList }) => ({
        ...block,
        accessList,
      })),
      blockValue: field(quantityResult, ({ value }) => value),
      blobsBundle: field(blobsBundle, ({ sidecars }) => sidecars),
      executionRequests: field(list(data), ({ requests }) => requests),
      shouldOverrideBuilder: field(boolean, () => false),
    }),
    example: {
      params: [
        `0x${'ab'.repeat(32)}`,
        {
          timestamp: '0x1ce',
          prevRandao: `0x${'00'.repeat(32)}`,
          suggestedFeeRecipient: `0x${'00'.repeat(20)}`,
          withdrawals: [],
          parentBeaconBlockRoot: `0x${'00'.repeat(32)}`,
        },
        [],
      ],
    },
    onFork: 'here',
    handle: ({ chain, caller }, parentHash, attributes, encoded, extraData) => {
      const transactions = encoded?.map((raw) => decodeSent(raw))
      return buildBlock(chain, { parentHash, attributes, transactions, extraData }, caller)
    },
  }),
]
