// eth: messages that run without effects: calls, estimates, access lists, simulated blocks of calls, and bundles of calls
// and signed transactions, simulated in order.
import { keccakHash } from '../../core/crypto/crypto.ts'
import { DevchainError, limitExceeded } from '../../core/errors.ts'
import { bytesFromHex, concatBytes, EMPTY_BYTES, hexFromBytes } from '../../core/hex.ts'
import { whenThere } from '../../core/promises.ts'
import type { Cancellation } from '../../evm/cancellation.ts'
import type { Failure, Outcome } from '../../evm/executor.ts'
import { describeIdle } from '../../evm/reasons.ts'
import { type AccessListAnswer, createAccessList } from '../../node/calls/accesslists.ts'
import { type BundleAnswer, type BundleRun, callBundle } from '../../node/calls/bundle.ts'
import { type CallBundle, call, callMany, failureOfCall } from '../../node/calls/call.ts'
import { estimateGas } from '../../node/calls/estimate.ts'
import { worldBefore } from '../../node/calls/replay.ts'
import {
  type BlockPlan,
  type SimulatedCall,
  simulateBlocks,
} from '../../node/calls/simulateblocks.ts'
import { rerunOf, withRerun } from '../../node/chain/failedrun.ts'
import { latest, pendingReference } from '../../node/ledger/references.ts'
import { decodeSent } from '../../protocol/transactions/sidecar.ts'
import { optional, param } from '../../rpc/method.ts'
import {
  address,
  boolean,
  data,
  hash,
  list,
  nullable,
  quantity,
  quantityNumber,
  text,
} from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid } from '../../rpc/schema.ts'
import type { MessageCaller } from '../../rpc/session.ts'
import { type Methods, method, onRunOf, printLines } from '../common/context.ts'
import { reverted } from '../compat/failure.ts'
import { type Explained, reported } from '../tracing/explain.ts'
import { blockOrLatest, blockReference } from '../wire/decodeblock.ts'
import { members, oneOrMore, refined, required } from '../wire/decodeobject.ts'
import {
  blockOverrides,
  overriddenBlock,
  overriddenState,
  stateOverrides,
} from '../wire/decodeoverrides.ts'
import { transaction, transactionRequest } from '../wire/decodetransaction.ts'
import { type BlockForm, type BlockView, blockFields, viewOfBlock } from '../wire/encodeblock.ts'
import {
  field,
  fieldIfAny,
  gasAmount,
  plain,
  plainInteger,
  quantityResult,
  shape,
  stackField,
} from '../wire/encodeobject.ts'
import { logShape } from '../wire/encodereceipt.ts'
import { accessListShape } from '../wire/encodetransaction.ts'
import { ACCOUNT } from '../wire/examples.ts'

const blockPlan: Decoder<BlockPlan> = members('block to simulate', {
  blockOverrides,
  stateOverrides,
  calls: list(transactionRequest),
})

/** A simulation, and the form of its blocks. */
const order = refined(
  members('simulation', {
    blockStateCalls: list(blockPlan),
    validation: boolean,
    traceTransfers: boolean,
    returnFullTransactions: boolean,
  }),
  ({ blockStateCalls = [], validation = false, traceTransfers = false, ...given }) => ({
    simulation: { blocks: blockStateCalls, validation, traceTransfers },
    full: given.returnFullTransactions ?? false,
  }),
)

/** Codes of execution-apis for a reverted and a halted call, independent of the profile. */
const REVERTED = 3
const HALTED = -32015

const errorCode: Encoder<Failure['kind']> = {
  name: 'error code',
  json: { type: 'integer', enum: [REVERTED, HALTED] },
  encode: (kind) => (kind === 'revert' ? REVERTED : HALTED),
}

type CallError = Explained<{ readonly failure: Failure; readonly output: Uint8Array }>

const callError = shape<CallError>('call error', {
  code: field(errorCode, ({ failure }) => failure.kind),
  message: field(text, ({ failure }) => failureText(failure)),
  data: fieldIfAny(data, ({ failure, output }) => (failure.kind === 'revert' ? output : undefined)),
  solidityStack: stackField,
})

