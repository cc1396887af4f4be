// Arbitrum tells of each block and receipt which block of the network below contracts saw: clients of it read that member.
import { quantityFromBigint } from '../../core/hex.ts'
import type { ChainState } from '../../node/ledger/chainstate.ts'
import type { SeenNumber } from '../../node/ledger/upstream.ts'
import type { Json } from '../../rpc/schema.ts'
import { complete } from '../network/gather.ts'
import { jsonOf, type Question } from './places.ts'

type Members = Readonly<Record<string, Json>>

type Told = (seen: SeenNumber, state: ChainState, json: Members) => Members

/** Blocks and receipts, by the methods that answer them. */
const TOLD: Readonly<Record<string, Told>> = {
  eth_getBlockByHash: withBlockNumber,
  eth_getBlockByNumber: withBlockNumber,
  eth_getHeaderByHash: withBlockNumber,
  eth_getHeaderByNumber: withBlockNumber,
  eth_getBlockReceipts: ofReceipt,
  eth_getTransactionReceipt: ofReceipt,
}

/** The chain's own answer with what its network adds to it; undefined where that is nothing. */
export function withBelowNumber(question: Question): Promise<Json> | undefined {
  const { context, method, params, upstream } = question
  const { seenNumber } = upstream
  const told = TOLD[method.name]
  if (seenNumber === undefined || told === undefined) return undefined
  const run = (): ReturnType<typeof method.run> => method.run(context, params, [])
  return Promise.resolve(complete(run, { guesses: false }))
    .then(jsonOf)
    .then((answer) => added(answer, (json) => told(seenNumber, context.chain.state, json)))
}

function added(answer: Json, add: (json: Members) => Members): Json {
  if (Array.isArray(answer)) return answer.map((each) => added(each, add))
  return typeof answer === 'object' && answer !== null ? add(answer as Members) : answer
}

function withBlockNumber(seen: SeenNumber, { tree }: ChainState, json: Members): Members {
  const { number, timestamp } = json
  if (typeof timestamp !== 'string') return json
  // the pending block has none yet
  const own = typeof number === 'string' ? BigInt(number) : BigInt(tree.canonical.length)
  return { ...json, ...below(seen({ number: own, timestamp: BigInt(timestamp) })) }
}

function ofReceipt(seen: SeenNumber, { tree }: ChainState, json: Members): Members {
  const record = tree.canonical.at(Number(json.blockNumber))
  if (record === undefined) return json
  // nothing is posted to the network below, so nothing is paid for it
  return { ...json, gasUsedForL1: '0x0', ...below(seen(record.block.header)) }
}

function below(number: bigint | undefined): Members {
  return number === undefined ? {} : { l1BlockNumber: quantityFromBigint(number) }
}
