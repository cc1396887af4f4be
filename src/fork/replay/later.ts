// Queues the rest of a transaction's block in the pool.
import { unlessRefused } from '../../core/errors.ts'
import type { Chain } from '../../node/chain/chain.ts'
import { admit } from '../../node/sending/admission.ts'
import { type Prefix, transactionsIn } from '../store/recordingfile.ts'
import { readTransaction } from './transactions.ts'

export async function sendLater(
  chain: Chain,
  prefix: Prefix,
  onNotice: (text: string) => void,
): Promise<void> {
  const later = transactionsIn(prefix)
    .slice(prefix.index + 1)
    .map(readTransaction)
  const now = chain.environment.now()
  const refused = await chain.update((state) => {
    let [after, value] = [state, 0]
    for (const each of later) {
      const pool = each && unlessRefused(() => admit(after, each, now))
      if (pool === undefined) value += 1
      else after = { ...after, pool }
    }
    return { state: after, value }
  })
  if (refused > 0) {
    onNotice(`cannot queue ${refused} of the ${later.length} transactions after the forked one`)
  }
}
