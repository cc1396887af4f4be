// Encodes peers for admin and devchain.
import { type PeerInfo, printEndpoint, type SyncStatus } from '../../../node/peers.ts'
import { boolean, hash, list, nullable, text } from '../../../rpc/primitives.ts'
import type { Encoder } from '../../../rpc/schema.ts'
import { field, plain, plainInteger, plainShape, quantityResult, shape } from '../encodeobject.ts'

/** geth's members, and those special to these links. */
export const peerShape: Encoder<PeerInfo> = shape<PeerInfo>('peer', {
  id: field(text, ({ id }) => id),
  name: field(text, ({ name, client }) => (name === '' ? client : `${client}/${name}`)),
  enode: field(nullable(text), ({ url }) => url),
  caps: field(list(text), () => ['link/1']),
  network: field(
    shape<PeerInfo>('connection', {
      remoteAddress: field(text, printEndpoint),
      inbound: field(boolean, ({ url }) => url === undefined),
      static: field(boolean, ({ url }) => url !== undefined),
    }),
    (peer) => peer,
  ),
  ...plain({ head: hash, number: quantityResult, totalDifficulty: quantityResult }),
  partitioned: field(boolean, ({ isHeld }) => isHeld),
  latencyMs: field(nullable(plainInteger), ({ latencyMs }) => latencyMs && Math.round(latencyMs)),
})

const statusShape: Encoder<SyncStatus> = plainShape('sync status', {
  startingBlock: quantityResult,
  currentBlock: quantityResult,
  highestBlock: quantityResult,
})

/** False while nothing is imported. */
export const syncShape: Encoder<SyncStatus | undefined> = {
  name: 'sync status or false',
  json: { anyOf: [statusShape.json, { const: false }] },
  encode: (status) => (status === undefined ? false : statusShape.encode(status)),
}
