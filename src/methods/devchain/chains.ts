// devchain: the chains of the process.

import { plural } from '../../core/format.ts'
import { optional, param } from '../../rpc/method.ts'
import { hash, list, nullable, text } from '../../rpc/primitives.ts'
import { type Decoder, invalid } from '../../rpc/schema.ts'
import type { ChainInfo, ChainOrder, ChainOrigin } from '../common/chains.ts'
import { trueCommand } from '../common/command.ts'
import { type Methods, method } from '../common/context.ts'
import { blockReference } from '../wire/decodeblock.ts'
import { either, isText, members, refined } from '../wire/decodeobject.ts'
import { field, plainInteger, quantityResult, shape } from '../wire/encodeobject.ts'

const originShape = shape<ChainOrigin>('origin', {
  blockNumber: field(quantityResult, ({ blockNumber }) => blockNumber),
  blockHash: field(hash, ({ blockHash }) => blockHash),
})

const chainShape = shape<ChainInfo>('chain', {
  name: field(nullable(text), ({ name }) => name),
  path: field(text, ({ path }) => path),
  chainId: field(nullable(plainInteger), ({ chainId }) => chainId),
  blockNumber: field(nullable(quantityResult), ({ blockNumber }) => blockNumber),
  blockHash: field(nullable(hash), ({ blockHash }) => blockHash),
  origin: field(nullable(originShape), ({ origin }) => origin),
  age: field(plainInteger, ({ age }) => BigInt(Math.floor(age))),
  requests: field(plainInteger, ({ requests }) => BigInt(requests)),
  memory: field(plainInteger, ({ memory }) => BigInt(memory)),
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
    example: { params: [] },
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
