// The chains of the process, the network that this one forks, and its peers.
import { useEffect } from 'preact/hooks'
import { number as count, duration, plural, short } from '../../core/format.ts'
import { client } from '../data/chain.ts'
import { linkTo } from '../data/route.ts'
import { type Reading, useRead } from '../data/use.ts'
import { html, type VNode } from '../html.ts'
import { Empty, Fact, Hex, Panel, Waiting } from '../parts/basics.ts'

export interface RpcChain {
  readonly name: string | null
  readonly path: string
  readonly chainId: number | null
  readonly blockNumber: string | null
  /** The block after which it began. */
  readonly origin: { readonly blockNumber: string; readonly blockHash: string } | null
  readonly age: number
  readonly requests: number
  readonly memory: number
}

interface RpcFork {
  readonly chainId: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly source: string
  readonly proven: boolean
  readonly requestsSent: number
  readonly itemsAsked: number
}

interface RpcPeer {
  readonly id: string
  readonly name: string
  readonly network: { readonly remoteAddress: string; readonly inbound: boolean }
  readonly number: string
  readonly partitioned: boolean
  readonly latencyMs: number | null
}

const MEGABYTE = 1_000_000

/** Milliseconds: chains, peers and a fork's requests change without a change of this chain. */
const EVERY_MS = 2_000

export function NetworkView(): VNode {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || client.refresh(), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const chains = useRead<readonly RpcChain[]>('devchain_chains', [], 'now')
  const peers = useRead<readonly RpcPeer[]>('admin_peers', [], 'now')
  return html`<h1 class="hidden">Network</h1>
    <${Cards} title="Chains" noun="chain" read=${chains} act=${['newchain', 'New chain']}
      card=${(each: RpcChain) => html`<${ChainCard} chain=${each} isHere=${each.path === client.path} />`} />
    <${Fork} />
    <${Cards} title="Peers" noun="peer" read=${peers} act=${['peer', 'Add a peer']} empty="No peers. Link another devchain by its URL."
      card=${(each: RpcPeer) => html`<${PeerCard} peer=${each} />`} />`
}

interface CardsProps<T> {
  readonly title: string
  readonly noun: string
  readonly read: Reading<readonly T[]>
  readonly card: (each: T) => VNode
  readonly empty?: string
  /** What adds one. */
  readonly act: readonly [id: string, label: string]
}

function Cards<T>({ title, noun, read, card, empty, act: [id, label] }: CardsProps<T>): VNode {
  const { value } = read
  return html`<${Panel} title=${title} note=${value && plural(value.length, noun)}>
    ${value?.length === 0 ? html`<${Empty}>${empty}<//>` : value ? html`<div class="cards inset">${value.map(card)}</div>` : html`<${Waiting} read=${read} />`}
    <p class="inset"><a class="button" href=${linkTo(['act'], { do: id })}>${label}</a></p><//>`
}

function ChainCard({ chain, isHere }: { chain: RpcChain; isHere: boolean }): VNode {
  const { path, name, chainId, blockNumber, age, requests, memory } = chain
  return html`<article class="card" aria-label=${`Chain ${path}`}>
    <h3>${isHere ? path : html`<a href=${path}>${path}</a>`} ${isHere && html`<span class="badge good">this one</span>`}</h3>
    <p>block ${blockNumber === null ? 'unknown' : count(Number(blockNumber))}<span class="dim">${chainId !== null && ` · chain ${chainId}`}</span></p>
    <p class="dim">${plural(requests, 'request')} · ${duration(1000 * age)} old${memory >= MEGABYTE && ` · ${count(Math.round(memory / MEGABYTE))} MB`}</p>
    ${name !== null && !isHere && html`<a href=${linkTo(['act'], { do: 'dropchain', name })}>Drop it</a>`}
  </article>`
}

function Fork(): VNode {
  const read = useRead<RpcFork | null>('devchain_forkInfo', [], 'now')
  const fork = read.value
  if (fork === undefined) return html`<${Panel} title="Fork"><${Waiting} read=${read} /><//>`
  if (fork === null)
    return html`<${Panel} title="Fork"><${Empty}>This chain is no fork. <code>--fork URL</code> starts one.<//><//>`
  const own = Number(fork.blockNumber) + 1
  return html`<${Panel} title="Fork"><dl class="facts">
    <${Fact} name="Network">${fork.source}, chain ${Number(fork.chainId)}<//>
    <${Fact} name="Forked at">block ${count(own - 1)} <${Hex} value=${fork.blockHash} /><//>
    <${Fact} name="Ours">blocks from <a href=${linkTo(['block', own])}>${count(own)}</a> on<//>
    <${Fact} name="Fetched">${plural(fork.itemsAsked, 'item')} in ${plural(fork.requestsSent, 'request')}${fork.proven && ', with proofs'}<//>
  </dl><//>`
}

function PeerCard({ peer }: { peer: RpcPeer }): VNode {
  const { id, name, network, number, partitioned, latencyMs } = peer
  return html`<article class="card" aria-label=${`Peer ${name}`}>
    <h3>${name} ${partitioned && html`<span class="badge warn">partitioned</span>`}</h3>
    <p>block ${count(Number(number))}<span class="dim"> · ${network.inbound ? 'from' : 'to'} ${network.remoteAddress}</span></p>
    <p class="dim">${short(id)}${latencyMs !== null && ` · ${count(latencyMs)} ms`}</p>
    <a href=${linkTo(['act'], { do: partitioned ? 'heal' : 'partition', peer: id })}>${partitioned ? 'Connect again' : 'Partition'}</a>
  </article>`
}
