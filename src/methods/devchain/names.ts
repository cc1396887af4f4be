// devchain: accounts and transactions in words, with names from artifacts and labels.

import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import type { DescribedEvent, DescribedTransaction } from '../../project/naming/transactions.ts'
import type { CodeSources } from '../../project/solidity/sources.ts'
import { param } from '../../rpc/method.ts'
import { address, asJson, data, list, nullable, text } from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid } from '../../rpc/schema.ts'
import { type Methods, method } from '../common/context.ts'
import { either, isText, members, refined } from '../wire/decodeobject.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import { field, shape } from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

const eventShape = shape<DescribedEvent>('event', {
  address: field(address, (event) => event.address),
  text: field(nullable(text), (event) => event.text),
})

const describedShape: Encoder<DescribedTransaction> = shape<DescribedTransaction>('description', {
  call: field(nullable(text), ({ call }) => call),
  from: field(nullable(text), ({ from }) => from),
  to: field(nullable(text), ({ to }) => to),
  error: field(nullable(text), ({ error }) => error),
  console: field(list(text), (described) => described.console),
  events: field(list(eventShape), ({ events }) => events),
})

const namesResult: Encoder<ReadonlyMap<Address, string>> = {
  name: '{address: name}',
  json: {},
  encode: (names) =>
    Object.fromEntries([...names].map(([account, name]) => [checksumAddress(account), name])),
}

const creation = members('code', { creation: data })

/** An address, or `{creation}`: the code that makes a contract. */
const codeOrAccount: Decoder<Address | Uint8Array> = either(
  'account or {creation}',
  isText,
  address,
  refined(creation, ({ creation: code }, path) => {
    if (code !== undefined) return code
    throw invalid(`${path}.creation`, 'the code that makes a contract', code)
  }),
)

const codeSourcesResult: Encoder<CodeSources> = asJson('sources', { type: 'object' })

export const namesMethods: Methods = [
  method('devchain_describeTransaction', {
    summary:
      'Returns call, error, console and events of a transaction in words; null if it is unknown.',
    params: [transactionHash],
    result: nullable(describedShape),
    example: { result: null },
    onFork: 'own',
    handle: async ({ project }, hash) => (await project.open()).describe(hash),
  }),
  method('devchain_explainTransaction', {
    summary: 'Returns why a transaction failed and its Solidity stack, in lines; null if unknown.',
    params: [transactionHash],
    result: nullable(list(text)),
    example: { result: null },
    onFork: 'own',
    handle: async ({ project }, hash) => (await project.open()).explainMined(hash),
  }),
  method('devchain_sources', {
    summary:
      'Returns the sources of an account or {creation} code, and the place of each instruction.',
    params: [param('code', codeOrAccount)],
    result: nullable(codeSourcesResult),
    example: { params: [ACCOUNT], result: null },
    handle: async ({ project }, code) => (await project.open()).sourcesOf(code),
  }),
  method('devchain_names', {
    summary: 'Returns the names of accounts: labels, contracts, and symbols of tokens.',
    params: [param('accounts', list(address))],
    result: namesResult,
    example: { params: [[ACCOUNT]], result: {} },
    handle: async ({ project }, accounts) => (await project.open()).namesOf(accounts),
  }),
]
