// Why a link is refused or ends.
import type { Deed } from '../../node/peers.ts'

/** A reason in words, told to the other side and in the log. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** What it counts as; undefined: nobody did wrong. */
  readonly deed: Deed | undefined

  constructor(message: string, deed?: Deed) {
    super(message)
    this.deed = deed
  }
}
