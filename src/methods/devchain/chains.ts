// devchain: the chains of the process.

import { plural } from '../../core/format.ts'
import { optional, param } from '../../rpc/method.ts'
import { hash, list, nullable, text } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import type { ChainInfo, ChainOrder } from '../common/chains.ts'
import { trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { either, isText, members, refined } from '../wire/decodeobject.ts'
import {
  field,
  plain,
  plainInteger,
  plainShape,
  quantityResult,
  shape,
} from '../wire/encodeobject.ts'

const originShape = plainShape('origin', { blockNumber: quantityResult, blockHash: hash })

const chainShape = shape<ChainInfo>('chain', {
  name: field(nullable(text), ({ name }) => name),
  path: field(text, ({ path }) => path),
  chainId: field(nullable(plainInteger), ({ chainId }) => chainId),
  blockNumber: field(nullable(quantityResult), ({ blockNumber }) => blockNumber),
  blockHash: field(nullable(hash), ({ blockHash }) => blockHash),
  origin: field(nullable(originShape), ({ origin }) => origin),
  age: field(plainInteger, ({ age }) => Math.floor(age)),
  ...plain({ requests: plainInteger, memory: plainInteger }),
})

const options: Decoder<Readonly<Record<string, unknown>>> = {
  name: 'options',
  json: { type: 'object' },
  decode: (value, path) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>
    }
    throw invalid(path, 'an object with options, as in createDevchain', value)
  },
}

const orderMembers = members('order', {
  name: text,
  from: text,
  block: blockReference,
  options,
})

/** `{name, from, block, options}`, or the name alone. */
const order: Decoder<ChainOrder> = either(
  'name or {name, from, block, options}',
  isText,
  refined(text, (name) => ({ name })),
  orderMembers,
)

export const chainsMethods: Methods = [
  method('devchain_chains', {
    summary: 'Lists the chains of the process, the default one first.',
    result: list(chainShape),
    describe: (_values, chains) => plural((chains as readonly unknown[]).length, 'chain'),
    handle: async ({ chains }) => chains.list(),
  }),
  method('devchain_newChain', {
    summary:
      'Makes a chain of a {name}, {from} a chain or snapshot (after a {block}), or with {options}.',
    params: [optional('order', order, {})],
    result: chainShape,
    example: { params: ['alice'] },
    effects: 'node',
    describe: (_values, chain) => `chain ${(chain as { path: string }).path} made`,
    handle: ({ chains }, given) => chains.create(given),
  }),
  trueCommand('devchain_dropChain', {
    summary: 'Drops the chain of a name or number, and ends its WebSockets.',
    params: [param('name', text)],
    example: { params: ['alice'] },
    effects: 'node',
    describe: ([name]) => `chain /${name} dropped`,
    handle: ({ chains }, name) => chains.drop(name),
  }),
]
