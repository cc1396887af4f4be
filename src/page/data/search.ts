// Finds the place for what somebody typed: a block, a transaction, an account or a name.
import { client } from './chain.ts'
import { isAddress, isHash } from './format.ts'

type Place = readonly (string | number)[]

/** Undefined if nothing is there. */
export async function placeOf(text: string): Promise<Place | undefined> {
  const digits = text.replace(/^#|,/g, '')
  if (/^(\d{1,15}|0x[\da-f]{1,12})$/i.test(digits)) return ['block', Number(digits)]
  if (isAddress(text)) return ['address', text.toLowerCase()]
  if (!isHash(text)) return placeOfName(text.toLowerCase())
  const hash = text.toLowerCase()
  const [transaction, block] = await Promise.all([
    client.request('eth_getTransactionByHash', hash).catch(() => null),
    client.request('eth_getBlockByHash', hash, false).catch(() => null),
  ])
  if (transaction !== null) return ['tx', hash]
  return block === null ? undefined : ['block', hash]
}

/** Accounts of the state whose names are searched, beside those of the node and those with labels. */
const MOST_ACCOUNTS = 256

/** The account with this name, or else the first whose name begins so. */
async function placeOfName(wanted: string): Promise<Place | undefined> {
  const range = ['latest', '0x', MOST_ACCOUNTS, true, true]
  const [owned, { accounts }] = await Promise.all([
    client.request<readonly string[]>('eth_accounts').catch(() => []),
    client
      .request<{ accounts: object }>('debug_accountRange', ...range)
      .catch(() => ({ accounts: {} })),
  ])
  const addresses = new Set([...owned, ...Object.keys(accounts)].map((each) => each.toLowerCase()))
  type Names = Readonly<Record<string, string>>
  const read = [[], [[...addresses]]].map((params) =>
    client.request<Names>('devchain_names', ...params).catch(() => ({})),
  )
  const names = (await Promise.all(read)).flatMap((each) => Object.entries<string>(each))
  const entries = names.map(([address, name]) => [address, name.toLowerCase()])
  const found =
    entries.find(([, name]) => name === wanted) ??
    entries.find(([, name]) => name!.startsWith(wanted))
  return found && ['address', found[0]!.toLowerCase()]
}
