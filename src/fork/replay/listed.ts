// Prefetches what a block needs to run here: the network's access list of the block names all of it (EIP-7928).
import type { Json } from '../../rpc/schema.ts'
import type { World } from '../../state/world.ts'
import { orIfRefused } from '../client/client.ts'
import { inTime } from '../client/waitbudget.ts'
import { isObject, listIn } from '../network/answers.ts'
import type { RemoteBlock } from '../network/header.ts'
import { askByNames, namesLike } from '../network/listnames.ts'
import { type NamedState, readAll } from '../network/named.ts'
import type { BlockPoint, ForkedNetwork } from '../network/network.ts'
import { isAddress } from '../network/prestate.ts'

const METHODS = namesLike('eth_getBlockAccessList', 'hash')

/** Milliseconds; after that the block runs without the prefetch. */
const TIMEOUT_MS = 10_000

/** The list is only a hint, so it need not be proven: the run fetches what the list lacks. */
export async function prefetchListed(
  network: ForkedNetwork,
  fork: BlockPoint,
  { header, hash }: Pick<RemoteBlock, 'header' | 'hash'>,
  before: () => World,
): Promise<void> {
  if (header.blockAccessListHash === undefined) return
  const ask = (name: string): Promise<readonly NamedState[]> =>
    network.askHistory(fork, name, [hash], header.number, readList)
  const asked = orIfRefused(() => askByNames(METHODS, ask))
  const named = await inTime(asked, TIMEOUT_MS)
  if (named !== undefined) await readAll(named, before())
}

/** Leaves out what cannot be read. */
function readList(json: Json): readonly NamedState[] {
  return listIn(json).flatMap((each) => {
    const { address, storageChanges, storageReads } = isObject(each) ? each : {}
    if (!isAddress(address)) return []
    const changed = listIn(storageChanges).map((change) => (isObject(change) ? change.key : change))
    return { address, storageKeys: [...changed, ...listIn(storageReads)] }
  })
}
