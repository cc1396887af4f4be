// What a network refuses to tell of its old blocks and transactions, and what only its transactions are needed for: made here, from
// what ran in the block, on that block's state.
import type { Json } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { complete } from '../network/gather.ts'
import { jsonOf, type Question } from './places.ts'

/** A block or a transaction that the network refuses to tell of. */
export interface Refused {
  readonly upstream: Question['upstream']
  /** Of the block that it is about. */
  readonly number: bigint
  readonly refusal: RefusedByUpstream
  /** What the chain itself makes of it, once it has the block's transactions. */
  readonly make: () => Promise<Json>
}

/** What is answered in place of a network that refuses. */
export type Fallback = (refused: Refused) => Promise<Json>

/** For answers that follow from the transactions of a block and the state before it. */
export const replayed: Fallback = ({ make }) => make()

/**
 * The network's answer, or where it refuses or has none, and one can be made here, ours.
 * @param number of the block that it is about
 */
export async function askOrMake(
  question: Question,
  number: bigint,
  ask: () => Promise<Json>,
  instead: Fallback | undefined,
): Promise<Json> {
  const make = (): Promise<Json> => makeHere(question, number)
  try {
    const answer = await ask()
    return answer === null && instead !== undefined ? await make() : answer
  } catch (error) {
    if (!(error instanceof RefusedByUpstream) || instead === undefined) throw error
    return await instead({ upstream: question.upstream, number, refusal: error, make })
  }
}

/** The chain's own answer, once it has the block's transactions. */
export async function makeHere(question: Question, number: bigint): Promise<Json> {
  await question.upstream.recall(number)
  return await answerHere(question)
}

/** The chain's own answer. */
export async function answerHere({ method, context, params }: Question): Promise<Json> {
  const run = (): ReturnType<typeof method.run> => method.run(context, params, [])
  return await jsonOf(await complete(run, { guesses: false }))
}
