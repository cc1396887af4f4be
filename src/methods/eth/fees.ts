// eth: gas prices, now and in the past.
import { DevchainError, printValue } from '../../core/errors.ts'
import { fee } from '../../core/format.ts'
import { recordAt } from '../../node/chain/lookup.ts'
import { latest } from '../../node/ledger/references.ts'
import {
  blobFeeOf,
  type FeeHistory,
  feeHistory,
  gasPrice,
  maxPriorityFeePerGas,
  upcomingBaseFee,
} from '../../node/sending/gasoracle.ts'
import { optional, param } from '../../rpc/method.ts'
import { asJson, list, quantity } from '../../rpc/primitives.ts'
import type { Decoder, Encoder } from '../../rpc/schema.ts'
import { headBlock, type Methods, method } from '../common/context.ts'
import { requireFork } from '../common/require.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { fieldIfAny, plain, quantityResult, shape, weiPerGas } from '../wire/encodeobject.ts'

/** A share of the whole, from 0 to 1, as a JSON number. */
const ratio: Encoder<number> = asJson('ratio', { type: 'number', minimum: 0, maximum: 1 })

const percentile: Decoder<number> = {
  name: 'percentiles',
  json: { type: 'number', minimum: 0, maximum: 100 },
  decode: (value, path) => {
    if (typeof value === 'number' && value >= 0 && value <= 100) return value
    const message = `${path}: expected a percentile from 0 to 100, got ${printValue(value)}`
    // in the list that the path names, from 1
    const position = Number(/\[(\d+)\]$/.exec(path)?.[1] ?? 0) + 1
    const facts = typeof value === 'number' ? { percentile: value, position } : {}
    throw new DevchainError('INVALID_PARAMS', message, undefined, facts)
  },
}

export const feeMethods: Methods = [
  method('eth_gasPrice', {
    summary: 'Returns a gas price, in wei, with which a transaction is mined now.',
    result: weiPerGas,
    example: { result: '0x0' },
    handle: ({ chain }) => gasPrice(chain.state),
  }),
  method('eth_maxPriorityFeePerGas', {
    summary: 'Returns a tip per gas, in wei, with which a transaction is mined now.',
    result: weiPerGas,
    example: { result: '0x0' },
    handle: ({ chain }) => maxPriorityFeePerGas(chain.state),
  }),
  method('eth_baseFee', {
    summary: 'Returns the base fee of the next block, in wei per gas.',
    result: quantityResult,
    example: { result: '0x0' },
    describe: (_values, baseFee) => fee(BigInt(String(baseFee))),
    handle: ({ chain }) => upcomingBaseFee(chain.state),
  }),
  method('eth_blobBaseFee', {
    aliases: ['eth_blobGasPrice'],
    summary: 'Returns the price per blob gas at the head, in wei; 0 before cancun.',
    result: weiPerGas,
    example: { result: '0x1' },
    handle: (context) => blobFeeOf(context.chain.state, headBlock(context).header),
  }),
  method('eth_feeHistory', {
    summary: 'Returns base fees, gas used ratios and tips of a range of blocks.',
    params: [
      param('blockCount', quantity),
      optional('newestBlock', blockReference, latest),
      optional('rewardPercentiles', list(percentile)),
    ],
    result: shape<FeeHistory>('fee history', {
      ...plain({ oldestBlock: quantityResult, baseFeePerGas: list(quantityResult) }),
      ...plain({ gasUsedRatio: list(ratio), baseFeePerBlobGas: list(quantityResult) }),
      ...plain({ blobGasUsedRatio: list(ratio) }),
      reward: fieldIfAny(list(list(quantityResult)), (fees) => fees.reward),
    }),
    example: { params: ['0x1', 'latest', [50]] },
    onFork: 'feeHistory',
    handle: async ({ chain, caller, profile }, count, newest, asked) => {
      if (!profile.ignoresForks) requireFork(chain, 'london', 'a base fee')
      const record = await recordAt(chain, newest, caller)
      const fees = await feeHistory(chain.state, count, record, asked)
      if ((asked ?? []).length > 0 || profile.emptyReward === undefined) return fees
      return { ...fees, reward: profile.emptyReward === 'empty' ? [] : undefined }
    },
  }),
]
