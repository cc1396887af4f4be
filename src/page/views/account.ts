// An account: what it has, and of a contract its functions, storage, events and source.
import { number as count, ether, plural } from '../../core/format.ts'
import { Events } from '../contract/events.ts'
import { Functions } from '../contract/functions.ts'
import { History, type HistoryProps, useTransactionsOf } from '../contract/history.ts'
import { isAddress } from '../data/format.ts'
import { linkTo, type ViewProps } from '../data/route.ts'
import { type BlockParam, stateOf } from '../data/time.ts'
import { useNames, useRead } from '../data/use.ts'
import { html, type VNode } from '../html.ts'
import { Copy, Empty, Fact, HexLink, Long, Panel, Title, Waiting } from '../parts/basics.ts'
import { Sources } from '../parts/source.ts'
import { Storage } from '../parts/storage.ts'
import { TransactionList } from '../parts/transactions.ts'

/** Transactions that are searched for. */
const NEWEST = 50

export interface RpcContract {
  readonly name: string
  readonly guess: boolean
  readonly via: string | null
  readonly proxy: string | null
  readonly compiler: string
  readonly abi: readonly unknown[]
  readonly sources: Readonly<Record<string, string>>
}

const VIA: Readonly<Record<string, string>> = {
  proxy: 'through a proxy',
  beacon: 'through a proxy and its beacon',
  clone: 'as a clone',
  delegation: 'by delegation',
}

export function AccountView({ route }: ViewProps): VNode {
  const address = (route.parts[1] ?? '').toLowerCase()
  return isAddress(address)
    ? html`<${Account} address=${address} route=${route} />`
    : html`<h1>Account</h1><${Empty}>This is no address.<//>`
}

interface ContractProps extends HistoryProps {
  readonly block: BlockParam
  readonly contract: RpcContract | null | undefined
}

function Account({ address, route }: HistoryProps): VNode {
  const block = stateOf(route)
  const code = useRead<string>('eth_getCode', [address, block], 'now')
  const { value: contract } = useRead<RpcContract | null>('devchain_contract', [address], 'now')
  const name = useNames([address]).get(address)
  const isContract = code.value !== undefined && code.value !== '0x'
  const props: ContractProps = { address, route, block, contract }
  if (code.value === undefined) return html`<h1>Account</h1><${Waiting} read=${code} />`
  return html`
    <div class="title flow"><${Title} text=${name ?? contract?.name ?? (isContract ? 'Contract' : 'Account')} />
      ${isContract && html`<span class="badge">contract</span>`}
      <nav class="flow" aria-label="Acts">
        <a class="button" href=${linkTo(['act'], { do: 'send', to: address })}>Send to it</a>
        <a class="button" href=${linkTo(['act'], { do: 'balance', account: address })}>Set balance</a>
      </nav></div>
    <p class="flow"><span class="mono">${address}</span><${Copy} text=${address} /></p>
    <${Panel} title=${isContract ? 'Contract' : 'Account'} isBusy=${contract === undefined}><${AccountFacts} ...${props} code=${code.value} /><//>
    <${isContract ? Tabs : Transactions} ...${props} />`
}

function AccountFacts({ address, block, code, contract }: ContractProps & { code: string }): VNode {
  const { value: balance } = useRead<string>('eth_getBalance', [address, block], 'now')
  const { value: nonce } = useRead<string>('eth_getTransactionCount', [address, block], 'now')
  const isContract = code !== '0x'
  const creatorMethod = isContract ? 'ots_getContractCreator' : ''
  const { value: creation } = useRead<RpcCreation | null>(creatorMethod, [address], 'era')
  const creator = useNames(creation ? [creation.creator] : []).get(creation?.creator ?? '')
  const { name, guess, via, proxy, compiler } = contract ?? {}
  return html`<dl class="facts">
    <${Fact} name="Balance">${balance === undefined ? '' : ether(BigInt(balance))}<//>
    <${Fact} name="Nonce">${nonce === undefined ? '' : count(BigInt(nonce))}<//>
    <${Fact} name="Code">${isContract ? plural(code.length / 2 - 1, 'byte') : undefined}<//>
    <${Fact} name="Runs">${name && html`${guess && 'code like that of '}<${Long} text=${name} />${via && ` ${VIA[via] ?? ''}`}${proxy && html` <span class="dim">(${proxy})</span>`}`}<//>
    <${Fact} name="Compiler">${compiler || undefined}<//>
    <${Fact} name="Created">${isContract ? createdText(creation, creator) : undefined}<//>
  </dl>`
}

type RpcCreation = Readonly<{ hash: string; creator: string }>

/** Keeps its place while it is read. */
function createdText(
  creation: RpcCreation | null | undefined,
  name: string | undefined,
): VNode | string {
  if (!creation) return creation === null ? 'not by a transaction' : ''
  const { creator, hash } = creation
  return html`by <${HexLink} value=${creator} to="address" name=${name} /> in <${HexLink} value=${hash} to="tx" />`
}

const TABS = { Functions, Storage, Events, History, Source: Sources, Transactions }
const TAB_NAMES = Object.keys(TABS) as readonly (keyof typeof TABS)[]

function Tabs({ address, route, block, contract }: ContractProps): VNode {
  const linked = TAB_NAMES.find((each) => each.toLowerCase() === route.query.tab)
  const current = linked ?? 'Functions'
  const props = { abi: [], sources: {}, ...contract, address, route, block }
  // whoever moves in time begins with the newest changes again
  const key = current === 'History' ? route.at : undefined
  const tab = html`<${TABS[current]} key=${key} ...${props} />`
  const isUnknown = !contract && (current === 'Functions' || current === 'Source')
  const unknown = html`<${Empty}>No artifact has this code. Start devchain in the folder of the project, or pass <code>--artifacts</code>.<//>`
  return html`<nav class="flow" aria-label="Parts of the contract">${TAB_NAMES.map(
    (each) =>
      html`<a href=${linkTo(['address', address], { tab: each === 'Functions' ? undefined : each.toLowerCase() })}
        aria-current=${each === current ? 'page' : undefined}>${each}</a>`,
  )}</nav>
  ${current === 'Transactions' ? tab : html`<${Panel} title=${current}>${isUnknown ? unknown : tab}<//>`}`
}

function Transactions(props: HistoryProps): VNode {
  const read = useTransactionsOf(props, NEWEST)
  const { txs } = read.value ?? {}
  return html`<${Panel} title="Transactions" note=${txs && `the newest ${count(txs.length)}`}>
    ${txs === undefined ? html`<${Waiting} read=${read} />` : html`<${TransactionList} hashes=${txs.map(({ hash }) => hash)} />`}
  <//>`
}
