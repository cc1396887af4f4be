// Encodes the import status for eth_syncing.
import type { SyncStatus } from '../../../node/peers.ts'
import type { Encoder } from '../../../rpc/schema.ts'
import { field, quantityResult, shape } from '../encodeobject.ts'

const statusShape: Encoder<SyncStatus> = shape<SyncStatus>('sync status', {
  startingBlock: field(quantityResult, ({ startingBlock }) => startingBlock),
  currentBlock: field(quantityResult, ({ currentBlock }) => currentBlock),
  highestBlock: field(quantityResult, ({ highestBlock }) => highestBlock),
})

/** False while nothing is imported. */
export const syncShape: Encoder<SyncStatus | undefined> = {
  name: 'sync status or false',
  json: { anyOf: [statusShape.json, { const: false }] },
  encode: (status) => (status === undefined ? false : statusShape.encode(status)),
}
