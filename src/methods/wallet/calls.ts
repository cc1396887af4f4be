// wallet: batches of calls, as apps send them through a wallet (EIP-5792), for this node's accounts.
import { DevchainError } from '../../core/errors.ts'
import { type Address, quantityFromBigint } from '../../core/hex.ts'
import { executedAt, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import { isInstant } from '../../node/ledger/miningmode.ts'
import {
  type BatchOrder,
  type BatchStatus,
  batchStatus,
  requireOwn,
  sendBatch,
} from '../../node/sending/batch.ts'
import type { Log } from '../../protocol/blocks/receipt.ts'
import { optional, param } from '../../rpc/method.ts'
import {
  address,
  anything,
  asJson,
  boolean,
  data,
  enumeration,
  hash,
  list,
  nothing,
  quantity,
  text,
} from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid, type Json } from '../../rpc/schema.ts'
import { type Methods, method } from '../common/context.ts'
import { keyed, members, refined, required } from '../wire/decodeobject.ts'
import {
  field,
  fieldIfAny,
  plainInteger,
  plainShape,
  quantityResult,
  shape,
} from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

/** Version of requests and replies. */
const VERSION = '2.0.0'

/** Characters of an id: 4,096 bytes as 0x and digits. */
const LONGEST_ID = 8_194

const EXAMPLE_ID = '0x9c46e6bb6e6c8d4e9b3c1a1b6d4cb7e2ed6ebd6d9a4d0a5d1f4c5a4d3b2a1908'

/** An app's requested capabilities. None are supported, so all must be optional. */
const noCapabilities: Decoder<undefined> = refined(
  keyed('capabilities', text, anything),
  (capabilities, path) => {
    for (const [name, value] of capabilities) {
      if ((value as { readonly optional?: Json } | null)?.optional === true) continue
      const message = `unsupported capability: ${path}.${name} is not marked {"optional": true}, and this node does not have it`
      throw new DevchainError('UNSUPPORTED_CAPABILITY', message)
    }
    return undefined
  },
)

const id: Decoder<string> = {
  name: 'id',
  example: EXAMPLE_ID,
  json: { title: 'id', type: 'string', minLength: 1, maxLength: LONGEST_ID },
  decode: (value, path) => {
    if (typeof value === 'string' && value !== '' && value.length <= LONGEST_ID) return value
    throw invalid(path, `text of 1 to ${LONGEST_ID} characters`, value)
  },
}

const batchOrder: Decoder<BatchOrder> = refined(
  members('batch of calls', {
    version: enumeration([VERSION]),
    id,
    from: address,
    chainId: quantity,
    atomicRequired: boolean,
    calls: list(
      members('call', { to: address, data, value: quantity, capabilities: noCapabilities }),
    ),
    capabilities: noCapabilities,
  }),
  (given, path) => {
    required(given.version, `${path}.version`, VERSION)
    const calls = required(given.calls, `${path}.calls`, 'a list of calls')
    if (calls.length === 0) throw invalid(`${path}.calls`, 'one call at least', calls)
    const { from, chainId, atomicRequired: isAtomic = false } = given
    return { id: given.id, from, chainId, isAtomic, calls }
  },
)

const logShape: Encoder<Log> = plainShape('log of a call', { address, data, topics: list(hash) })

const callReceipt: Encoder<TransactionPlace> = shape<TransactionPlace>('receipt of a call', {
  logs: field(list(logShape), (place) => executedAt(place).receipt.logs),
  status: field(quantityResult, (place) => (executedAt(place).failure === undefined ? 1n : 0n)),
  blockHash: field(hash, ({ record }) => record.block.hash),
  blockNumber: field(quantityResult, ({ record }) => record.block.header.number),
  gasUsed: field(quantityResult, (place) => executedAt(place).receipt.gasUsed),
  transactionHash: field(hash, (place) => executedAt(place).transaction.hash),
})

const statusShape: Encoder<BatchStatus> = shape<BatchStatus>('status of a batch', {
  version: field(text, () => VERSION),
  id: field(text, ({ batch }) => batch.id),
  chainId: field(quantityResult, ({ batch }) => batch.chainId),
  status: field(plainInteger, ({ code }) => code),
  atomic: field(boolean, ({ batch }) => batch.isAtomic),
  receipts: fieldIfAny(list(callReceipt), ({ places }) =>
    places.length === 0 ? undefined : places,
  ),
})

const capabilities: Encoder<Json> = asJson('capabilities by chain id', {
  type: 'object',
  additionalProperties: { type: 'object' },
})

export const walletCallMethods: Methods = [
  method('wallet_sendCalls', {
    summary: 'Sends calls, with {atomicRequired: true} in one block or none (EIP-5792).',
    params: [param('batch', batchOrder)],
    result: shape<string>('sent batch', { id: field(text, (each) => each) }),
    example: {
      params: [
        {
          version: VERSION,
          chainId: '0x21',
          from: ACCOUNT,
          atomicRequired: true,
          calls: [{ to: ACCOUNT, value: '0x1' }],
        },
      ],
    },
    effects: 'chain',
    describe: ([{ calls, isAtomic }], sent) =>
      `${calls.length} ${calls.length === 1 ? 'call' : 'calls'}${isAtomic ? ' in one block' : ''}, batch ${(sent as { id: string }).id}`,
    handle: ({ chain, caller }, order) => sendBatch(chain, order, caller),
  }),
  method('wallet_getCallsStatus', {
    summary: 'Returns the status and receipts of a wallet_sendCalls batch (EIP-5792).',
    params: [param('id', id)],
    result: statusShape,
    handle: ({ chain }, wanted) => batchStatus(chain.state, wanted),
  }),
  method('wallet_showCallsStatus', {
    summary: 'Prints the status of a wallet_sendCalls batch in the log.',
    params: [param('id', id)],
    result: nothing,
    describe: ([wanted], _, { chain }) => {
      const { batch, code, places } = batchStatus(chain.state, wanted)
      return `batch ${batch.id}: status ${code}, ${places.length} of ${batch.size} in blocks`
    },
    handle: ({ chain }, wanted) => {
      batchStatus(chain.state, wanted)
      return null
    },
  }),
  method('wallet_getCapabilities', {
    summary: 'Returns by chain whether wallet_sendCalls can be atomic for an account (EIP-5792).',
    params: [optional('account', address), optional('chainIds', list(quantity))],
    result: capabilities,
    example: { result: { '0x21': { atomic: { status: 'supported' } } } },
    handle: ({ chain }, account: Address | undefined, chainIds) => {
      if (account !== undefined) requireOwn(chain, account)
      const { chainId } = chain.state.config
      // none on other chains
      if (chainIds?.includes(chainId) === false) return {}
      const status = isInstant(chain.state.mining) ? 'supported' : 'unsupported'
      return { [quantityFromBigint(chainId)]: { atomic: { status } } }
    },
  }),
]
