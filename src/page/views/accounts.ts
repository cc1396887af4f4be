// The accounts of the chain, with what they own: ether and tokens.
import { useState } from 'preact/hooks'
import { amount, number as count, ether, plural } from '../../core/format.ts'
import { cut, nameText } from '../data/format.ts'
import type { ViewProps } from '../data/route.ts'
import { type BlockParam, stateOf } from '../data/time.ts'
import { useNames, useOwned, useRead } from '../data/use.ts'
import { html, typedIn, type VNode } from '../html.ts'
import { HexLink, Panel, Waiting } from '../parts/basics.ts'
import { Cell, List } from '../parts/list.ts'

/** Accounts of one request, and tokens whose balances are shown. */
const MOST_ACCOUNTS = 256
const MOST_TOKENS = 6

/** keccak256 of no code */
const NO_CODE = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

interface RpcAccountPage {
  readonly accounts: Readonly<Record<string, { readonly codeHash: string }>>
  readonly next: string | null
}

type RpcToken = Readonly<{ address: string; symbol: string; decimals: number }>

interface AccountRow {
  readonly address: string
  readonly isContract: boolean
  /** In the order of the node's accounts; -1: it is not among them. */
  readonly place: number
}

export function AccountsView({ route }: ViewProps): VNode {
  const block = stateOf(route)
  const { value: owned = [] } = useOwned()
  const range = [block, '0x', MOST_ACCOUNTS, true, true]
  const page = useRead<RpcAccountPage>('debug_accountRange', range, 'now')
  const [filter, setFilter] = useState('')
  const rows = rowsOf(owned, page.value)
  const names = useNames(rows.map(({ address }) => address))
  const contracts = rows.filter(({ isContract }) => isContract).map(({ address }) => address)
  const method = contracts.length === 0 ? '' : 'devchain_tokens'
  const { value: tokens = [] } = useRead<readonly RpcToken[]>(method, [contracts], 'now')
  const shown = tokens.slice(0, MOST_TOKENS)
  const word = filter.trim().toLowerCase()
  const found = rows.filter(({ address }) =>
    `${address} ${names.get(address) ?? ''}`.toLowerCase().includes(word),
  )
  if (page.value === undefined && owned.length === 0)
    return html`<h1 class="hidden">Accounts</h1><${Waiting} read=${page} />`
  const columns = [
    ...['Account', 'Address', 'Balance', 'Nonce'],
    ...shown.map(({ symbol, address }) => nameText(symbol, address)),
  ]
  const note = `${plural(rows.length, 'account')}${page.value?.next ? ', there are more' : ''}`
  return html`<h1 class="hidden">Accounts</h1>
    <${Panel} title="Accounts" note=${note} className="fill">
      <div class="filter flow inset"><input type="search" aria-label="Filter accounts" placeholder="Filter by name or address" value=${filter}
        onInput=${(event: Event) => setFilter(typedIn(event))} /></div>
      <${List} label="Accounts" kind="accounts" columns=${columns} items=${found} empty="No account matches." keyOf=${({ address }: AccountRow) => address}
        row=${(each: AccountRow) => html`<${AccountCells} ...${each} name=${names.get(each.address)} tokens=${shown} block=${block} />`} />
    <//>`
}

/** The accounts of the node first, then contracts, then others. */
function rowsOf(owned: readonly string[], page: RpcAccountPage | undefined): readonly AccountRow[] {
  const codes = new Map(owned.map((address) => [address, NO_CODE]))
  for (const [address, { codeHash }] of Object.entries(page?.accounts ?? {}))
    codes.set(address.toLowerCase(), codeHash)
  const rows = [...codes].map(([address, codeHash], i) => {
    return { address, isContract: codeHash !== NO_CODE, place: i < owned.length ? i : -1 }
  })
  const rank = ({ place, isContract }: AccountRow): number => (place >= 0 ? 0 : isContract ? 1 : 2)
  return rows.sort((a, b) => rank(a) - rank(b))
}

interface AccountCellsProps extends AccountRow {
  readonly name: string | undefined
  readonly tokens: readonly RpcToken[]
  readonly block: BlockParam
}

function AccountCells(props: AccountCellsProps): VNode {
  const { address, isContract, place, name, tokens, block } = props
  const { value: balance } = useRead<string>('eth_getBalance', [address, block], 'now')
  const { value: nonce } = useRead<string>('eth_getTransactionCount', [address, block], 'now')
  const label =
    cut(name ?? '', 100) || (place >= 0 ? `account ${place}` : isContract ? 'contract' : '')
  return html`
    <${Cell} className=${name === undefined ? 'dim' : ''}>${label}<//>
    <${Cell}><${HexLink} value=${address} to="address" /><//>
    <${Cell}>${balance && ether(BigInt(balance))}<//>
    <${Cell} className="dim">${nonce && count(BigInt(nonce))}<//>
    ${tokens.map((token) => html`<${TokenCell} key=${token.address} token=${token} holder=${address} block=${block} />`)}`
}

type TokenCellProps = Readonly<{ token: RpcToken; holder: string; block: BlockParam }>

function TokenCell({ token, holder, block }: TokenCellProps): VNode {
  const { address, decimals } = token
  // balanceOf(address)
  const data = `0x70a08231${holder.slice(2).padStart(64, '0')}`
  const { value } = useRead<string>('eth_call', [{ to: address, data }, block], 'now')
  const isNumber = value !== undefined && /^0x[0-9a-f]{64}$/.test(value)
  const held = isNumber ? BigInt(value) : 0n
  return html`<${Cell} className=${held === 0n ? 'dim' : ''}>${isNumber ? amount(held, decimals) : '–'}<//>`
}
