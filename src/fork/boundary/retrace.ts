// What a network refuses to tell of its old blocks and transactions, and what only its transactions are needed for: made here, from
// what ran in the block, on that block's state.
import type { Json } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { complete } from '../network/gather.ts'
import { ENCODED } from './encoded.ts'
import { jsonOf, type Question } from './places.ts'

/** Methods whose answers follow from the transactions of a block and the state before it. */
const MADE_HERE: ReadonlySet<string> = new Set([
  'debug_accountInfoAt',
  'debug_traceBlock',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
  'ots_getInternalOperations',
  'ots_getTransactionError',
  'ots_traceTransaction',
  'trace_block',
  'trace_blockOpcodeGas',
  'trace_get',
  'trace_replayBlockTransactions',
  'trace_replayTransaction',
  'trace_transaction',
  'trace_transactionOpcodeGas',
])

/**
 * The network's answer, or where it refuses or has none, and one can be made here, ours.
 * @param number of the block that it is about
 */
export async function askOrMake(
  question: Question,
  ask: () => Promise<Json>,
  number: bigint,
): Promise<Json> {
  const { upstream, method } = question
  const make = (): Promise<Json> => makeHere(question, number)
  try {
    const answer = await ask()
    return answer === null && MADE_HERE.has(method.name) ? await make() : answer
  } catch (error) {
    if (!(error instanceof RefusedByUpstream)) throw error
    const encode = ENCODED[method.name]
    if (encode !== undefined) return await encode({ upstream, number, refusal: error, make })
    if (MADE_HERE.has(method.name)) return await make()
    throw error
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
