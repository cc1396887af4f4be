// An account: what it has, and of a contract its functions, storage, events and source.
import type { VNode } from 'preact'
import { number as count, ether, plural } from '../../core/format.ts'
import { Events } from '../contract/events.ts'
import { Functions } from '../contract/functions.ts'
import { History, useTransactionsOf } from '../contract/history.ts'
import { Sources } from '../contract/source.ts'
import { Storage } from '../contract/storage.ts'
import { useNames } from '../data/accounts.ts'
import { isAddress } from '../data/format.ts'
import { linkTo, type Route, type ViewProps } from '../data/route.ts'
import { type BlockParam, stateOf } from '../data/time.ts'
import { useRead } from '../data/use.ts'
import { html } from '../html.ts'
import {
  Badge,
  Copy,
  Empty,
  Fact,
  Facts,
  HexLink,
  Long,
  Panel,
  Title,
  Waiting,
} from '../parts/basics.ts'
import { TransactionList } from '../parts/transactions.ts'

/** Transactions that are searched for. */
const NEWEST = 50

export interface RpcContract {
  readonly name: string
  readonly source: string
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

type AccountProps = Readonly<{ address: string; route: Route }>

function Account({ address, route }: AccountProps): VNode {
  const block = stateOf(route)
  const code = useRead<string>('eth_getCode', [address, block], 'now')
  const { value: contract } = useRead<RpcContract | null>('devchain_contract', [address], 'now')
  const name = useNames([address]).get(address)
  const isContract = code.value !== undefined && code.value !== '0x'
  if (code.value === undefined) return html`<h1>Account</h1><${Waiting} read=${code} />`
  return html`
    <div class="title flow"><${Title} text=${name ?? contract?.name ?? (isContract ? 'Contract' : 'Account')} />
      ${isContract && html`<${Badge} kind="">contract<//>`}
      <nav class="flow" aria-label="Acts">
        <a class="button" href=${linkTo(['act'], { do: 'send', to: address })}>Send to it</a>
        <a class="button" href=${linkTo(['act'], { do: 'balance', account: address })}>Set balance</a>
      </nav></div>
    <p class="flow"><span class="mono">${address}</span><${Copy} text=${address} /></p>
    <${Panel} title=${isContract ? 'Contract' : 'Account'} isBusy=${contract === undefined}><${AccountFacts} ...${{ address, block, code: code.value, contract }} /><//>
    ${isContract ? html`<${Tabs} address=${address} route=${route} block=${block} contract=${contract ?? undefined} />` : html`<${Transactions} address=${address} route=${route} />`}`
}

interface AccountFactsProps {
  readonly address: string
  readonly block: BlockParam
  readonly code: string
  readonly contract: RpcContract | null | undefined
}

function AccountFacts({ address, block, code, contract }: AccountFactsProps): VNode {
  const { value: balance } = useRead<string>('eth_getBalance', [address, block], 'now')
  const { value: nonce } = useRead<string>('eth_getTransactionCount', [address, block], 'now')
  const isContract = code !== '0x'
  const { value: creation } = useRead<{ readonly hash: string; readonly creator: string } | null>(
    isContract ? 'ots_getContractCreator' : '',
    [address],
    'era',
  )
  const creator = useNames(creation ? [creation.creator] : []).get(creation?.creator ?? '')
  const { name, guess, via, proxy, compiler } = contract ?? {}
  return html`<${Facts}>
    <${Fact} name="Balance">${balance === undefined ? '' : ether(BigInt(balance))}<//>
    <${Fact} name="Nonce">${nonce === undefined ? '' : count(Number(nonce))}<//>
    <${Fact} name="Code">${isContract ? plural(code.length / 2 - 1, 'byte') : undefined}<//>
    <${Fact} name="Runs">${name && html`${guess && 'code like that of '}<${Long} text=${name} />${via && ` ${VIA[via] ?? ''}`}${proxy && html` <span class="dim">(${proxy})</span>`}`}<//>
    <${Fact} name="Compiler">${compiler || undefined}<//>
    <${Fact} name="Created">${isContract ? createdText(creation, creator) : undefined}<//>
  <//>`
}

/** Keeps its place while it is read. */
function createdText(
  creation: { readonly hash: string; readonly creator: string } | null | undefined,
  name: string | undefined,
): VNode | string {
  if (!creation) return creation === null ? 'not by a transaction' : ''
  const { creator, hash } = creation
  return html`by <${HexLink} value=${creator} to=${['address', creator]} name=${name} /> in <${HexLink} value=${hash} to=${['tx', hash]} />`
}

interface TabsProps extends AccountProps {
  readonly block: BlockParam
  readonly contract: RpcContract | undefined
}

const TABS = ['Functions', 'Storage', 'Events', 'History', 'Source', 'Transactions'] as const

function Tabs({ address, route, block, contract }: TabsProps): VNode {
  const current = TABS.find((each) => each.toLowerCase() === route.query.tab) ?? TABS[0]
  const abi = contract?.abi ?? []
  const views = {
    Functions: () => html`<${Functions} address=${address} abi=${abi} block=${block} />`,
    Storage: () => html`<${Storage} address=${address} block=${block} />`,
    Events: () => html`<${Events} address=${address} abi=${abi} route=${route} />`,
    History: () => html`<${History} key=${route.at} address=${address} route=${route} />`,
    Source: () => html`<${Sources} sources=${contract?.sources ?? {}} />`,
    Transactions: () => html`<${Transactions} address=${address} route=${route} />`,
  }
  const needsContract = current === 'Functions' || current === 'Source'
  return html`<nav class="flow" aria-label="Parts of the contract">${TABS.map(
    (each) =>
      html`<a href=${linkTo(['address', address], { tab: each === TABS[0] ? undefined : each.toLowerCase() })}
        aria-current=${each === current ? 'page' : undefined}>${each}</a>`,
  )}</nav>
  ${
    current === 'Transactions'
      ? views.Transactions()
      : html`<${Panel} title=${current}>${
          needsContract && contract === undefined
            ? html`<${Empty}>No artifact has this code. Start devchain in the folder of the project, or pass <code>--artifacts</code>.<//>`
            : views[current]()
        }<//>`
  }`
}

function Transactions(props: AccountProps): VNode {
  const read = useTransactionsOf(props, NEWEST)
  const { txs } = read.value ?? {}
  return html`<${Panel} title="Transactions" note=${txs && `the newest ${count(txs.length)}`}>
    ${txs === undefined ? html`<${Waiting} read=${read} />` : html`<${TransactionList} hashes=${txs.map(({ hash }) => hash)} />`}
  <//>`
}
