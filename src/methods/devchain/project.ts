// devchain: accounts and transactions in words, with names from artifacts and labels of clients, which affect only logs and
// traces; and the named trace of a transaction.

import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import type { GasRow } from '../../project/gas/report.ts'
import type { CodeSources } from '../../project/solidity/sources.ts'
import type { CallTrace } from '../../project/trace/tree.ts'
import { param } from '../../rpc/method.ts'
import {
  address,
  asJson,
  data,
  list,
  nullable,
  quantityNumber,
  text,
} from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid } from '../../rpc/schema.ts'
import { type Methods, method } from '../common/context.ts'
import { either, isText, keyed, members, refined } from '../wire/decodeobject.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import { plainShape } from '../wire/encodeobject.ts'
import { ACCOUNT } from '../wire/examples.ts'

const description = plainShape('description', {
  call: nullable(text),
  from: nullable(text),
  to: nullable(text),
  error: nullable(text),
  console: list(text),
  events: list(plainShape('event', { address, text: nullable(text) })),
})

/** An address, or `{creation}`: the code that makes a contract. */
const codeOrAccount: Decoder<Address | Uint8Array> = either(
  'account or {creation}',
  isText,
  address,
  refined(members('code', { creation: data }), ({ creation: code }, path) => {
    if (code !== undefined) return code
    throw invalid(`${path}.creation`, 'the code that makes a contract', code)
  }),
)

/** A path or JSON; validated when it is read. */
const artifacts: Decoder<unknown> = {
  name: 'path, ABI, artifact or compiler output',
  json: {},
  decode: (value, path) => {
    const isPath = typeof value === 'string' && /\S/.test(value)
    if (isPath || (typeof value === 'object' && value !== null)) return value
    throw invalid(path, 'a path, an ABI, an artifact or the output of a compiler', value)
  },
}

const labels: Encoder<ReadonlyMap<Address, string>> = {
  name: '{address: name}',
  json: {},
  encode: (all) =>
    Object.fromEntries([...all].map(([account, name]) => [checksumAddress(account), name])),
}

export const projectMethods: Methods = [
  method('devchain_describeTransaction', {
    summary:
      'Returns call, error, console and events of a transaction in words; null if it is unknown.',
    params: [transactionHash],
    result: nullable(description),
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
    result: nullable(asJson<CodeSources>('sources', { type: 'object' })),
    example: { params: [ACCOUNT], result: null },
    handle: async ({ project }, code) => (await project.open()).sourcesOf(code),
  }),
  method('devchain_names', {
    summary: 'Returns the names of accounts: labels, contracts, and symbols of tokens.',
    params: [param('accounts', list(address))],
    result: labels,
    example: { params: [[ACCOUNT]], result: {} },
    handle: async ({ project }, accounts) => (await project.open()).namesOf(accounts),
  }),
  method('devchain_addArtifacts', {
    summary: 'Adds a path, an ABI, an artifact or compiler output; returns the contract count.',
    params: [param('artifacts', artifacts)],
    result: quantityNumber,
    example: { params: [[]], result: '0x1' },
    effects: 'node',
    handle: ({ project }, given) => project.addArtifacts({ given, name: 'artifacts' }),
  }),
  method('devchain_label', {
    summary: 'Names accounts in logs and traces, as {address: name}; an empty name removes one.',
    params: [param('labels', keyed('{address: name}', address, text))],
    result: labels,
    example: { params: [{ [ACCOUNT]: 'alice' }] },
    effects: 'node',
    handle: async ({ project }, given) => {
      const opened = await project.open()
      await opened.labels.set(given)
      return opened.labels.all
    },
  }),
  method('devchain_traceTransaction', {
    summary: 'Returns the call tree of a transaction with names, events and storage changes.',
    params: [transactionHash],
    result: asJson<CallTrace>('trace', {}),
    onFork: 'own',
    handle: async ({ project }, transactionHash) => (await project.open()).trace(transactionHash),
  }),
  method('devchain_gasReport', {
    summary: 'Returns gas by function and deployment: calls, failed, min, average, median, max.',
    result: asJson<readonly GasRow[]>('gas report', { type: 'array', items: { type: 'object' } }),
    example: { result: [] },
    handle: async ({ project }) => (await project.gasReport()).rows,
  }),
  method('devchain_coverage', {
    summary: "Returns the coverage of the project's sources: {lcov, files, warning}.",
    result: asJson<unknown>('coverage', { type: 'object' }),
    handle: async ({ project }) => {
      const { lcov, rows, ...rest } = await project.coverage()
      return { lcov, files: rows, ...rest }
    },
  }),
]
