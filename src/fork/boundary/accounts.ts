// Account methods across the fork block, where the network knows more than this chain.
import { type Address, quantityFromBigint, wordFromBigint } from '../../core/hex.ts'
import { addresses } from '../../node/accounts/accounts.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import type { Json } from '../../rpc/schema.ts'
import { orIfRefused } from '../client/client.ts'
import { bytesIn, isObject, isQuantity, unexpected, word } from '../network/answers.ts'
import {
  type BoundaryRequest,
  isChanged,
  numberIn,
  numberOf,
  placeOf,
  referenceIn,
} from './places.ts'
import { answerHere } from './retrace.ts'
import { askNetwork } from './shapes.ts'

/** At old blocks, the storage root depends on slots that are not known here. */
export async function accountOver(request: BoundaryRequest): Promise<Json | undefined> {
  const reference = referenceIn(request.params[1] ?? 'latest')
  if (reference === undefined) return undefined
  const place = placeOf(request, reference)
  if (place === 'here' || isChanged(request, place)) return undefined
  const number = await numberIn(request, place)
  if (number === undefined) return undefined
  const [own, storageRoot] = await Promise.all([
    answerHere(request),
    storageRootAt(request, number),
  ])
  return { ...(own as object), storageRoot }
}

function storageRootAt({ params, upstream }: BoundaryRequest, number: bigint): Promise<Json> {
  const [account] = params
  const at = quantityFromBigint(number)
  const ask = (method: string, asked: readonly unknown[], member: string): Promise<Json> =>
    upstream.ask(method, asked, number, (answer) => {
      const root = isObject(answer) ? answer[member] : undefined
      if (isQuantity(root)) return root
      throw unexpected('an account', answer)
    })
  return orIfRefused(
    () => ask('eth_getProof', [account, [], at], 'storageHash'),
    () => ask('eth_getAccount', [account, at], 'storageRoot'),
  )
}

/** Without code and nonce there are no slots, as no code could have written them; but test nodes can set any slot. */
export async function slotOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { context, params, upstream } = request
  const [address, position, block = 'latest'] = params
  const reference = referenceIn(block)
  const own = addresses(context.chain.state.accounts)
  const isOwn = own.includes(String(address).toLowerCase() as Address)
  if (reference === undefined || isOwn || upstream.facts().isProven) return undefined
  const value = await answerHere(request)
  const place = placeOf(request, reference)
  const number = place === 'here' ? upstream.number : await numberIn(request, place)
  if (BigInt(String(value)) !== 0n || number === undefined) return value
  const [code, nonce] = await Promise.all(
    ['eth_getCode', 'eth_getTransactionCount'].map((name) =>
      answerHere({ ...request, method: methodOf(request, name), params: [address, block] }),
    ),
  )
  if (code !== '0x' || nonce !== '0x0') return value
  const slot = wordFromBigint(BigInt(String(position)))
  const asked = [address, slot, quantityFromBigint(number)]
  return await orIfRefused(
    async () => wordFromBigint(await upstream.ask('eth_getStorageAt', asked, number, word)),
    () => value,
  )
}

function methodOf({ context, method }: BoundaryRequest, name: string): BoundaryRequest['method'] {
  return context.registry.get(name) ?? method
}

/** The network's accounts are not all known here, so code may have to be looked up there by its hash. */
export async function codeOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { context, params, upstream } = request
  const reference = referenceIn(params[1] ?? 'latest')
  if (reference === undefined || reference.kind === 'hash') return undefined
  const given = numberOf(context.chain.state, reference)
  const number = given === undefined || given > upstream.number ? upstream.number : given
  const own = await answerHere(request)
  if (own !== null) return own
  const asked = [params[0], quantityFromBigint(number)]
  return await orIfRefused(
    () =>
      upstream.ask('debug_codeByHash', asked, number, (answer) =>
        // the network need not have it
        answer === null ? null : bytesIn(answer),
      ),
    () => null,
  )
}

/** The accounts that blocks changed: first the network's blocks, then those mined here. */
export async function modifiedOver(request: BoundaryRequest): Promise<Json | undefined> {
  const { params } = request
  const [start, end] = params.map((each) => referenceIn(each ?? null))
  if (start === undefined) return undefined
  const [first, last] = [start, end].map((each) => each && placeOf(request, each))
  if (first === 'here' || first === undefined) return undefined
  const from = await numberIn(request, first)
  const to = last && (await numberIn(request, last))
  const isKnown = last === undefined ? from !== 0n : last === 'here' || (to ?? -1n) > (from ?? 0n)
  // the chain reports what is wrong
  if (from === undefined || !isKnown) return undefined
  if (last !== 'here') return await askNetwork(request, params, to ?? from)
  return await modifiedOnBothSides(request, from, end!)
}

async function modifiedOnBothSides(
  request: BoundaryRequest,
  from: bigint,
  end: BlockReference,
): Promise<Json> {
  const { params, upstream } = request
  const method = methodOf(request, 'debug_getModifiedAccountsByNumber')
  const fork = quantityFromBigint(upstream.number)
  const to = end.kind === 'hash' ? { blockHash: end.hash } : params[1]
  const here = answerHere({ ...request, method, params: [fork, to] })
  const there =
    from === upstream.number
      ? []
      : askNetwork({ upstream, method }, [quantityFromBigint(from), fork], upstream.number)
  const both = (await Promise.all([there, here])) as unknown as (readonly string[])[]
  return [...new Set(both.flat())]
}
