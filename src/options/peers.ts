// The options for links to other chains: a part of the table.
import { type Option, type Optional, off } from './option.ts'
import { choice, count, linkHosts, peerUrls, text } from './values.ts'

export class PeerTable {
  /** URLs such as `ws://127.0.0.1:8546`. */
  readonly peer: Option<readonly string[]> = {
    type: peerUrls,
    sentence: 'Link to another devchain, and keep the link',
    default: [],
  }
  readonly nodeName: Optional<string> = {
    type: text('NAME', 'one line of up to 32 characters', /^[^\r\n]{1,32}$/),
    sentence: 'What peers call this node in their logs',
    unset: 'the beginning of its id',
  }
  readonly follow: Option<'on' | 'off'> = {
    type: choice('on', 'off'),
    sentence: 'Whether heavier branches of peers are taken over',
    default: 'on',
  }
  readonly mineForPeers: Option<boolean> = off(
    'Instant mining also mines the transactions that peers send',
  )
  readonly noLink: Option<boolean> = off('Take no links; those of --peer are made all the same')
  readonly linkHost: Option<readonly string[]> = {
    type: linkHosts,
    sentence: 'Address that links are taken from besides those of this machine',
    default: [],
  }
  readonly maxPeers: Option<number> = {
    type: count('NUMBER', 1, 1_000, 'a whole number from 1 to 1000'),
    sentence: 'Peers at a time',
    default: 25,
  }
}
