// Why a link is refused or ends.
import type { Deed } from '../../node/peers.ts'

/** The text goes to the other side and to the log. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** How it counts against the peer; undefined: not at all. */
  readonly deed: Deed | undefined

  constructor(message: string, deed?: Deed) {
    super(message)
    this.deed = deed
  }
}
