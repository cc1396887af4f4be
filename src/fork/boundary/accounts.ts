// What is told of accounts over the block of the fork, where the network knows more of them than is known here.
import { quantityFromBigint } from '../../core/hex.ts'
import type { Json } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { isChanged, numberAt, numberOf, placeOf, type Question, referenceIn } from './places.ts'
import { answerHere } from './retrace.ts'

/** An account at an old block: with the root of its storage, which follows from slots that are not known here. */
export function accountOver(question: Question): Promise<Json> | undefined {
  const { context, params, upstream } = question
  const { state } = context.chain
  const reference = referenceIn(params[1] ?? 'latest')
  if (reference === undefined) return undefined
  const place = placeOf(state, upstream, reference)
  if (place === 'here' || isChanged(state, upstream, place)) return undefined
  return (async () => {
    const number = typeof place === 'bigint' ? place : await numberAt(upstream, place)
    const [own, storageRoot] = await Promise.all([
      answerHere(question),
      number === undefined ? undefined : storageRootAt(question, number),
    ])
    return storageRoot === undefined ? own : { ...(own as object), storageRoot }
  })()
}

async function storageRootAt({ params, upstream }: Question, number: bigint): Promise<Json> {
  const [account] = params
  const at = quantityFromBigint(number)
  try {
    const proof = await upstream.ask('eth_getProof', [account, [], at], number)
    return (proof as { storageHash: Json }).storageHash
  } catch (error) {
    if (!(error instanceof RefusedByUpstream)) throw error
    const told = await upstream.ask('eth_getAccount', [account, at], number)
    return (told as { storageRoot: Json }).storageRoot
  }
}

/** Code by its hash: the network's accounts are not all known here. */
export function codeOver(question: Question): Promise<Json> | undefined {
  const { context, params, upstream } = question
  const reference = referenceIn(params[1] ?? 'latest')
  if (reference === undefined || reference.kind === 'hash') return undefined
  const given = numberOf(context.chain.state, reference)
  const number = given === undefined || given > upstream.number ? upstream.number : given
  return (async () => {
    const own = await answerHere(question)
    if (own !== null) return own
    try {
      const asked = [params[0], quantityFromBigint(number)]
      return (await upstream.ask('debug_codeByHash', asked, number)) as Json
    } catch (error) {
      if (error instanceof RefusedByUpstream) return null
      throw error
    }
  })()
}

/** The accounts that blocks changed, those of the network before those that were mined here. */
export function modifiedOver(question: Question): Promise<Json> | undefined {
  const { context, method, params, upstream } = question
  const { state } = context.chain
  const references = params.filter((each) => each !== undefined && each !== null).map(referenceIn)
  if (references.length === 0 || references.includes(undefined)) return undefined
  const [first, last] = references.map((each) => placeOf(state, upstream, each!))
  if (first === 'here' || first === undefined) return undefined
  if (last !== 'here') return upstream.ask(method.name, params) as Promise<Json>
  return (async () => {
    const byNumber = context.registry.get('debug_getModifiedAccountsByNumber') ?? method
    const fork = quantityFromBigint(upstream.number)
    const number = typeof first === 'bigint' ? first : await numberAt(upstream, first)
    if (number === undefined) return await answerHere(question)
    const at = quantityFromBigint(number)
    const end = references[1]!
    const to = end.kind === 'hash' ? { blockHash: end.hash } : params[1]
    const [there, here] = await Promise.all([
      number === upstream.number ? [] : upstream.ask(byNumber.name, [at, fork], upstream.number),
      answerHere({ ...question, method: byNumber, params: [fork, to] }),
    ])
    return [...new Set([...(there as readonly string[]), ...(here as readonly string[])])]
  })()
}
