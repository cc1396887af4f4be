// What a message will need, as its network knows: an access list says it before the run has come there.
import { DevchainError } from '../core/errors.ts'
import { type Address, type Hash, hexFromBytes, quantityFromBigint } from '../core/hex.ts'
import type { Upstream } from '../node/ledger/upstream.ts'
import type { World } from '../state/world.ts'
import { accountAt, slotValue } from '../state/world.ts'
import type { Foreseen } from './executor.ts'
import { Gathering, within } from './network/gather.ts'

/** Networks that do not make access lists, as they said. */
const refusing = new WeakSet<Upstream>()

/** Slots that an access list names at most: those of more are met one by one. */
const MOST_SLOTS = 10_000

interface Entry {
  readonly address: Address
  readonly storageKeys: readonly Hash[]
}

/**
 * Asks the network what a message touches there, and fetches all of it.
 * @returns undefined where nothing is to be foreseen
 */
export function foresee(
  upstream: Upstream | undefined,
  { from, to, value, data }: Foreseen,
  world: World,
): Promise<void> | undefined {
  if (upstream === undefined || to === null || data.length < 4 || refusing.has(upstream)) {
    return undefined
  }
  const call = { from, to, value: quantityFromBigint(value), data: hexFromBytes(data) }
  return fetchListed(upstream, call, world)
}

async function fetchListed(
  upstream: Upstream,
  call: Readonly<Record<string, string>>,
  world: World,
): Promise<void> {
  let answer: unknown
  try {
    answer = await upstream.peek('eth_createAccessList', [
      call,
      quantityFromBigint(upstream.number),
    ])
  } catch (error) {
    if (!(error instanceof DevchainError)) throw error
    // one that has no funds there, or reverts, is foreseen no better the next time
    refusing.add(upstream)
    return
  }
  const list = (answer as { accessList?: readonly Entry[] } | null)?.accessList ?? []
  await readAll(list, world)
}

/** Reads what is listed: what is not here yet is fetched, accounts and slots at once. */
async function readAll(list: readonly Entry[], world: World): Promise<void> {
  const attempt = new Gathering(true)
  let slots = 0
  within(attempt, () => {
    for (const { address, storageKeys } of list) {
      const account = accountAt(world, address.toLowerCase() as Address)
      if (account === undefined) continue
      for (const key of storageKeys) {
        if (slots >= MOST_SLOTS) return
        slots += 1
        slotValue(account.storage, BigInt(key))
      }
    }
  })
  if (attempt.hasMisses) await attempt.fetch()
}
