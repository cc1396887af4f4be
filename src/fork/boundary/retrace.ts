// Traces of old blocks and transactions that their network does not give: they are run again here, on that block's state.
import { type Hash, quantityFromBigint } from '../../core/hex.ts'
import type { MethodContext } from '../../methods/common/context.ts'
import type { Method } from '../../rpc/method.ts'
import type { Json } from '../../rpc/schema.ts'
import { RefusedByUpstream } from '../client/client.ts'
import { complete } from '../network/gather.ts'
import { jsonOf, type Question } from './places.ts'

type Traced = Readonly<Record<string, Json>>

/** Methods that trace a block, whose parameters name it first. */
const OF_BLOCKS: ReadonlySet<string> = new Set([
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'trace_block',
  'trace_replayBlockTransactions',
])

/** How the trace of a transaction is part of that of its block. */
interface Part {
  /** The method that traces the block by its number. */
  readonly whole: string
  readonly pick: (traced: readonly Json[], hash: Hash, params: readonly unknown[]) => Json
}

const OF_TRANSACTIONS: Readonly<Record<string, Part>> = {
  debug_traceTransaction: {
    whole: 'debug_traceBlockByNumber',
    pick: (traced, hash) =>
      (ofHash(traced, 'txHash', hash)[0] as Traced | undefined)?.result ?? null,
  },
  trace_transaction: {
    whole: 'trace_block',
    pick: (traced, hash) => ofHash(traced, 'transactionHash', hash),
  },
  trace_get: {
    whole: 'trace_block',
    pick: (traced, hash, [, path]) => {
      const wanted = JSON.stringify((path as readonly string[]).map(Number))
      const all = ofHash(traced, 'transactionHash', hash)
      return all.find((each) => JSON.stringify((each as Traced).traceAddress) === wanted) ?? null
    },
  },
  trace_replayTransaction: {
    whole: 'trace_replayBlockTransactions',
    pick: (traced, hash) => {
      const [found] = ofHash(traced, 'transactionHash', hash)
      if (found === undefined) return null
      const { transactionHash: _, ...own } = found as Traced
      return own
    },
  },
}

function ofHash(traced: readonly Json[], member: string, hash: Hash): readonly Json[] {
  return traced.filter((each) => (each as Traced)[member] === hash)
}

/**
 * The network's answer, or for a trace that it refuses our own.
 * @param number of the block that is traced
 */
export async function traced(
  question: Question,
  ask: () => Promise<Json>,
  number: () => Promise<bigint | undefined>,
): Promise<Json> {
  const { name } = question.method
  if (!(OF_BLOCKS.has(name) || name in OF_TRANSACTIONS)) return await ask()
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof RefusedByUpstream)) throw error
    const block = await number()
    if (block === undefined) throw error
    return await runAgain(question, block)
  }
}

async function runAgain(
  { context, method, params, upstream }: Question,
  block: bigint,
): Promise<Json> {
  await upstream.recall(block)
  const part = OF_TRANSACTIONS[method.name]
  if (part === undefined) return await runHere(context, method, params)
  const whole = context.registry.get(part.whole)
  if (whole === undefined) throw new Error(`there is no ${part.whole}`)
  const [hash, ...more] = params
  const options = method.name === 'trace_get' ? [] : more
  const answers = await runHere(context, whole, [quantityFromBigint(block), ...options])
  return part.pick(answers as readonly Json[], String(hash).toLowerCase() as Hash, params)
}

async function runHere(
  context: MethodContext,
  method: Method<MethodContext>,
  params: readonly unknown[],
): Promise<Json> {
  const run = (): ReturnType<typeof method.run> => method.run(context, params, [])
  return await jsonOf(await complete(run, { guesses: false }))
}
