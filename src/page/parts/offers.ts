// Acts of which each has a disclosure with its call to copy, and those that go on from a block.
import type { VNode } from 'preact'
import { number as count, plural } from '../../core/format.ts'
import type { RpcCall } from '../acts/callcode.ts'
import { hex } from '../data/format.ts'
import { useChain, useView } from '../data/use.ts'
import { html } from '../html.ts'
import { CallForm } from './form.ts'

interface OfferProps {
  readonly label: string
  readonly about: string
  readonly calls: readonly RpcCall[]
  readonly isDangerous?: boolean
}

export function Offer({ label, calls, ...rest }: OfferProps): VNode {
  return html`<details class="offer"><summary class="inset">${label}</summary>
    <${CallForm} ...${rest} buttons=${{ [label]: () => calls }} />
  </details>`
}

/** @param hash of a block that is off the chain */
export function BlockOffers({ number, hash }: { number: number; hash?: string }): VNode {
  const { path } = useChain()
  const { head } = useView()
  const behind = (head?.number ?? number) - number
  const name = `block ${count(number)}`
  const branch = [
    { method: 'devchain_newChain', params: [{ from: path, block: hash ?? hex(number) }] },
  ]
  return html`
    ${
      hash === undefined &&
      behind > 0 &&
      html`<${Offer} label=${`Go back to ${name}`} isDangerous calls=${[{ method: 'debug_setHead', params: [hex(number)] }]}
        about=${`Removes ${plural(behind, 'block')} with their transactions. They stay as a branch under Time, to be replayed.`} />`
    }
    <${Offer} label=${`Branch from ${name}`} calls=${branch}
      about="Makes another chain that begins after this block, at a path of its own. Change what you like there; later blocks are under its Time, to be replayed." />
    ${
      hash !== undefined &&
      html`<${Offer} label=${`Replay up to ${name}`} calls=${[{ method: 'devchain_replay', params: [hash] }]}
        about="Runs the blocks up to this one again on the newest block, each with its time, fees and randomness, and compares." />`
    }`
}
