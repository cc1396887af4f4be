// devchain: artifacts and labels from clients (devchain_addArtifacts,
// devchain_label), which affect only logs and traces; and a transaction's named trace.

import { checksumAddress } from '../../core/crypto/crypto.ts'
import type { Address } from '../../core/hex.ts'
import type { CoverageReport } from '../../project/coverage/coverage.ts'
import type { GasRow } from '../../project/gas/report.ts'
import type { CallTrace } from '../../project/trace/tree.ts'
import { param } from '../../rpc/method.ts'
import { address, asJson, quantityNumber, text } from '../../rpc/primitives.ts'
import { type Decoder, type Encoder, invalid, type Json } from '../../rpc/schema.ts'
import { type Methods, method } from '../common/context.ts'
import { keyed } from '../wire/decodeobject.ts'
import { transactionHash } from '../wire/decodetransaction.ts'
import { ACCOUNT } from '../wire/examples.ts'

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

type Labels = ReadonlyMap<Address, string>

const labels: Decoder<Labels> = keyed('{address: name}', address, text)

const labelsResult: Encoder<Labels> = {
  name: '{address: name}',
  json: {},
  encode: (all) =>
    Object.fromEntries([...all].map(([account, name]) => [checksumAddress(account), name])),
}

const trace: Encoder<CallTrace> = asJson('trace', {})

const gasRows: Encoder<readonly GasRow[]> = asJson('gas report', {
  type: 'array',
  items: { type: 'object' },
})

const coverageReport: Encoder<CoverageReport> = {
  name: 'coverage',
  json: { type: 'object' },
  encode: ({ lcov, rows, warning }) => ({
    lcov,
    files: rows as unknown as Json,
    ...(warning === undefined ? {} : { warning }),
  }),
}

export const projectMethods: Methods = [
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
    params: [param('labels', labels)],
    result: labelsResult,
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
    result: trace,
    onFork: 'own',
    handle: async ({ project }, transactionHash) => (await project.open()).trace(transactionHash),
  }),
  method('devchain_gasReport', {
    summary: 'Returns gas by function and deployment: calls, failed, min, average, median, max.',
    result: gasRows,
    example: { result: [] },
    handle: async ({ project }) => (await project.gasReport()).rows,
  }),
  method('devchain_coverage', {
    summary: "Returns the coverage of the project's sources: {lcov, files, warning}.",
    result: coverageReport,
    handle: async ({ project }) => await project.coverage(),
  }),
]
