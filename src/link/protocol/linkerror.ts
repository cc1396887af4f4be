// Why a link is refused or ends.
import type { ReputationEvent } from '../../node/peers.ts'

/** The text goes to the other side and to the log. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
  /** How it counts against the peer; undefined: not at all. */
  readonly event: ReputationEvent | undefined

  constructor(message: string, event?: ReputationEvent) {
    super(message)
    this.event = event
  }
}