const simulatedCall: Encoder<Explained<SimulatedCall>> = shape('simulated call', {
  returnData: field(data, ({ outcome }) =>
    outcome.failure === undefined ? outcome.output : EMPTY_BYTES,
  ),
  logs: field(list(logShape), ({ logs }) => logs),
  gasUsed: field(quantityResult, ({ outcome }) => outcome.gasUsed),
  maxUsedGas: field(quantityResult, ({ outcome }) => outcome.gasUsed + outcome.gasRefund),
  status: field(quantityResult, ({ outcome }) => (outcome.failure === undefined ? 1n : 0n)),
  error: fieldIfAny(
    callError,
    ({ outcome: { failure, output }, solidityStack }) =>
      failure && { failure, output, solidityStack },
  ),
})

/** Of execution-apis. */
const FORM: BlockForm = { pendingNulls: [], hasTotals: false }

/** As in `eth_getBlockByNumber`, with the results of its calls. */
const simulatedBlock = shape<BlockView & { readonly calls: readonly Explained<SimulatedCall>[] }>(
  'simulated block',
  { ...blockFields, ...plain({ calls: list(simulatedCall) }) },
)

/** A bundle of calls; its overrides have erigon's name or another that clients use. */
const bundleOfCalls: Decoder<CallBundle> = refined(
  members('bundle', {
    transactions: list(transactionRequest),
    blockOverride: blockOverrides,
    blockOverrides,
  }),
  ({ transactions, ...given }) => ({
    transactions,
    blockOverrides: given.blockOverride ?? given.blockOverrides,
  }),
)

/** How many of the block's transactions run before; -1 for all. */
const transactionIndex: Decoder<number | undefined> = {
  name: 'transaction index or -1',
  json: { anyOf: [quantity.json, { const: -1 }] },
  decode: (value, path) => (value === -1 ? undefined : quantityNumber.decode(value, path)),
}

/** The state to run on: after a block, or in it before the transaction of this index. */
const stateContext = refined(
  members('state context', { blockNumber: blockReference, transactionIndex }),
  (given) => ({ reference: given.blockNumber ?? latest, index: given.transactionIndex }),
)

const callAnswer: Encoder<Explained<{ readonly outcome: Outcome }>> = shape('call answer', {
  value: fieldIfAny(data, ({ outcome: { failure, output } }) => (failure ? undefined : output)),
  error: fieldIfAny(text, ({ outcome: { failure } }) => failure && failureText(failure)),
  solidityStack: stackField,
})

/** Flashbots' members of a bundle, and those of mev-geth. */
const bundleMembers = members('bundle', {
  txs: list(data),
  blockNumber: quantity,
  stateBlockNumber: blockReference,
  timestamp: quantity,
  timeout: quantityNumber,
  coinbase: address,
  gasLimit: quantity,
  difficulty: quantity,
  baseFee: quantity,
})

/** Its transactions are still as they were sent. */
const bundleOrder = refined(bundleMembers, (given, path) => {
  const { txs = [], blockNumber, stateBlockNumber = latest, timeout, ...rest } = given
  if (txs.length === 0) throw invalid(`${path}.txs`, 'signed transactions', txs)
  const number = required(blockNumber, `${path}.blockNumber`, 'the number of their block')
  return { bundle: { ...rest, number, on: stateBlockNumber }, encoded: txs, timeoutMs: timeout }
})

/** Wei as Flashbots writes them: decimal text. */
const decimal: Encoder<bigint> = {
  name: 'decimal',
  json: { type: 'string', pattern: '^-?[0-9]+$' },
  encode: String,
}

const bundleRun: Encoder<Explained<BundleRun>> = shape('bundle run', {
  txHash: field(hash, ({ transaction }) => transaction.hash),
  fromAddress: field(address, ({ transaction }) => transaction.from),
  toAddress: field(nullable(address), ({ transaction }) => transaction.to),
  gasUsed: field(plainInteger, ({ outcome }) => outcome.gasUsed),
  gasPrice: field(decimal, ({ coinbaseDiff, outcome }) => coinbaseDiff / outcome.gasUsed),
  ...plain({ gasFees: decimal, coinbaseDiff: decimal }),
  ethSentToCoinbase: field(decimal, ({ coinbaseDiff, gasFees }) => coinbaseDiff - gasFees),
  value: fieldIfAny(data, ({ outcome: { failure, output } }) => (failure ? undefined : output)),
  error: fieldIfAny(text, ({ outcome: { failure } }) => failure && failureText(failure)),
  revert: fieldIfAny(text, ({ outcome: { failure, output } }) =>
    failure?.kind === 'revert' ? hexFromBytes(output) : undefined,
  ),
  solidityStack: stackField,
})

