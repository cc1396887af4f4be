// Encodes new blocks with their transactions and results, for manual mining.
import { revertText } from '../../evm/reasons.ts'
import type { BlockRecord } from '../../node/ledger/blockrecord.ts'
import { executedAt, type TransactionPlace } from '../../node/ledger/blocktree.ts'
import type { Upstream } from '../../node/ledger/upstream.ts'
import { data, list, text } from '../../rpc/primitives.ts'
import type { Encoder } from '../../rpc/schema.ts'
import { blockFields, viewOfBlock } from './encodeblock.ts'
import { encodedAs, field, fieldIfAny, reached, shape } from './encodeobject.ts'
import { placedTransactionFields, viewOfPlaced } from './encodetransaction.ts'

/** With its return data, and its revert reason if any (anvil's members). */
const minedTransaction: Encoder<TransactionPlace> = shape('mined transaction', {
  ...reached(placedTransactionFields, (place: TransactionPlace) => viewOfPlaced(place, false)),
  output: field(data, (place) => executedAt(place).output),
  revertReason: fieldIfAny(text, (place) => {
    const { failure, output } = executedAt(place)
    return failure?.kind === 'revert' ? revertText(output) : undefined
  }),
})

export interface MinedBlock {
  readonly record: BlockRecord
  readonly upstream: Upstream | undefined
}

export const minedBlockShape: Encoder<MinedBlock> = shape<MinedBlock>('mined block', {
  ...reached(blockFields, ({ record, upstream }: MinedBlock) => viewOfBlock(record, upstream)),
  transactions: field(
    encodedAs(list(minedTransaction), ({ record }: MinedBlock) =>
      record.executed.map((_, index) => ({ record, index })),
    ),
    (block) => block,
  ),
})
