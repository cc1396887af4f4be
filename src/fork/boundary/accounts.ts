// What is told of accounts over the block of the fork, where the network knows more of them than is known here.
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import type { BlockReference } from '../../node/ledger/references.ts'
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
  const { context, params, upstream } = question
  const { state } = context.chain
  const [start, end] = params.map((each) => referenceIn(each ?? null))
  if (start === undefined) return undefined
  const [first, last] = [start, end].map((each) => each && placeOf(state, upstream, each))
  if (first === 'here' || first === undefined) return undefined
  return (async () => {
    const from = await numberOfPlace(question, first)
    const isOneBlock = last === undefined
    const to = isOneBlock || last === 'here' ? undefined : await numberOfPlace(question, last)
    const isKnown = isOneBlock ? from !== 0n : last === 'here' || (to ?? -1n) > (from ?? 0n)
    // what is wrong the chain says in its own words
    if (from === undefined || !isKnown) return await answerHere(question)
    if (last !== 'here')
      return (await upstream.ask(question.method.name, params, to ?? from)) as Json
    return await modifiedOnBothSides(question, from, end!)
  })()
}

async function numberOfPlace(
  { upstream }: Question,
  place: bigint | Hash,
): Promise<bigint | undefined> {
  return typeof place === 'bigint' ? place : await numberAt(upstream, place)
}

async function modifiedOnBothSides(
  question: Question,
  from: bigint,
  end: BlockReference,
): Promise<Json> {
  const { context, method, params, upstream } = question
  const byNumber = context.registry.get('debug_getModifiedAccountsByNumber') ?? method
  const fork = quantityFromBigint(upstream.number)
  const to = end.kind === 'hash' ? { blockHash: end.hash } : params[1]
  const here = answerHere({ ...question, method: byNumber, params: [fork, to] })
  const there =
    from === upstream.number
      ? []
      : upstream.ask(byNumber.name, [quantityFromBigint(from), fork], upstream.number)
  const both = (await Promise.all([there, here])) as unknown as (readonly string[])[]
  return [...new Set(both.flat())]
}
