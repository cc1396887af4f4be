// Finds the place for what somebody typed: a block, a transaction, an account or a name.
import type { ChainClient } from './chain.ts'
import { isAddress, isHash } from './format.ts'

type Place = readonly (string | number)[]

/** Undefined if nothing is there. */
export async function placeOf(chain: ChainClient, text: string): Promise<Place | undefined> {
  const digits = text.replace(/^#|,/g, '')
  if (/^\d{1,15}$/.test(digits)) return ['block', Number(digits)]
  if (isAddress(text)) return ['address', text.toLowerCase()]
  if (!isHash(text)) return undefined
  const hash = text.toLowerCase()
  const [transaction, block] = await Promise.all([
    chain.request('eth_getTransactionByHash', hash).catch(() => null),
    chain.request('eth_getBlockByHash', hash, false).catch(() => null),
  ])
  if (transaction !== null) return ['tx', hash]
  return block === null ? undefined : ['block', hash]
}
