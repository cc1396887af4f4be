// eth: messages that run without effects: calls, estimates, access lists.

import { EMPTY_BYTES } from '../../core/hex.ts'
import { whenThere } from '../../core/promises.ts'
import { describeIdle } from '../../evm/reasons.ts'
import { type AccessListAnswer, createAccessList } from '../../node/calls/accesslists.ts'
import { call, failureOfCall } from '../../node/calls/call.ts'
import { estimateGas } from '../../node/calls/estimate.ts'
import { rerunOf, withRerun } from '../../node/chain/failedrun.ts'
import { pendingReference } from '../../node/ledger/references.ts'
import { optional } from '../../rpc/method.ts'
import { data, text } from '../../rpc/primitives.ts'
import { type Methods, method, onRunOf, printLines } from '../common/context.ts'
import { type Explained, reported } from '../tracing/explain.ts'
import { blockOrLatest, blockReference } from '../wire/decodeblock.ts'
import { overriddenBlock, overriddenState } from '../wire/decodeoverrides.ts'
import { transaction } from '../wire/decodetransaction.ts'
import {
  fieldIfAny,
  gasAmount,
  plain,
  quantityResult,
  shape,
  stackField,
} from '../wire/encodeobject.ts'
import { accessListShape } from '../wire/encodetransaction.ts'

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
]
