// The options for links to other chains: a part of the table.
import { type Option, type Optional, off } from './option.ts'
import { choice, count, linkHosts, peerUrls, text } from './values.ts'

export class LinkTable {
  /** URLs such as `ws://127.0.0.1:8546`. */
  readonly peer: Option<readonly string[]> = {
    type: peerUrls,
    sentence: 'Link to another devchain; reconnect when the link breaks',
    default: [],
  }
  readonly nodeName: Optional<string> = {
    type: text('NAME', 'one line of up to 32 characters', /^[^\r\n]{1,32}$/),
    sentence: 'Name of this node in the logs of its peers',
    unset: 'the beginning of its id',
  }
  readonly follow: Option<'on' | 'off'> = {
    type: choice('on', 'off'),
    sentence: 'Whether to adopt heavier branches of peers',
    default: 'on',
  }
  readonly mineForPeers: Option<boolean> = off('Also mine transactions from peers instantly')
  readonly noLink: Option<boolean> = off('Refuse incoming links; still dial --peer')
  readonly linkHost: Option<readonly string[]> = {
    type: linkHosts,
    sentence: 'Address to accept links from, besides this machine',
    default: [],
  }
  readonly maxPeers: Option<number> = {
    type: count('NUMBER', 1, 1_000),
    sentence: 'Maximum number of peers',
    default: 25,
  }
}
