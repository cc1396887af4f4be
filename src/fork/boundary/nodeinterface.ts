// Arbitrum's NodeInterface exists in no state: nodes answer its calls themselves, so the network is asked.
import { quantityFromBigint } from '../../core/hex.ts'
import { type Json, remark } from '../../rpc/schema.ts'
import { type BoundaryRequest, placeOf, referenceIn } from './places.ts'
import { askNetwork } from './shapes.ts'

const NODE_INTERFACE = `0x${'c8'.padStart(40, '0')}`

/** Undefined for any other call, and for a fork with proofs, as the answer cannot be proven. */
export function nodeInterfaceOf(request: BoundaryRequest): Promise<Json> | undefined {
  const { context, params, upstream } = request
  const [call, block, ...overrides] = params
  const to = (call as { readonly to?: unknown } | null | undefined)?.to
  const isIts = typeof to === 'string' && to.toLowerCase() === NODE_INTERFACE
  if (!isIts || upstream.seenNumber === undefined || upstream.facts().isProven) return undefined
  const reference = referenceIn(block ?? 'latest')
  if (reference === undefined) return undefined
  const place = placeOf(request, reference)
  // an unknown hash may be the network's
  const isStrange = typeof place === 'string' && place !== 'here'
  const number = typeof place === 'bigint' ? place : upstream.number
  remark(context.notes, `NodeInterface is answered by the network, at block ${number}`)
  const asked = [call, isStrange ? block : quantityFromBigint(number), ...overrides]
  return askNetwork(request, asked, isStrange ? undefined : number)
}
