// Fetches accounts and slots that a list names, in one round.
import type { Address } from '../../core/hex.ts'
import { accountAt, slotValue, type World } from '../../state/world.ts'
import { orIfRefused } from '../client/client.ts'
import { isQuantity } from './answers.ts'
import { Gathering, within } from './gather.ts'

/** Slots of one prefetch; the run fetches any others itself. */
const MOST_SLOTS = 10_000

/** An account and its slots. */
export interface NamedState {
  readonly address: string
  readonly storageKeys: readonly unknown[]
}

export async function readAll(list: readonly NamedState[], world: World): Promise<void> {
  const attempt = new Gathering(true)
  let slots = 0
  within(attempt, () => {
    for (const { address, storageKeys } of list) {
      const account = accountAt(world, address.toLowerCase() as Address)
      if (account === undefined) continue
      for (const key of storageKeys) {
        if (slots >= MOST_SLOTS) return
        if (!isQuantity(key)) continue
        slots += 1
        slotValue(account.storage, BigInt(key))
      }
    }
  })
  if (!attempt.hasMisses) return
  // the prefetch is optional: the message may not need it
  await orIfRefused(() => attempt.fetch())
}
