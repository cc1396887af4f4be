// Decodes the peer URL of admin_addPeer.
import { readPeerUrl } from '../../../options/values.ts'
import { type Decoder, invalid } from '../../../rpc/schema.ts'

/** `ws://127.0.0.1:8546`, in any form of the option --peer. */
export const peerUrl: Decoder<string> = {
  name: 'url',
  json: { type: 'string' },
  decode: (value, path) => {
    const url = typeof value === 'string' ? readPeerUrl(value.trim()) : undefined
    if (url !== undefined) return url
    throw invalid(path, 'the WebSocket URL of another devchain, such as ws://127.0.0.1:8546', value)
  },
}
