// Prefetches what a message will need: the network's trace or access list names it before the run gets there.
import { DevchainError } from '../core/errors.ts'
import { hexFromBytes, quantityFromBigint } from '../core/hex.ts'
import { memoizeByIdentity } from '../core/lrucache.ts'
import type { Upstream } from '../node/ledger/upstream.ts'
import type { World } from '../state/world.ts'
import { RefusedByUpstream } from './client/client.ts'
import { isMethodNotFound } from './client/provider.ts'
import { inTime } from './client/waitbudget.ts'
import type { MessageCall } from './executor.ts'
import { isObject } from './network/answers.ts'
import { type NamedState, readAll } from './network/named.ts'
import { isAddress, isTracedAccount, type TracedAccount } from './network/prestate.ts'

/** A trace has accounts and slots with values, an access list only addresses and slots. */
const TRACE = 'debug_traceCall'
const LIST = 'eth_createAccessList'

/** Methods that a network lacks, or that take too long there. */
const refusedBy = memoizeByIdentity(
  // with proofs, the values of a trace are of no use, so only an access list is worth a request
  (upstream: Upstream) => new Set(upstream.facts().isProven ? [TRACE] : []),
)

/** Milliseconds; after that the call continues without the prefetch. */
const TIMEOUT_MS = 3_000

/** Undefined: there is nothing to prefetch. */
export function prefetch(
  upstream: Upstream | undefined,
  message: MessageCall,
  world: World,
): Promise<void> | undefined {
  if (upstream === undefined || message.to === null || message.data.length < 4) return undefined
  const known = refusedBy(upstream)
  return known.has(TRACE) && known.has(LIST)
    ? undefined
    : fetchNamed(upstream, known, message, world)
}

async function fetchNamed(
  upstream: Upstream,
  known: Set<string>,
  { from, to, value, data }: MessageCall,
  world: World,
): Promise<void> {
  const call = { from, to, value: quantityFromBigint(value), data: hexFromBytes(data) }
  const at = quantityFromBigint(upstream.number)
  // the sender may have no balance there
  const stateOverrides = { [from]: { balance: `0x${'f'.repeat(32)}` } }
  const options = { tracer: 'prestateTracer', stateOverrides }
  const traced = await ask(upstream, known, TRACE, [call, at, options])
  const entries = isObject(traced) ? Object.entries(traced).filter(isTracedAccount) : []
  if (entries.length > 0) {
    const accounts = Object.fromEntries(
      entries.map(([address, account]) => [address.toLowerCase(), account as TracedAccount]),
    )
    const { [from]: _, ...others } = accounts
    upstream.take(others)
    const list = Object.entries(accounts).map(([address, { storage }]) => ({
      address,
      storageKeys: Object.keys(storage ?? {}),
    }))
    await readAll(list, world)
    return
  }
  const answer = await ask(upstream, known, LIST, [call, at])
  const { accessList } = (answer ?? {}) as { accessList?: unknown }
  await readAll(Array.isArray(accessList) ? accessList.filter(isEntry) : [], world)
}

/** An error of the message itself says nothing about the method. */
async function ask(
  upstream: Upstream,
  known: Set<string>,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  if (known.has(method)) return undefined
  const asked = upstream
    .peek(method, params, (answer) => answer)
    .catch((error: unknown) => {
      if (!(error instanceof DevchainError)) throw error
      if (error instanceof RefusedByUpstream && isMethodNotFound(error.upstream)) known.add(method)
      return null
    })
  const answer = await inTime(asked, TIMEOUT_MS)
  if (answer === undefined) known.add(method)
  return answer
}

function isEntry(value: unknown): value is NamedState {
  return isObject(value) && isAddress(value.address) && Array.isArray(value.storageKeys)
}
