// The names that nodes have for the access list of a block (EIP-7928).
import { RefusedByUpstream } from '../client/client.ts'

/** Of execution-apis, then those of other nodes; the names end with how the block is named if only one way is possible. */
const LIST_NAMES = [
  'eth_getBlockAccessList',
  'eth_getBlockAccessListByBlockHash',
  'eth_getBlockAccessListByBlockNumber',
]

/** Of the list as RLP. */
const RAW_NAMES = [
  'eth_getBlockAccessListRaw',
  'debug_getRawBlockAccessList',
  'debug_getBlockAccessList',
]

/** The method itself, then others with the same result that take such a reference. */
export function namesLike(method: string, by: 'hash' | 'number'): readonly string[] {
  const names = [LIST_NAMES, RAW_NAMES].find((each) => each.includes(method)) ?? []
  const otherWay = by === 'hash' ? 'ByBlockNumber' : 'ByBlockHash'
  return [method, ...names.filter((name) => name !== method && !name.endsWith(otherWay))]
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
