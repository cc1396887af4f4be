// Log lines for peers and the blocks they send.
import { duration, number, oneLine, plural, short, time } from '../../core/format.ts'
import type { Hash } from '../../core/hex.ts'
import type { StateChange } from '../../node/ledger/change.ts'
import type { PeerEvent } from '../../node/peers.ts'

/** Consecutive blocks from a peer: `first` to `number`. Block 0 alone: its genesis was adopted. */
export interface ImportedEvent {
  readonly event: 'imported'
  readonly first: bigint
  readonly number: bigint
  readonly hash: Hash
  readonly transactions: number
  /** Of the newest, in seconds since 1970. */
  readonly timestamp: bigint
  readonly peer: string
}

/** Blocks that a change imported; undefined if none. */
export function importedEvent({ head, peer }: StateChange): ImportedEvent | undefined {
  const { added } = head
  const last = added.at(-1)
  if (last === undefined || peer === undefined) return undefined
  let transactions = 0
  for (const { block } of added.filled()) transactions += block.transactions.length
  const { header, hash } = last.block
  const first = header.number - BigInt(added.length) + 1n
  const { number, timestamp } = header
  return { event: 'imported', first, number, hash, transactions, timestamp, peer }
}

/** `imported blocks 1 to 64 from bob, 60 transactions: 0x1234…abcd, 2026-01-01 00:00:00` */
export function importedLine(event: ImportedEvent): string {
  const { number: last, transactions, hash, timestamp } = event
  const peer = oneLine(event.peer, 40)
  if (last === 0n) return `adopted the genesis of ${peer}: ${time(timestamp)}`
  const holding = transactions === 0 ? 'empty' : plural(transactions, 'transaction')
  return `imported ${blocksText(event)} from ${peer}, ${holding}: ${short(hash)}, ${time(timestamp)}`
}

/** `block 1`, `blocks 1 to 64` */
export function blocksText({
  first,
  number: last,
}: Pick<ImportedEvent, 'first' | 'number'>): string {
  return first === last ? `block ${number(last)}` : `blocks ${number(first)} to ${number(last)}`
}

export function peerLine(event: PeerEvent): string {
  const who = oneLine('peer' in event ? event.peer : event.where, 80)
  const reason = 'reason' in event ? oneLine(event.reason, 300) : ''
  switch (event.kind) {
    case 'linked':
      return `linked to ${who} (${oneLine(event.where, 80)})`
    case 'unlinked':
      return `disconnected from ${who}: ${reason}`
    case 'refused':
      return `refused the link with ${who}: ${reason}`
    case 'unreachable':
      return `cannot reach ${who}: ${reason}; retrying`
    case 'partition':
      return event.isOn ? `partitioned from ${who}` : `reconnected to ${who}`
    case 'banned':
      return `banned ${who} for ${duration(event.ms)}: it broke too many rules`
    case 'rejected':
      return `rejected blocks from ${who}: ${reason}${remedyOf(reason)}`
    case 'passedOver':
      return `skipped transactions from ${who}: ${reason}`
  }
}

/** Broken rules of a block that ran on another state. */
const STATE_DIFFERS =
  /: ((state|receipts) root|logs bloom|gas used): |: (insufficient funds|nonce too (low|high))/

/** What the user may have changed that makes blocks invalid elsewhere. */
function remedyOf(reason: string): string {
  return STATE_DIFFERS.test(reason)
    ? ' (no block contains state set by methods such as hardhat_setBalance: repeat the call on both chains, or send transactions)'
    : ''
}
