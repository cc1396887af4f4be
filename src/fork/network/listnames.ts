// The names that nodes have for the access list of a block (EIP-7928).
import { RefusedByUpstream } from '../client/client.ts'

/** How each takes the block: either way, or by hash or number only. */
type Names = readonly (readonly [name: string, by: 'any' | 'hash' | 'number'])[]

/** Of execution-apis, then those of other nodes. */
const LIST_NAMES: Names = [
  ['eth_getBlockAccessList', 'any'],
  ['eth_getBlockAccessListByBlockHash', 'hash'],
  ['eth_getBlockAccessListByBlockNumber', 'number'],
]

/** Of the list as RLP. */
const RAW_NAMES: Names = [
  ['eth_getBlockAccessListRaw', 'any'],
  ['debug_getRawBlockAccessList', 'any'],
  ['debug_getBlockAccessList', 'any'],
]

/** The method itself, then others with the same result that take such a reference. */
export function namesLike(method: string, by: 'hash' | 'number'): readonly string[] {
  const names = [LIST_NAMES, RAW_NAMES].find((each) => each.some(([name]) => name === method)) ?? []
  const others = names.filter(([name, takes]) => name !== method && [by, 'any'].includes(takes))
  return [method, ...others.map(([name]) => name)]
}

/** @throws {RefusedByUpstream} that of the first, if the network refuses all */
export async function askByNames<T>(
  names: readonly string[],
  ask: (name: string) => Promise<T>,
): Promise<T> {
  let first: RefusedByUpstream | undefined
  for (const name of names) {
    try {
      return await ask(name)
    } catch (error) {
      if (!(error instanceof RefusedByUpstream)) throw error
      first ??= error
    }
  }
  throw first
}
