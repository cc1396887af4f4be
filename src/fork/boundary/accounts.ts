// Account methods across the fork block, where the network knows more than this chain.
import { type Address, quantityFromBigint, wordFromBigint } from '../../core/hex.ts'
import { addresses } from '../../node/accounts/accounts.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
import type { Json } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { isObject, isQuantity, unexpected, word } from '../network/answers.ts'
import {
  type ForkRequest,
  isChanged,
  numberIn,
  numberOf,
  placeOf,
  referenceIn,
  requireCode,
} from './places.ts'
import { answerHere } from './retrace.ts'
import { askNetwork } from './shapes.ts'

/** At old blocks, the storage root depends on slots that are not known here. */
export function accountOver(request: ForkRequest): Promise<Json> | undefined {
  const { context, params, upstream } = request
  const { state } = context.chain
  const reference = referenceIn(params[1] ?? 'latest')
  if (reference === undefined) return undefined
  const place = placeOf(state, upstream, reference)
  if (place === 'here' || isChanged(state, upstream, place)) return undefined
  return (async () => {
    const number = await numberIn(upstream, place)
    const [own, storageRoot] = await Promise.all([
      answerHere(request),
      number === undefined ? undefined : storageRootAt(request, number),
    ])
    return storageRoot === undefined ? own : { ...(own as object), storageRoot }
  })()
}

async function storageRootAt({ params, upstream }: ForkRequest, number: bigint): Promise<Json> {
  const [account] = params
  const at = quantityFromBigint(number)
  try {
    return await rootIn(upstream, 'eth_getProof', [account, [], at], number, 'storageHash')
  } catch (error) {
    if (!(error instanceof RefusedByUpstream)) throw error
    return await rootIn(upstream, 'eth_getAccount', [account, at], number, 'storageRoot')
  }
}

async function rootIn(
  upstream: ForkRequest['upstream'],
  method: string,
  params: readonly unknown[],
  number: bigint,
  name: string,
): Promise<Json> {
  const read = (answer: unknown): Json => {
    const root = isObject(answer) ? answer[name] : undefined
    if (isQuantity(root)) return root
    throw unexpected('an account', answer)
  }
  return read(await upstream.ask(method, params, number, read))
}

/** Without code and nonce there are no slots, as no code could have written them; but test nodes can set any slot. */
export function slotOver(request: ForkRequest): Promise<Json> | undefined {
  const { context, params, upstream } = request
  const { state } = context.chain
  const [address, position, block = 'latest'] = params
  const reference = referenceIn(block)
  const isOwn = addresses(state.accounts).includes(String(address).toLowerCase() as Address)
  if (reference === undefined || isOwn || upstream.facts().isProven) return undefined
  return (async () => {
    const own = await answerHere(request)
    const place = placeOf(state, upstream, reference)
    const number = place === 'here' ? upstream.number : await numberIn(upstream, place)
    if (BigInt(String(own)) !== 0n || number === undefined) return own
    const [code, nonce] = await Promise.all(
      ['eth_getCode', 'eth_getTransactionCount'].map((name) =>
        answerHere({ ...request, method: methodOf(request, name), params: [address, block] }),
      ),
    )
    if (code !== '0x' || nonce !== '0x0') return own
    const slot = wordFromBigint(BigInt(String(position)))
    try {
      const asked = [address, slot, quantityFromBigint(number)]
      return wordFromBigint(word(await upstream.ask('eth_getStorageAt', asked, number, word)))
    } catch (error) {
      if (error instanceof RefusedByUpstream) return own
      throw error
    }
  })()
}

function methodOf({ context, method }: ForkRequest, name: string): ForkRequest['method'] {
  return context.registry.get(name) ?? method
}

/** The network's accounts are not all known here, so code may have to be looked up there by its hash. */
export function codeOver(request: ForkRequest): Promise<Json> | undefined {
  const { context, params, upstream } = request
  const reference = referenceIn(params[1] ?? 'latest')
  if (reference === undefined || reference.kind === 'hash') return undefined
  const given = numberOf(context.chain.state, reference)
  const number = given === undefined || given > upstream.number ? upstream.number : given
  return (async () => {
    const own = await answerHere(request)
    if (own !== null) return own
    try {
      const asked = [params[0], quantityFromBigint(number)]
      // the network need not have it
      return (await upstream.ask(
        'debug_codeByHash',
        asked,
        number,
        (answer) => answer === null || requireCode(answer),
      )) as Json
    } catch (error) {
      if (error instanceof RefusedByUpstream) return null
      throw error
    }
  })()
}

/** The accounts that blocks changed: first the network's blocks, then those mined here. */
export function modifiedOver(request: ForkRequest): Promise<Json> | undefined {
  const { context, params, upstream } = request
  const { state } = context.chain
  const [start, end] = params.map((each) => referenceIn(each ?? null))
  if (start === undefined) return undefined
  const [first, last] = [start, end].map((each) => each && placeOf(state, upstream, each))
  if (first === 'here' || first === undefined) return undefined
  return (async () => {
    const from = await numberIn(upstream, first)
    const isOneBlock = last === undefined
    const to = isOneBlock || last === 'here' ? undefined : await numberIn(upstream, last)
    const isKnown = isOneBlock ? from !== 0n : last === 'here' || (to ?? -1n) > (from ?? 0n)
    // the chain reports what is wrong
    if (from === undefined || !isKnown) return await answerHere(request)
    if (last !== 'here') return await askNetwork(request, params, to ?? from)
    return await modifiedOnBothSides(request, from, end!)
  })()
}

async function modifiedOnBothSides(
  request: ForkRequest,
  from: bigint,
  end: BlockReference,
): Promise<Json> {
  const { context, method, params, upstream } = request
  const byNumber = context.registry.get('debug_getModifiedAccountsByNumber') ?? method
  const fork = quantityFromBigint(upstream.number)
  const to = end.kind === 'hash' ? { blockHash: end.hash } : params[1]
  const here = answerHere({ ...request, method: byNumber, params: [fork, to] })
  const there =
    from === upstream.number
      ? []
      : askNetwork(
          { upstream, method: byNumber },
          [quantityFromBigint(from), fork],
          upstream.number,
        )
  const both = (await Promise.all([there, here])) as unknown as (readonly string[])[]
  return [...new Set(both.flat())]
}