/**
 * The result of Flashbots' relay: amounts as decimal text, gas as numbers. Prices are the miner's total income per gas.
 * @see https://docs.flashbots.net/flashbots-auction/advanced/rpc-endpoint#eth_callbundle
 */
const bundleAnswer: Encoder<BundleAnswer> = shape<BundleAnswer>('bundle answer', {
  bundleHash: field(hash, ({ runs }) =>
    keccakHash(concatBytes(...runs.map(({ transaction }) => bytesFromHex(transaction.hash)))),
  ),
  bundleGasPrice: field(
    decimal,
    ({ runs }) =>
      sumOf(runs, (run) => run.coinbaseDiff) / sumOf(runs, (run) => run.outcome.gasUsed),
  ),
  coinbaseDiff: field(decimal, ({ runs }) => sumOf(runs, (run) => run.coinbaseDiff)),
  ethSentToCoinbase: field(decimal, ({ runs }) =>
    sumOf(runs, (run) => run.coinbaseDiff - run.gasFees),
  ),
  gasFees: field(decimal, ({ runs }) => sumOf(runs, (run) => run.gasFees)),
  results: field(list(bundleRun), ({ runs }) => runs),
  stateBlockNumber: field(plainInteger, ({ base }) => base.block.header.number),
  totalGasUsed: field(plainInteger, ({ runs }) => sumOf(runs, (run) => run.outcome.gasUsed)),
})

