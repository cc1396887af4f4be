// eth: the chain's rules and the data it keeps.
import { type ForkConfig, forkConfigsOf } from '../../node/ledger/forkconfig.ts'
import type { Block } from '../../protocol/blocks/block.ts'
import type { BlobRules } from '../../protocol/fees.ts'
import { address, boolean, data, hash, nullable } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { headBlock, type Methods, method } from '../common/context.ts'
import {
  field,
  mapOf,
  plain,
  plainInteger,
  plainShape,
  quantityResult,
  shape,
} from '../wire/encodeobject.ts'

/** Kinds of data in `eth_capabilities`. */
const KEPT = ['state', 'tx', 'logs', 'receipts', 'blocks', 'stateproofs']

const addressesByName = mapOf('addresses by name', address)

/** EIP-7910 writes counts and times as JSON numbers. */
const blobSchedule: Encoder<BlobRules> = shape<BlobRules>('blob schedule', {
  baseFeeUpdateFraction: field(plainInteger, ({ updateFraction }) => updateFraction),
  ...plain({ max: plainInteger, target: plainInteger }),
})

const forkConfig: Encoder<ForkConfig> = shape<ForkConfig>('fork configuration', {
  activationTime: field(plainInteger, ({ activationTime }) => activationTime),
  blobSchedule: field(nullable(blobSchedule), ({ blobRules }) => blobRules),
  ...plain({ chainId: quantityResult, forkId: data }),
  ...plain({ precompiles: addressesByName, systemContracts: addressesByName }),
})

/** Nodes may prune old data of this kind. Here everything is kept from the genesis on, while the chain runs. */
const kept: Encoder<Block> = shape<Block>('kept', {
  disabled: field(boolean, () => false),
  oldestBlock: field(quantityResult, () => 0n),
})

const head: Encoder<Block> = shape<Block>('head', {
  number: field(quantityResult, ({ header }) => header.number),
  hash: field(hash, (block) => block.hash),
})

export const configMethods: Methods = [
  method('eth_config', {
    summary: 'Returns the fork configuration: current, next and last (EIP-7910).',
    result: plainShape('fork configurations', {
      current: forkConfig,
      next: nullable(forkConfig),
      last: nullable(forkConfig),
    }),
    handle: ({ chain }) => forkConfigsOf(chain.state),
  }),
  /** @see https://github.com/ethereum/execution-apis/pull/755 */
  method('eth_capabilities', {
    summary: 'Returns the range of blocks with each kind of data: all blocks have all kinds.',
    result: shape<Block>('capabilities', {
      head: field(head, (block) => block),
      ...Object.fromEntries(KEPT.map((name) => [name, field(kept, (block) => block)])),
    }),
    handle: headBlock,
  }),
]
