// How far an import has come, as eth_syncing answers it.
import type { Encoder } from '../../../rpc/schema.ts'
import { field, quantityResult, shape } from '../encodeobject.ts'

/** The numbers of three blocks. */
interface Status {
  readonly startingBlock: bigint
  readonly currentBlock: bigint
  readonly highestBlock: bigint
}

const statusShape: Encoder<Status> = shape<Status>('sync status', {
  startingBlock: field(quantityResult, ({ startingBlock }) => startingBlock),
  currentBlock: field(quantityResult, ({ currentBlock }) => currentBlock),
  highestBlock: field(quantityResult, ({ highestBlock }) => highestBlock),
})

/** An object, or false while nothing is imported. */
export const syncShape: Encoder<Status | undefined> = {
  name: 'sync status or false',
  json: { anyOf: [statusShape.json, { const: false }] },
  encode: (status) => (status === undefined ? false : statusShape.encode(status)),
}