export const callMethods: Methods = [
  method('eth_call', {
    summary: 'Runs a call on the state of a block, changing nothing; returns its output.',
    params: [transaction, blockOrLatest, overriddenState, overriddenBlock],
    result: { ...data, unit: 'return data' },
    example: { result: '0x' },
    onFork: 'call',
    handle: (context, request, block, stateOverrides, blockOverrides) => {
      const { chain, caller } = context
      const outcome = call(chain, request, block, {
        stateOverrides,
        blockOverrides,
        cancellation: caller,
        tracer: chain.execution.callTracer,
        onRun: onRunOf(context),
      })
      return whenThere(outcome, (made) => {
        const { failure, output } = made
        if (failure !== undefined) throw withRerun(failureOfCall(failure, made), rerunOf(made))
        printLines(context, made)
        const { to = null, data = EMPTY_BYTES } = request
        const remark = describeIdle({ to, data }, made)
        if (remark !== undefined) context.notes.push(remark)
        return output
      })
    },
  }),
  method('eth_estimateGas', {
    summary: 'Returns the smallest gas limit with which a transaction succeeds.',
    params: [
      transaction,
      optional('block', blockReference, pendingReference),
      overriddenState,
      overriddenBlock,
    ],
    result: gasAmount,
    example: { result: '0x5208' },
    onFork: 'here',
    handle: (context, request, block, stateOverrides, blockOverrides) =>
      estimateGas(context.chain, request, block, {
        stateOverrides,
        blockOverrides,
        cancellation: context.caller,
        onRun: onRunOf(context),
      }),
  }),
  method('eth_createAccessList', {
    summary: 'Returns the access list of a call, and its gas with that list.',
    params: [transaction, blockOrLatest, overriddenState],
    result: shape<Explained<AccessListAnswer>>('access list answer', {
      ...plain({ accessList: accessListShape, gasUsed: quantityResult }),
      error: fieldIfAny(text, ({ outcome }) => outcome.failure?.reason),
      solidityStack: stackField,
    }),
    example: { result: { accessList: [], gasUsed: '0x5208' } },
    onFork: 'here',
    handle: async (context, request, block, stateOverrides) => {
      const { chain, caller, profile } = context
      const scene = { stateOverrides, cancellation: caller }
      const answer = await createAccessList(chain, request, block, scene)
      const { outcome } = answer
      const { failure } = outcome
      // a message that succeeds is sent next, and prints its lines then
      if (failure === undefined) return answer
      if (!profile.returnsFailedAccessLists) {
        throw withRerun(failureOfCall(failure, outcome), rerunOf(outcome))
      }
      const [explained = answer] = await reported(context, [answer])
      return explained
    },
  }),
  method('eth_simulateV1', {
    summary: 'Simulates blocks of calls with overrides; returns the blocks with results.',
    params: [param('simulation', order), blockOrLatest],
    result: list(simulatedBlock, 'block'),
    example: {
      params: [
        {
          blockStateCalls: [
            {
              stateOverrides: { [`0x${'c0'.repeat(20)}`]: { balance: '0x3e8' } },
              calls: [{ from: `0x${'c0'.repeat(20)}`, to: `0x${'c1'.repeat(20)}`, value: '0x3e8' }],
            },
          ],
          traceTransfers: true,
        },
        'latest',
      ],
    },
    onFork: 'here',
    handle: async (context, { simulation, full }, block) => {
      const { chain, caller } = context
      const blocks = await simulateBlocks(chain, simulation, block, caller)
      const all = blocks.flatMap(({ calls }) => calls)
      const explained = (await reported(context, all)).values()
      return blocks.map(({ record, calls }) => ({
        ...viewOfBlock(record, chain.state.config.upstream, { full, form: FORM }),
        calls: calls.flatMap(() => explained.next().value ?? []),
      }))
    },
  }),
  method('eth_callMany', {
    summary: 'Runs bundles of calls, each on the state after the last; {timeout} is in ms.',
    params: [
      param('bundles', oneOrMore(bundleOfCalls)),
      optional('stateContext', stateContext, { reference: latest, index: undefined }),
      optional('stateOverride', stateOverrides),
      optional('timeout', quantityNumber),
    ],
    result: list(list(callAnswer), 'call'),
    example: {
      params: [[{ transactions: [{ from: ACCOUNT, to: ACCOUNT }] }], { blockNumber: 'latest' }],
      result: [[{ value: '0x' }]],
    },
    handle: (context, bundles, { reference, index }, overrides, timeoutMs) => {
      const { chain, caller } = context
      return within(timeoutMs, caller, async (cancellation) => {
        const world =
          index === undefined ? undefined : await worldBefore(chain, reference, index, cancellation)
        const tracer = chain.execution.callTracer
        const conditions = { stateOverrides: overrides, world, cancellation, tracer }
        const outcomes = await callMany(chain, bundles, reference, conditions)
        const all = outcomes.flat().map((outcome) => ({ outcome }))
        const answers = (await reported(context, all)).values()
        return outcomes.map((bundle) => bundle.flatMap(() => answers.next().value ?? []))
      })
    },
  }),
  method('eth_callBundle', {
    summary: 'Simulates Flashbots bundles: signed transactions in a block that is not mined.',
    params: [param('bundle', bundleOrder)],
    result: bundleAnswer,
    example: {
      params: [
        { txs: ['0x02f86521808080825208947099'], blockNumber: '0x1', stateBlockNumber: 'latest' },
      ],
    },
    handle: (context, { bundle, encoded, timeoutMs }) => {
      const { chain, caller } = context
      const transactions = encoded.map((raw) => decodeSent(raw).transaction)
      return within(timeoutMs, caller, async (cancellation) => {
        const answer = await callBundle(chain, { ...bundle, transactions }, cancellation)
        return { ...answer, runs: await reported(context, answer.runs) }
      })
    },
  }),
]

/** geth's wording, which clients of these methods expect. */
function failureText({ kind, reason }: Failure): string {
  return kind === 'halt' ? reason : reverted(reason.replace(/^revert ?/, '') || undefined)
}

function sumOf(runs: readonly BundleRun[], part: (run: BundleRun) => bigint): bigint {
  return runs.reduce((sum, run) => sum + part(run), 0n)
}

/**
 * Cancels work when the client disconnects or on timeout.
 * @throws {DevchainError} `LIMIT_EXCEEDED` on timeout
 */
async function within<T>(
  timeoutMs: number | undefined,
  caller: MessageCaller,
  work: (cancellation: Cancellation) => Promise<T>,
): Promise<T> {
  // clients send 0 for no timeout
  const end = timeoutMs ? performance.now() + timeoutMs : Number.POSITIVE_INFINITY
  const isOver = (): boolean => performance.now() > end
  try {
    return await work({
      get aborted() {
        return caller.aborted || isOver()
      },
      get event() {
        return caller.event
      },
      onPause: (gasUsed) => caller.onPause(gasUsed),
    })
  } catch (error) {
    const isCancelled = error instanceof DevchainError && error.word === 'CANCELLED'
    if (!isCancelled || !isOver()) throw error
    throw limitExceeded(`it took longer than the timeout of ${timeoutMs} ms`)
  }
}
