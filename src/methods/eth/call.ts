// eth: running messages: calls and estimates that leave no trace, and transactions that do.

import { whenThere } from '../../core/promises.ts'
import {
  type AccessListAnswer,
  call,
  createAccessList,
  estimateGas,
  executionError,
} from '../../node/calls/call.ts'
import { pendingReference } from '../../node/ledger/references.ts'
import { resend } from '../../node/sending/replace.ts'
import {
  sendRawTransaction,
  sendTransaction,
  sendUnsignedTransaction,
} from '../../node/sending/send.ts'
import { type Method, optional, param } from '../../rpc/method.ts'
import { data, hash, quantity, text } from '../../rpc/primitives.ts'
import { type MethodContext, method, printLines } from '../common/context.ts'
import { TRANSFER } from '../common/examples.ts'
import { blockReference, LATEST } from '../wire/decodeblock.ts'
import { blockOverrides, stateOverrides, transactionRequest } from '../wire/decodeobject.ts'
import { accessListShape } from '../wire/encodeblock.ts'
import { field, fieldIfAny, quantityResult, shape } from '../wire/encodeobject.ts'

const ethCall = method({
  name: 'eth_call',
  summary: 'What a message returns, run on a block’s state without changing it.',
  params: [
    param('transaction', transactionRequest),
    optional('block', blockReference, LATEST),
    optional('stateOverrides', stateOverrides),
    optional('blockOverrides', blockOverrides),
  ],
  result: data,
  example: { params: [TRANSFER, 'latest'], result: '0x' },
  handle: (context, request, block, accounts, environment) => {
    const { chain, caller } = context
    const outcome = call(chain, request, block, {
      stateOverrides: accounts,
      blockOverrides: environment,
      isAwaited: caller.isWaiting,
    })
    return whenThere(outcome, (made) => {
      const { consoleLines, failure, output } = made
      if (failure !== undefined) throw executionError(failure, output, consoleLines)
      printLines(context, made)
      return output
    })
  },
})

const estimate = method({
  name: 'eth_estimateGas',
  summary:
    'The smallest gas limit with which a transaction succeeds: exact, in the pending block or another.',
  params: [
    param('transaction', transactionRequest),
    optional('block', blockReference, pendingReference),
    optional('stateOverrides', stateOverrides),
    optional('blockOverrides', blockOverrides),
  ],
  result: quantityResult,
  example: { params: [TRANSFER], result: '0x5208' },
  handle: ({ chain, caller }, request, block, accounts, environment) =>
    estimateGas(chain, request, block, {
      stateOverrides: accounts,
      blockOverrides: environment,
      isAwaited: caller.isWaiting,
    }),
})

const accessList = method({
  name: 'eth_createAccessList',
  summary:
    'The accounts and slots that a message touches, and the gas it uses when it declares them.',
  params: [
    param('transaction', transactionRequest),
    optional('block', blockReference, LATEST),
    optional('stateOverrides', stateOverrides),
  ],
  result: shape<AccessListAnswer>('access list answer', {
    accessList: field(accessListShape, (answer) => answer.accessList),
    gasUsed: field(quantityResult, (answer) => answer.gasUsed),
    error: fieldIfAny(text, (answer) => answer.failure?.reason),
  }),
  example: { params: [TRANSFER, 'latest'], result: { accessList: [], gasUsed: '0x5208' } },
  handle: async (context, request, block, accounts) => {
    const { chain, caller, profile } = context
    const answer = await createAccessList(chain, request, block, {
      stateOverrides: accounts,
      isAwaited: caller.isWaiting,
    })
    const { failure, output, consoleLines } = answer
    // what succeeds is sent next, and told then
    if (failure === undefined) return answer
    if (!profile.tellsFailedAccessLists) throw executionError(failure, output, consoleLines)
    printLines(context, answer)
    return answer
  },
})

const send = method({
  name: 'eth_sendTransaction',
  summary:
    'Signs a transaction with an unlocked account and sends it; under instant mining it is mined first.',
  params: [param('transaction', transactionRequest)],
  result: hash,
  example: { params: [TRANSFER] },
  writes: 'transaction',
  handle: ({ chain, caller }, request) => sendTransaction(chain, request, caller.isWaiting),
})

const sendUnsigned = method({
  name: 'eth_sendUnsignedTransaction',
  summary:
    'Sends a transaction of any account, without a signature, as though it were impersonated.',
  params: [param('transaction', transactionRequest)],
  result: hash,
  example: { params: [TRANSFER] },
  writes: 'transaction',
  handle: ({ chain, caller }, request) => sendUnsignedTransaction(chain, request, caller.isWaiting),
})

const sendRaw = method({
  name: 'eth_sendRawTransaction',
  summary:
    'Sends a signed transaction of type 0 to 4, of type 3 with its blobs; under instant mining it is mined first.',
  params: [param('raw', data)],
  result: hash,
  example: {
    params: ['0x02f86521808080825208947099'],
  },
  writes: 'transaction',
  handle: ({ chain, caller }, raw) => sendRawTransaction(chain, raw, caller.isWaiting),
})

const resendWaiting = method({
  name: 'eth_resend',
  summary:
    'Replaces the waiting transaction of a sender and nonce by one with another gas price or gas limit; for blobs it offers 10 % more. Answers its hash.',
  params: [
    param('transaction', transactionRequest),
    optional('gasPrice', quantity),
    optional('gasLimit', quantity),
  ],
  result: hash,
  example: { params: [{ ...TRANSFER, nonce: '0x0' }, '0x3b9aca00'] },
  writes: 'transaction',
  handle: ({ chain, caller }, request, gasPrice, gasLimit) =>
    resend(chain, request, { gasPrice, gasLimit }, caller.isWaiting),
})

export const executeMethods: readonly Method<MethodContext>[] = [
  ethCall,
  estimate,
  accessList,
  send,
  sendUnsigned,
  sendRaw,
  resendWaiting,
]
