// eth: simulated blocks of calls.

import { EMPTY_BYTES } from '../../core/hex.ts'
import type { Failure } from '../../evm/executor.ts'
import {
  type BlockPlan,
  type SimulatedCall,
  type Simulation,
  simulateBlocks,
} from '../../node/calls/simulateblocks.ts'
import { param } from '../../rpc/method.ts'
import { boolean, data, list, text } from '../../rpc/primitives.ts'
import type { Decoder, Encoder } from '../../rpc/schema.ts'
import { type Methods, method, printLines } from '../common/context.ts'
import { type Explained, withStacks } from '../tracing/explain.ts'
import { blockOrLatest } from '../wire/decodeblock.ts'
import { members, refined } from '../wire/decodeobject.ts'
import { blockOverrides, stateOverrides } from '../wire/decodeoverrides.ts'
import { transactionRequest } from '../wire/decodetransaction.ts'
import { type BlockView, blockFields, viewOfBlock } from '../wire/encodeblock.ts'
import { logShape } from '../wire/encodelog.ts'
import { field, fieldIfAny, quantityResult, shape, stackField } from '../wire/encodeobject.ts'

/** A simulation, and the form of its blocks. */
interface Order {
  readonly simulation: Simulation
  readonly full: boolean
}

interface SimulatedView extends BlockView {
  readonly calls: readonly Explained<SimulatedCall>[]
}

const blockPlan: Decoder<BlockPlan> = members('block to simulate', {
  blockOverrides,
  stateOverrides,
  calls: list(transactionRequest),
})

const order: Decoder<Order> = refined(
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

interface CallError {
  readonly failure: Failure
  readonly output: Uint8Array
  readonly solidityStack?: readonly string[] | undefined
}

const callError: Encoder<CallError> = shape<CallError>('call error', {
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

/** Block members of execution-apis: without total difficulties. */
const {
  totalDifficulty: _total,
  cumulativeDifficulty: _cumulative,
  ...simulatedFields
} = blockFields

/** As in `eth_getBlockByNumber`, with the results of its calls. */
const simulatedBlock: Encoder<SimulatedView> = shape<SimulatedView>('simulated block', {
  ...simulatedFields,
  calls: field(list(simulatedCall), ({ calls }) => calls),
})

export const simulateMethods: Methods = [
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
      for (const { outcome } of blocks.flatMap(({ calls }) => calls)) printLines(context, outcome)
      const explained = await withStacks(
        context,
        blocks.flatMap(({ calls }) => calls),
      )
      let first = 0
      return blocks.map(({ record, calls }) => {
        first += calls.length
        const view = viewOfBlock(record, chain.state.config.upstream, { full })
        return { ...view, calls: explained.slice(first - calls.length, first) }
      })
    },
  }),
]

/** geth's wording, which clients of this method expect: "execution reverted: …". */
export function failureText({ kind, reason }: Failure): string {
  if (kind === 'halt') return reason
  const why = reason.replace(/^revert ?/, '')
  return why === '' ? 'execution reverted' : `execution reverted: ${why}`
}
