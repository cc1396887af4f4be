// The user's project: artifacts and labels that somebody hands over (devchain_addArtifacts,
// devchain_label). They change how things are told, and nothing else.

import { checksumAddress } from '../../core/crypto/crypto.ts'
import { DevchainError, printValue } from '../../core/errors.ts'
import { type Address, parseAddress } from '../../core/hex.ts'
import { type Method, param } from '../../rpc/method.ts'
import { anything, quantityNumber } from '../../rpc/primitives.ts'
import type { Decoder, Encoder } from '../../rpc/schema.ts'
import { type MethodContext, method } from '../common/context.ts'
import { ACCOUNT } from '../common/examples.ts'

/** A path, or JSON: what it is exactly is seen when it is read. */
const artifacts: Decoder<unknown> = {
  name: 'path, ABI, artifact or compiler output',
  json: {},
  decode: (value, path) => {
    const isPath = typeof value === 'string' && /\S/.test(value)
    if (isPath || (typeof value === 'object' && value !== null)) return value
    const message = `${path}: expected a path, an ABI, an artifact or the output of a compiler, got ${printValue(value)}`
    throw new DevchainError('INVALID_PARAMS', message)
  },
}

const add = method({
  name: 'devchain_addArtifacts',
  summary:
    'Takes names from artifacts: a folder or file by its path, an ABI, an artifact, or what the compiler answered; the number of contracts.',
  params: [param('artifacts', artifacts)],
  result: quantityNumber,
  example: { params: [[]], result: '0x1' },
  handle: async ({ project }, given) => {
    const opened = await project.open()
    return typeof given === 'string' ? await opened.add(given) : opened.addValue(given, 'artifacts')
  },
})

type Labels = ReadonlyMap<Address, string>

const labels: Decoder<Labels> = {
  name: '{address: name}',
  json: { type: 'object', additionalProperties: { type: 'string' } },
  decode: (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      const message = `${path}: expected {address: name}, got ${printValue(value)}`
      throw new DevchainError('INVALID_PARAMS', message)
    }
    const entries = Object.entries(value).map(([key, name]) => {
      if (typeof name === 'string') return [parseAddress(key), name] as const
      const message = `${path}.${key}: expected a name, got ${printValue(name)}`
      throw new DevchainError('INVALID_PARAMS', message)
    })
    return new Map(entries)
  },
}

const labelsResult: Encoder<Labels> = {
  name: '{address: name}',
  json: anything.json,
  encode: (all) =>
    Object.fromEntries([...all].map(([address, name]) => [checksumAddress(address), name])),
}

const label = method({
  name: 'devchain_label',
  summary:
    'Names accounts in the log and in traces: {address: name}, an empty name to take it away; answers all labels.',
  params: [param('labels', labels)],
  result: labelsResult,
  example: { params: [{ [ACCOUNT]: 'alice' }] },
  handle: async ({ project }, given) => {
    const opened = await project.open()
    for (const [address, name] of given) opened.label(address, name)
    return opened.labels
  },
})

export const projectMethods: readonly Method<MethodContext>[] = [add, label]
